"""A real registry (distribution) on the loopback interface, images for it, and a token server."""

import base64
import hashlib
import json
import socket
import ssl
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any, Self

import aiohttp
import bcrypt
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from tests.accounts.federation.servers import local_server
from tests.controlplane.component import Component
from tests.controlplane.pki import Authority, KeyPair
from tests.support.ports import LOOPBACK, free_port

USER, PASSWORD = "deploy-bot", "correct horse"
SERVICE, ISSUER = "registry-of-the-tests", "tokens-of-the-tests"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"


@dataclass
class Image:
    """An image without layers, for one platform."""

    architecture: str = "amd64"
    config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def config_blob(self) -> bytes:
        rootfs = {"type": "layers", "diff_ids": []}
        found = {"architecture": self.architecture, "os": "linux", "rootfs": rootfs}
        return json.dumps({**found, "config": self.config}).encode()

    @property
    def manifest(self) -> bytes:
        blob = self.config_blob
        config = {"mediaType": CONFIG, "digest": digest_of(blob), "size": len(blob)}
        found = {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": []}
        return json.dumps(found).encode()


def basic(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def digest_of(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


class RealRegistry:
    """A running registry with TLS, if `pair` is given, and passwords or tokens, if wanted.

    `address` is `host:port`.
    """

    def __init__(
        self,
        program: Path,
        folder: Path,
        pair: KeyPair | None = None,
        auth: Mapping[str, Any] | None = None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        port = free_port()
        self.port = port
        self.address = f"localhost:{port}"
        self.url = f"{'https' if pair else 'http'}://{self.address}"
        http: dict[str, Any] = {"addr": f"{LOOPBACK}:{port}", "secret": token_hex(8)}
        if pair is not None:
            http["tls"] = {"certificate": str(pair.certificate), "key": str(pair.key)}
        config = {
            "version": 0.1,
            "log": {"level": "warn", "accesslog": {"disabled": True}},
            "storage": {"inmemory": {}},
            "http": http,
            **({"auth": auth} if auth else {}),
        }
        path = folder / "registry.json"
        path.write_text(json.dumps(config))
        self._path = path
        self.component = Component("registry", program, folder)

    def __enter__(self) -> Self:
        self.component.start(["serve", str(self._path)])
        try:
            self.component.wait_until(self._accepts, "accept connections")
        except BaseException:
            self.component.kill()
            raise
        return self

    def _accepts(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((LOOPBACK, self.port)) == 0

    def __exit__(self, *error: object) -> None:
        self.component.kill()


def password_auth(folder: Path) -> dict[str, Any]:
    """Return the configuration of a registry with the password of `USER`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "htpasswd"
    hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
    path.write_text(f"{USER}:{hashed}\n")
    return {"htpasswd": {"realm": "tests", "path": str(path)}}


@dataclass
class TokenServer:
    """Issues tokens that the registry trusts, also to clients without credentials.

    `asked` are the `Authorization` headers of its requests.
    """

    pair: KeyPair
    asked: list[str] = field(default_factory=list)

    def application(self) -> web.Application:
        found = web.Application()
        found.router.add_get("/token", self._token)
        return found

    async def _token(self, request: web.Request) -> web.Response:
        given = request.headers.get("Authorization", "")
        self.asked.append(given)
        if given and given != basic(USER, PASSWORD):
            return web.json_response({"errors": []}, status=401)
        scopes = [one.split(":") for one in request.query.getall("scope", [])]
        access = [
            {"type": kind, "name": name, "actions": ["pull"]}
            for kind, name, _actions in scopes
            if given or name.startswith("public/")
        ]
        return web.json_response({"token": self.signed(access)})

    def signed(self, access: Sequence[Mapping[str, Any]]) -> str:
        certificate = x509.load_pem_x509_certificate(self.pair.certificate.read_bytes())
        key = serialization.load_pem_private_key(self.pair.key.read_bytes(), None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        der = certificate.public_bytes(serialization.Encoding.DER)
        now = int(time.time())
        head = {"typ": "JWT", "alg": "ES256", "x5c": [base64.b64encode(der).decode()]}
        claims = {
            "iss": ISSUER,
            "sub": USER,
            "aud": SERVICE,
            "exp": now + 300,
            "nbf": now - 60,
            "iat": now,
            "jti": token_hex(8),
            "access": access,
        }
        signed = f"{_url64(json.dumps(head).encode())}.{_url64(json.dumps(claims).encode())}"
        pair = decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{signed}.{_url64(b''.join(one.to_bytes(32, 'big') for one in pair))}"


def token_auth(realm: str, authority: Path) -> dict[str, Any]:
    """Return the configuration of a registry that accepts the tokens of a `TokenServer`."""
    return {
        "token": {
            "realm": realm,
            "service": SERVICE,
            "issuer": ISSUER,
            "rootcertbundle": str(authority),
        }
    }


def _url64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def server_tls(pair: KeyPair) -> ssl.SSLContext:
    found = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    found.load_cert_chain(pair.certificate, pair.key)
    return found


@asynccontextmanager
async def token_server(pair: KeyPair, port: int) -> AsyncIterator[TokenServer]:
    found = TokenServer(pair)
    async with local_server(found.application(), tls=server_tls(pair), port=port):
        yield found


class Pusher:
    """Pushes images to a registry, as `docker push` does."""

    def __init__(self, registry: RealRegistry, authority: Authority, token: str = "") -> None:
        """`token` is a token of a `TokenServer`; by default, the password of `USER` is sent."""
        self._url = registry.url
        self._tls = ssl.create_default_context(cafile=str(authority.certificate))
        given = f"Bearer {token}" if token else basic(USER, PASSWORD)
        self._headers = {"Authorization": given}

    async def image(self, repository: str, image: Image, *tags: str) -> str:
        """Push an image and return its digest."""
        async with self._session() as session:
            await self._blob(session, repository, image.config_blob)
            return await self._manifest(session, repository, image.manifest, MANIFEST, tags)

    async def index(self, repository: str, images: Sequence[Image], *tags: str) -> str:
        """Push an image for several platforms and return the digest of its index."""
        entries = []
        for one in images:
            digest = await self.image(repository, one)
            platform = {"os": "linux", "architecture": one.architecture}
            size = len(one.manifest)
            entries.append(
                {"mediaType": MANIFEST, "digest": digest, "size": size, "platform": platform}
            )
        found = {"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}
        async with self._session() as session:
            content = json.dumps(found).encode()
            return await self._manifest(session, repository, content, INDEX, tags)

    def _session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._tls),
            headers=self._headers,
            raise_for_status=True,
        )

    async def _blob(self, session: aiohttp.ClientSession, repository: str, content: bytes) -> None:
        async with session.post(f"{self._url}/v2/{repository}/blobs/uploads/") as started:
            place = started.headers["Location"]
        joined = "&" if "?" in place else "?"
        async with session.put(f"{place}{joined}digest={digest_of(content)}", data=content):
            return

    async def _manifest(
        self,
        session: aiohttp.ClientSession,
        repository: str,
        content: bytes,
        media: str,
        tags: Sequence[str],
    ) -> str:
        for name in tags or (digest_of(content),):
            url = f"{self._url}/v2/{repository}/manifests/{name}"
            async with session.put(url, data=content, headers={"Content-Type": media}):
                pass
        return digest_of(content)
