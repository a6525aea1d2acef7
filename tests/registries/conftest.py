"""Registries with TLS: open, with a password, and with tokens."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from console.registries.lookups import RegistryLookups, tls_contexts
from console.registries.policy import RegistryPolicy
from tests.controlplane.pki import Authority, KeyPair
from tests.registries.server import (
    Image,
    Pusher,
    RealRegistry,
    TokenServer,
    password_auth,
    token_auth,
    token_server,
)
from tests.support.ports import LOOPBACK, free_port

API = "shop/api"
IMAGE = Image(
    config={
        "ExposedPorts": {"9090/tcp": {}, "8080/tcp": {}, "53/udp": {}},
        "Entrypoint": ["/app/server"],
        "Cmd": ["--port", "8080"],
        "User": "65532",
    }
)
ARM = Image(architecture="arm64", config={"Cmd": ["/arm"]})


@dataclass(frozen=True)
class Pki:
    """A certificate authority and a certificate for `localhost`."""

    authority: Authority
    pair: KeyPair


@pytest.fixture(scope="session")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Pki:
    authority = Authority(tmp_path_factory.mktemp("registry-ca"))
    pair = authority.server("registry", hosts=["localhost"], addresses=[LOOPBACK])
    return Pki(authority, pair)


@pytest.fixture(scope="session")
def password_registry(
    registry_program: Path, pki: Pki, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealRegistry]:
    """A registry with a password, TLS and images of `API`."""
    folder = tmp_path_factory.mktemp("registry")
    with RealRegistry(registry_program, folder, pki.pair, password_auth(folder)) as found:
        asyncio.run(_push(Pusher(found, pki.authority)))
        yield found


async def _push(pusher: Pusher) -> None:
    await pusher.image(API, IMAGE, "2.18.4", "2.18.3", "latest")
    await pusher.index("shop/many", [IMAGE, ARM], "1")
    await pusher.index("shop/arm", [ARM], "1")
    await pusher.image("shop/single-arm", ARM, "1")


@pytest.fixture
async def tokens(pki: Pki) -> AsyncIterator[tuple[TokenServer, int]]:
    """A token server and its port."""
    port = free_port()
    async with token_server(pki.pair, port) as found:
        yield found, port


@pytest.fixture
def token_registry(
    registry_program: Path, pki: Pki, tokens: tuple[TokenServer, int], tmp_path: Path
) -> Iterator[RealRegistry]:
    """A registry that accepts tokens of the token server."""
    auth = token_auth(f"https://localhost:{tokens[1]}/token", pki.authority.certificate)
    with RealRegistry(registry_program, tmp_path, pki.pair, auth) as found:
        yield found


@pytest.fixture
def lookups_for(pki: Pki) -> "LookupsFor":
    return LookupsFor(pki)


@dataclass(frozen=True)
class LookupsFor:
    """Creates `RegistryLookups` with the tests' certificate authority."""

    pki: Pki

    def __call__(
        self, *listed: str, trusts: bool = True, restricted: bool = False, **more: object
    ) -> RegistryLookups:
        tls = tls_contexts(str(self.pki.authority.certificate) if trusts else "")
        policy = RegistryPolicy.of(listed, is_restricted=restricted)
        return RegistryLookups(policy, tls, **more)  # type: ignore[arg-type]


@dataclass
class Silent:
    """A listener that accepts connections and never responds. `accepted` counts them."""

    port: int
    accepted: int = 0

    @property
    def address(self) -> str:
        return f"localhost:{self.port}"


@pytest.fixture
async def silent() -> AsyncIterator[Silent]:
    found = Silent(0)
    ended = asyncio.Event()

    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.accepted += 1
        await ended.wait()
        writer.close()

    server = await asyncio.start_server(serve, LOOPBACK, 0, family=socket.AF_INET)
    found.port = server.sockets[0].getsockname()[1]
    yield found
    ended.set()
    server.close()


class Clock:
    """Monotonic time that the test advances."""

    def __init__(self) -> None:
        self.now = time.monotonic()

    def __call__(self) -> float:
        return self.now
