"""Operations of the distribution API (https://github.com/opencontainers/distribution-spec)."""

import base64
import hashlib
import json
import re
import ssl
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from console.registries.egress import Egress, RegistryResponse, Resolve, read_url
from console.registries.errors import NotInRegistry, RegistryError, SignInRefused
from console.registries.logins import Login
from console.registries.policy import RegistryPolicy, Transfer, not_listed
from console.registries.references import ImageName, is_digest, served_at, split_port

#: Maximum number of pages and tags of a repository that are read.
MAX_PAGES, MAX_TAGS, PAGE = 10, 5_000, 1_000
_INDEXES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_MANIFESTS = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
#: Hosts that sign in users of another registry.
_REALMS = {"registry-1.docker.io": "auth.docker.io"}
_PARAMETER = re.compile(r'(\w+)="([^"]*)"')
_NEXT = re.compile(r'<([^>]+)>\s*;\s*rel="?next"?')
_PORT = re.compile(r"([0-9]{1,5})(/(?:tcp|udp|sctp))?")
_MAX_WORD, _MAX_PORTS = 1024, 50


@dataclass(frozen=True, slots=True)
class TagList:
    """Tags of a repository, in the registry's order. `is_complete` is False if there are more."""

    tags: Sequence[str]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What an image declares.

    - `digest`: of the manifest or index that the name stands for.
    - `platforms`: such as `linux/amd64`.
    - `ports`: such as `8080` or `53/udp`.
    - `command`: entrypoint and command. `user`: name or number, "" for root.
    """

    digest: str
    platforms: Sequence[str]
    ports: Sequence[str]
    command: Sequence[str]
    user: str


@dataclass(frozen=True, slots=True)
class Verified:
    """The registry accepted the credentials. `was_checked` is False if it needs none."""

    was_checked: bool


class RegistryClient:
    """Requests to one registry (`host[:port]`), in a `with` block of an `Egress`.

    Raise `RegistryError` for all failures.
    """

    def __init__(self, egress: Egress, registry: str, scheme: str, login: Login | None) -> None:
        self._egress = egress
        self._base = f"{scheme}://{served_at(registry)}"
        self._login = login
        self._authorization = ""

    async def verify(self) -> Verified:
        """Check the credentials."""
        found = await self._egress.get(f"{self._base}/v2/", {})
        _check_registry(found)
        if found.status == 200:
            return Verified(was_checked=False)
        if found.status == 401:
            await self._sign_in(found)
            found = await self._send("/v2/")
            _check_registry(found)
        _check_status(found)
        return Verified(was_checked=True)

    async def tags(self, repository: str) -> TagList:
        """Return the tags of a repository."""
        path, found = f"/v2/{repository}/tags/list?{urlencode({'n': PAGE})}", list[str]()
        for _number in range(MAX_PAGES):
            response = await self._get(path)
            named = _document(response).get("tags") or []
            found += [one for one in named if isinstance(one, str) and one] if named else []
            link = _NEXT.search(response.headers.get("link", ""))
            if link is None:
                return TagList(found[:MAX_TAGS], len(found) <= MAX_TAGS)
            target = response.url.join(read_url(link[1]))
            if len(found) >= MAX_TAGS or f"{target.scheme}://{target.raw_authority}" != self._base:
                break
            path = target.raw_path_qs
        return TagList(found[:MAX_TAGS], is_complete=False)

    async def image(self, image: ImageName, architectures: Collection[str] = ()) -> ImageFacts:
        """Read an image. Of an image for several platforms, read the one for Linux and one of the
        `architectures`.
        """
        accept = ", ".join((*_INDEXES, *_MANIFESTS))
        response = await self._get(f"/v2/{image.repository}/manifests/{image.version}", accept)
        digest = f"sha256:{hashlib.sha256(response.body).hexdigest()}"
        if image.digest and digest != image.digest:
            raise RegistryError(_("The registry returned another image than the digest names."))
        manifest = _document(response)
        platforms = list[str]()
        if "manifests" in manifest:
            chosen = _of_platform(manifest["manifests"], architectures)
            platforms = _platforms(manifest["manifests"])
            if chosen is None:
                return ImageFacts(digest, platforms, (), (), "")
            manifest = await self._content(image, "manifests", chosen, ", ".join(_MANIFESTS))
        config_digest = _mapping(manifest.get("config")).get("digest")
        if not (isinstance(config_digest, str) and is_digest(config_digest)):
            raise RegistryError(
                _("The registry describes the image in a format that is not supported.")
            )
        config = await self._content(image, "blobs", config_digest)
        own = (
            f"{config.get('os') or 'linux'}/{config['architecture']}"
            if config.get("architecture")
            else ""
        )
        return _facts(digest, platforms or ([own] if own else []), _mapping(config.get("config")))

    async def _content(
        self, image: ImageName, of: str, digest: str, accept: str = "*/*"
    ) -> dict[str, Any]:
        """Return a JSON document with a digest."""
        response = await self._get(f"/v2/{image.repository}/{of}/{digest}", accept)
        if f"sha256:{hashlib.sha256(response.body).hexdigest()}" != digest:
            raise RegistryError(_("The registry returned another image than the digest names."))
        return _document(response)

    async def _get(self, path: str, accept: str = "*/*") -> RegistryResponse:
        """Send a request, and sign in if the registry requires it."""
        found = await self._send(path, accept)
        if found.status == 401 and not self._authorization:
            await self._sign_in(found)
            found = await self._send(path, accept)
        _check_status(found)
        return found

    async def _send(self, path: str, accept: str = "*/*") -> RegistryResponse:
        headers = {"Accept": accept}
        if self._authorization:
            headers["Authorization"] = self._authorization
        return await self._egress.get(f"{self._base}{path}", headers, follows=path != "/v2/")

    async def _sign_in(self, refused: RegistryResponse) -> None:
        """Obtain the authorization that a response with status 401 asks for."""
        challenge = refused.headers.get("www-authenticate", "")
        scheme = challenge.partition(" ")[0].lower()
        if scheme == "basic":
            if self._login is None:
                raise SignInRefused(_("The registry requires a user name and password."))
            self._authorization = _basic(self._login)
        elif scheme == "bearer":
            found = dict(_PARAMETER.findall(challenge))
            self._authorization = f"Bearer {await self._token(found)}"
        else:
            raise _not_a_registry()

    async def _token(self, challenge: Mapping[str, str]) -> str:
        """Request a token from the server that the registry names."""
        realm = challenge.get("realm", "")
        asked = {name: challenge[name] for name in ("service", "scope") if challenge.get(name)}
        headers = {"Accept": "application/json"}
        if self._login is not None:
            self._check_realm(realm)
            asked["account"] = self._login.user
            headers["Authorization"] = _basic(self._login)
        joined = "&" if "?" in realm else "?"
        found = await self._egress.get(f"{realm}{joined}{urlencode(asked)}", headers)
        _check_status(found)
        document = _document(found)
        token = document.get("token") or document.get("access_token")
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise _not_a_registry()
        return token

    def _check_realm(self, realm: str) -> None:
        """Raise `RegistryError` if the credentials must not be sent to the server for tokens: it has
        another host than the registry, is not above the registry's domain, and is not listed.
        """
        host, port = self._egress.policy.check_url(read_url(realm))
        own = read_url(self._base).raw_host or ""
        above = "." in host and own.endswith(f".{host}")
        listed = self._egress.policy.entry(host, port) is not None
        if not (host == own or above or listed or _REALMS.get(own) == host):
            raise not_listed(_("The registry asks to sign in at %(host)s.") % {"host": host})


def open_client(
    policy: RegistryPolicy,
    contexts: tuple[ssl.SSLContext, ssl.SSLContext],
    registry: str,
    login: Login | None,
    resolve: Resolve | None = None,
) -> tuple[Egress, RegistryClient]:
    """Return the connections and the client of a registry. `contexts` are those with and without
    verification of certificates.
    """
    host, port = split_port(served_at(registry))
    transfer = policy.transfer(host, port)
    skips = transfer is Transfer.INSECURE and login is not None and login.is_insecure
    egress = Egress(policy, contexts[1] if skips else contexts[0], resolve)
    scheme = "http" if transfer is Transfer.HTTP else "https"
    return egress, RegistryClient(egress, registry, scheme, login)


def _basic(login: Login) -> str:
    pair = f"{login.user}:{login.password}".encode()
    return f"Basic {base64.b64encode(pair).decode()}"


def _not_a_registry() -> RegistryError:
    return RegistryError(_("The host is not a container registry."))


def _check_registry(found: RegistryResponse) -> None:
    """Raise `RegistryError` if a response to `/v2/` doesn't come from a registry."""
    marked = "registry/2.0" in found.headers.get("docker-distribution-api-version", "")
    asks = found.status == 401 and "www-authenticate" in found.headers
    if marked or asks:
        return
    if found.status == 200:
        _document(found)
    elif found.status not in (403, 429) and found.status < 500:
        raise _not_a_registry()


