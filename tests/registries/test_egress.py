"""Addresses that the console must not connect to on behalf of users."""

import socket
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from aiohttp import web

from console.registries import egress
from console.registries.errors import RegistryError
from console.registries.logins import Login
from console.registries.lookups import BURST, RegistryLookups
from console.registries.policy import RegistryPolicy, read_entry
from console.registries.references import ImageName
from tests.accounts.federation.servers import local_server
from tests.registries.conftest import Clock, LookupsFor, Pki, Silent
from tests.registries.server import server_tls

LOGIN = Login("ann", "secret-of-ann")
BASIC = "Basic YW5uOnNlY3JldC1vZi1hbm4="
Answers = Sequence[str]


class Resolver:
    """Answers with the addresses of a list, one element for each question."""

    def __init__(self, *answers: Answers) -> None:
        self.answers = [*answers]
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int, family: int) -> Sequence[Any]:
        self.asked.append(host)
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [
            (
                socket.AF_INET6 if ":" in one else socket.AF_INET,
                socket.SOCK_STREAM,
                0,
                "",
                (one, port),
            )
            for one in found
        ]


async def refusal(lookups: RegistryLookups, registry: str) -> str:
    with pytest.raises(RegistryError) as found:
        await lookups.verify("ann", registry, LOGIN)
    return str(found.value)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.0.1",
        "100.64.0.1",
        "0.0.0.0",  # noqa: S104
        "169.254.169.254",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "::ffff:127.0.0.1",
        "fe80::1",
        "fd00::1",
        "fd00:ec2::254",
        "ff02::1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::7f00:1",
        "2002:7f00:1::",
        "2001:0:7f00:1::",
    ],
)
async def test_a_host_with_a_private_address_is_refused(
    address: str, lookups_for: LookupsFor
) -> None:
    for answer in ([address], ["93.184.216.34", address]):
        resolver = Resolver(answer)
        found = await refusal(lookups_for(resolve=resolver), "registry.example.com")
        assert "private address" in found or "never allowed" in found
    literal = f"[{address}]" if ":" in address else address
    found = await refusal(lookups_for(), literal)
    assert "private address" in found or "never allowed" in found


@pytest.mark.parametrize(
    "registry",
    [
        "2130706433",
        "127.1",
        "0177.0.0.1",
        "127.0.0.1.",
        "localhost:5000",
        "[fe80::1%25eth0]",
        "ann@registry.example.com",
        "registry.example.com\n",
        "registry.example.com:8443",
        "",
        "münchen.example",
    ],
)
async def test_other_spellings_of_addresses_and_other_ports_are_refused(
    registry: str, lookups_for: LookupsFor
) -> None:
    resolver = Resolver(["93.184.216.34"])
    await refusal(lookups_for(resolve=resolver), registry)
    assert not resolver.asked


@pytest.mark.parametrize("address", ["169.254.169.254", "100.100.100.200", "fe80::1", "::"])
async def test_metadata_services_are_refused_even_if_listed(
    address: str, lookups_for: LookupsFor
) -> None:
    lookups = lookups_for("registry.corp", resolve=Resolver([address]))
    assert "never allowed" in await refusal(lookups, "registry.corp")