def _check_status(found: RegistryResponse) -> None:
    if found.status == 200:
        return
    if found.status in (401, 403):
        raise SignInRefused(_("The registry refused the user name or password."))
    if found.status == 404:
        raise NotInRegistry(_("The registry has no such image, or you may not read it."))
    if found.status == 429:
        raise RegistryError(_("The registry received too many requests. Try again later."))
    raise RegistryError(_("The registry responded with status %(code)d.") % {"code": found.status})


def _document(found: RegistryResponse) -> dict[str, Any]:
    """Return the JSON object of a response."""
    try:
        document = json.loads(found.body)
    except (ValueError, RecursionError) as error:
        raise _not_a_registry() from error
    if not isinstance(document, dict):
        raise _not_a_registry()
    return document


def _mapping(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def _entries(manifests: Any) -> list[tuple[str, str, str]]:
    """Return operating system, architecture and digest of each image of an index."""
    found = []
    for one in manifests if isinstance(manifests, list) else ():
        platform = _mapping(_mapping(one).get("platform"))
        words = platform.get("os"), platform.get("architecture"), _mapping(one).get("digest")
        # Attestations have the platform unknown/unknown.
        if all(isinstance(word, str) and word != "unknown" for word in words):
            found.append(tuple(map(str, words)))
    return [(system, name, digest) for system, name, digest in found if is_digest(digest)]


def _platforms(manifests: Any) -> list[str]:
    return [*dict.fromkeys(f"{system}/{name}" for system, name, _digest in _entries(manifests))]


def _of_platform(manifests: Any, architectures: Collection[str]) -> str | None:
    """Return the digest of the image to read, or None."""
    entries = [one for one in _entries(manifests) if one[0] == "linux"] or _entries(manifests)
    wanted = [one for one in entries if one[1] in (architectures or ("amd64",))]
    return next((digest for _system, _name, digest in (*wanted, *entries)), None)


def _texts(found: Any) -> list[str]:
    listed = found if isinstance(found, list) else []
    return [one for one in listed if isinstance(one, str) and len(one) <= _MAX_WORD]


def _facts(digest: str, platforms: Sequence[str], config: Mapping[str, Any]) -> ImageFacts:
    ports = []
    for name in _mapping(config.get("ExposedPorts")):
        found = _PORT.fullmatch(name)
        if found is not None and 0 < int(found[1]) < 65536:
            ports.append(found[1] + ("" if found[2] in (None, "/tcp") else found[2]))
    user = config.get("User")
    return ImageFacts(
        digest=digest,
        platforms=platforms,
        ports=sorted(ports[:_MAX_PORTS], key=lambda one: int(one.partition("/")[0])),
        command=[*_texts(config.get("Entrypoint")), *_texts(config.get("Cmd"))],
        user=user if isinstance(user, str) and len(user) <= _MAX_WORD else "",
    )