async def test_a_connection_goes_to_the_address_that_was_checked(
    silent: Silent, lookups_for: LookupsFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The resolver answers differently for each question: the address is resolved once per
    connection, and the second connection is refused.
    """
    monkeypatch.setattr(egress, "DEADLINE", 0.3)
    host = f"registry.corp:{silent.port}"
    resolver = Resolver(["127.0.0.1"], ["169.254.169.254"])
    lookups = lookups_for(host, resolve=resolver)
    assert "No response" in await refusal(lookups, host)
    assert silent.accepted == 1 and resolver.asked == ["registry.corp"]
    assert "never allowed" in await refusal(lookups, host)
    assert silent.accepted == 1
    private = lookups_for(resolve=Resolver(["127.0.0.1"]))
    assert "private address" in await refusal(private, "registry.example.com")
    assert silent.accepted == 1


class Impostor:
    """A server that responds as the test wants, and records what it receives."""

    def __init__(self) -> None:
        self.answers: dict[str, web.Response] = {}
        self.received: list[tuple[str, str]] = []
        self.port = 0

    @property
    def address(self) -> str:
        return f"localhost:{self.port}"

    async def respond(self, request: web.Request) -> web.Response:
        self.received.append((request.path, request.headers.get("Authorization", "")))
        found = self.answers.get(request.path)
        if found is None:
            return web.Response(status=404)
        return web.Response(status=found.status, headers=found.headers, body=found.body)


@pytest.fixture
async def impostor(pki: Pki) -> AsyncIterator[Impostor]:
    async for found in _impostor(pki):
        yield found


@pytest.fixture
async def other(pki: Pki) -> AsyncIterator[Impostor]:
    async for found in _impostor(pki):
        yield found


async def _impostor(pki: Pki) -> AsyncIterator[Impostor]:
    found = Impostor()
    application = web.Application()
    application.router.add_get("/{path:.*}", found.respond)
    async with local_server(application, tls=server_tls(pki.pair)) as url:
        found.port = int(url.rpartition(":")[2])
        yield found


def challenge(realm: str) -> web.Response:
    header = f'Bearer realm="{realm}",service="tests",scope="repository:shop/api:pull"'
    return web.Response(status=401, headers={"WWW-Authenticate": header})


async def test_credentials_are_not_sent_to_a_realm_on_another_host(
    impostor: Impostor, lookups_for: LookupsFor, other: Impostor
) -> None:
    impostor.answers["/v2/"] = challenge("https://tokens.example.net/token")
    resolver = Resolver(["127.0.0.1"])
    lookups = lookups_for(impostor.address, resolve=resolver)
    found = await refusal(lookups, impostor.address)
    assert "sign in at tokens.example.net" in found
    assert resolver.asked == ["localhost"]
    # A private address without an entry is refused, also without credentials.
    impostor.answers["/v2/shop/api/tags/list"] = challenge(f"https://127.0.0.1:{other.port}/token")
    name = ImageName.parse(f"{impostor.address}/shop/api")
    assert name is not None
    with pytest.raises(RegistryError, match="another port"):
        await lookups.tags("ann", name, None)
    impostor.answers["/v2/shop/api/tags/list"] = challenge("http://tokens.example.net/token")
    with pytest.raises(RegistryError, match="without encryption"):
        await lookups.tags("bob", name, None)
    impostor.answers["/v2/shop/api/tags/list"] = challenge("file:///etc/passwd")
    with pytest.raises(RegistryError):
        await lookups.tags("eve", name, None)
    assert not other.received


async def test_a_redirect_to_a_private_address_is_refused(
    impostor: Impostor, lookups_for: LookupsFor, other: Impostor
) -> None:
    name = ImageName.parse(f"{impostor.address}/shop/api")
    assert name is not None
    for number, place in enumerate(
        (
            "https://169.254.169.254/latest/meta-data",
            "http://169.254.169.254/latest/meta-data",
            f"https://127.0.0.1:{other.port}/",
            "https://127.0.0.1/",
            "https://[::1]/",
            "file:///etc/passwd",
        )
    ):
        impostor.answers["/v2/shop/api/tags/list"] = web.Response(
            status=307, headers={"Location": place}
        )
        with pytest.raises(RegistryError):
            await lookups_for(impostor.address).tags(f"user-{number}", name, LOGIN)
    assert not other.received


async def test_a_redirect_to_another_host_gets_no_credentials(
    impostor: Impostor, lookups_for: LookupsFor, other: Impostor
) -> None:
    basic = {"WWW-Authenticate": 'Basic realm="tests"'}
    impostor.answers["/v2/shop/api/tags/list"] = web.Response(status=401, headers=basic)
    lookups = lookups_for(impostor.address, other.address)
    name = ImageName.parse(f"{impostor.address}/shop/api")
    assert name is not None
    with pytest.raises(RegistryError):
        await lookups.tags("ann", name, LOGIN)
    assert impostor.received[-1][1] == BASIC
    place = {"Location": f"{'https://'}{other.address}/elsewhere"}
    impostor.answers["/v2/shop/api/tags/list"] = web.Response(status=307, headers=place)
    other.answers["/elsewhere"] = web.json_response({"tags": ["1"]})
    assert [*(await lookups.tags("bob", name, LOGIN)).tags] == ["1"]
    assert other.received == [("/elsewhere", "")]


async def test_large_responses_and_redirect_loops_end(
    impostor: Impostor, lookups_for: LookupsFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = ImageName.parse(f"{impostor.address}/shop/api")
    assert name is not None
    lookups = lookups_for(impostor.address)
    path = "/v2/shop/api/tags/list"
    impostor.answers[path] = web.Response(status=302, headers={"Location": path})
    with pytest.raises(RegistryError, match="redirects too often"):
        await lookups.tags("ann", name, None)
    monkeypatch.setattr(egress, "MAX_BYTES", 1_000)
    impostor.answers[path] = web.Response(body=b"[" * 2_000)
    with pytest.raises(RegistryError, match="too large"):
        await lookups.tags("bob", name, None)
    impostor.answers[path] = web.Response(body=b"[" * 900)
    with pytest.raises(RegistryError, match="not a container registry"):
        await lookups.tags("eve", name, None)


@pytest.mark.parametrize("status", [200, 404, 418, 302])
async def test_another_web_server_is_no_registry(
    status: int, impostor: Impostor, lookups_for: LookupsFor
) -> None:
    impostor.answers["/v2/"] = web.Response(
        status=status, body=b"<html>secret</html>", headers={"Location": "https://example.com/"}
    )
    found = await refusal(lookups_for(impostor.address), impostor.address)
    assert found == "The host is not a container registry."
    assert all(not sent for _path, sent in impostor.received)


async def test_an_image_with_other_content_than_its_digest_is_refused(
    impostor: Impostor, lookups_for: LookupsFor
) -> None:
    digest = f"sha256:{'0' * 64}"
    name = ImageName.parse(f"{impostor.address}/shop/api@{digest}")
    assert name is not None
    impostor.answers[f"/v2/shop/api/manifests/{digest}"] = web.json_response({"config": {}})
    with pytest.raises(RegistryError, match="another image"):
        await lookups_for(impostor.address).image("ann", name, None)


async def test_a_user_can_start_a_limited_number_of_operations(lookups_for: LookupsFor) -> None:
    clock = Clock()
    lookups = lookups_for(resolve=Resolver(["127.0.0.1"]), clock=clock)
    for _number in range(BURST):
        assert "private" in await refusal(lookups, "registry.example.com")
    assert "Too many requests" in await refusal(lookups, "registry.example.com")
    with pytest.raises(RegistryError, match="private"):
        await lookups.verify("bob", "registry.example.com", LOGIN)
    clock.now += 2
    assert "private" in await refusal(lookups, "registry.example.com")
    assert "Too many requests" in await refusal(lookups, "registry.example.com")


async def test_answers_are_reused_for_the_same_user_and_credentials(
    impostor: Impostor, lookups_for: LookupsFor
) -> None:
    clock = Clock()
    lookups = lookups_for(impostor.address, clock=clock)
    name = ImageName.parse(f"{impostor.address}/shop/api")
    assert name is not None
    impostor.answers["/v2/shop/api/tags/list"] = web.json_response({"tags": ["1"]})
    for who, login, count in (
        ("ann", None, 1),
        ("ann", None, 1),
        ("ann", LOGIN, 2),
        ("bob", None, 3),
    ):
        await lookups.tags(who, name, login)
        assert len(impostor.received) == count
    clock.now += 60
    await lookups.tags("ann", name, None)
    assert len(impostor.received) == 4


async def test_only_listed_registries_can_be_used_if_access_is_restricted(
    impostor: Impostor, lookups_for: LookupsFor
) -> None:
    lookups = lookups_for(impostor.address, restricted=True, resolve=Resolver(["127.0.0.1"]))
    assert "not one of the allowed registries" in await refusal(lookups, "quay.io")
    impostor.answers["/v2/"] = web.json_response({})
    assert not (await lookups.verify("ann", impostor.address, LOGIN)).was_checked


def test_entries_of_the_setting_name_scheme_host_and_port() -> None:
    policy = RegistryPolicy.of(
        [
            "registry.corp",
            "*.lab.corp:5000",
            "http://10.0.0.7:5000",
            "insecure://Old.corp",
            "docker.io",
        ]
    )
    for host, port, known in (
        ("registry.corp", 443, True),
        ("registry.corp", 5000, False),
        ("a.lab.corp", 5000, True),
        ("lab.corp", 5000, False),
        ("xlab.corp", 5000, False),
        ("10.0.0.7", 5000, True),
        ("old.corp", 443, True),
        ("auth.docker.io", 443, True),
    ):
        assert (policy.entry(host, port) is not None) is known, host
    assert policy.transfer("10.0.0.7", 5000).value == "http"
    assert policy.transfer("old.corp", None).value == "insecure"
    assert policy.transfer("quay.io", None).value == "https"
    for wrong in ("", "ftp://x", "a b", "host:99999", "host:x", "http://", "*", "10.0.0.0/8"):
        with pytest.raises(ValueError, match="REGISTRIES must contain"):
            read_entry(wrong)


async def test_credentials_are_in_no_message_and_no_log(
    impostor: Impostor, lookups_for: LookupsFor, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    impostor.answers["/v2/"] = web.Response(
        status=401, headers={"WWW-Authenticate": 'Basic realm="tests"'}
    )
    found = await refusal(lookups_for(impostor.address), impostor.address)
    assert impostor.received[-1][1] == BASIC
    for text in (found, repr(LOGIN), caplog.text):
        assert LOGIN.password not in text and BASIC not in text
