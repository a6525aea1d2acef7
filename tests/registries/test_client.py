"""The client against a real registry."""

import time
from pathlib import Path

import pytest

from console.registries import egress
from console.registries.client import MAX_TAGS
from console.registries.errors import (
    NotInRegistry,
    RegistryError,
    SignInRefused,
    UntrustedRegistry,
)
from console.registries.logins import Login
from console.registries.references import ImageName
from tests.registries.conftest import API, ARM, IMAGE, LookupsFor, Pki, Silent
from tests.registries.server import (
    PASSWORD,
    USER,
    Image,
    Pusher,
    RealRegistry,
    TokenServer,
    digest_of,
)

LOGIN = Login(USER, PASSWORD)


def named(registry: RealRegistry, rest: str) -> ImageName:
    found = ImageName.parse(f"{registry.address}/{rest}")
    assert found is not None
    return found


async def test_the_right_password_is_verified(
    password_registry: RealRegistry, lookups_for: LookupsFor
) -> None:
    lookups = lookups_for(password_registry.address)
    assert (await lookups.verify("ann", password_registry.address, LOGIN)).was_checked


async def test_a_wrong_password_is_refused(
    password_registry: RealRegistry, lookups_for: LookupsFor
) -> None:
    lookups = lookups_for(password_registry.address)
    with pytest.raises(SignInRefused, match="user name or password"):
        await lookups.verify("ann", password_registry.address, Login(USER, "wrong"))


async def test_tags_and_images_need_the_password(
    password_registry: RealRegistry, lookups_for: LookupsFor
) -> None:
    lookups = lookups_for(password_registry.address)
    with pytest.raises(SignInRefused, match="requires a user name"):
        await lookups.tags("ann", named(password_registry, API), None)
    found = await lookups.tags("ann", named(password_registry, API), LOGIN)
    assert sorted(found.tags) == ["2.18.3", "2.18.4", "latest"] and found.is_complete


async def test_an_image_shows_its_digest_ports_command_and_user(
    password_registry: RealRegistry, lookups_for: LookupsFor
) -> None:
    lookups = lookups_for(password_registry.address)
    found = await lookups.image("ann", named(password_registry, f"{API}:2.18.4"), LOGIN)
    assert found.digest == digest_of(IMAGE.manifest)
    assert found.platforms == ["linux/amd64"]
    assert found.ports == ["53/udp", "8080", "9090"]
    assert [*found.command] == ["/app/server", "--port", "8080"] and found.user == "65532"
    pinned = named(password_registry, f"{API}@{found.digest}")
    assert await lookups.image("ann", pinned, LOGIN) == found


async def test_an_image_for_several_platforms_shows_the_one_of_the_nodes(
    password_registry: RealRegistry, lookups_for: LookupsFor
) -> None:
    lookups = lookups_for(password_registry.address)
    name = named(password_registry, "shop/many:1")
    found = await lookups.image("ann", name, LOGIN, {"arm64"})
    assert found.platforms == ["linux/amd64", "linux/arm64"] and [*found.command] == ["/arm"]
    usual = await lookups.image("ann", name, LOGIN)
    assert usual.digest == found.digest != digest_of(ARM.manifest)
    assert usual.ports == ["53/udp", "8080", "9090"]


async def test_a_missing_tag_is_reported(
    password_registry: RealRegistry, lookups_for: LookupsFor
) -> None:
    lookups = lookups_for(password_registry.address)
    with pytest.raises(NotInRegistry, match="no such image"):
        await lookups.image("ann", named(password_registry, f"{API}:9"), LOGIN)
    with pytest.raises(NotInRegistry):
        await lookups.tags("ann", named(password_registry, "shop/none"), LOGIN)


async def test_long_tag_lists_are_read_in_pages_and_limited(
    password_registry: RealRegistry,
    lookups_for: LookupsFor,
    pki: Pki,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tags = [f"v{number:02}" for number in range(12)]
    await Pusher(password_registry, pki.authority).image("shop/long", IMAGE, *tags)
    monkeypatch.setattr("console.registries.client.PAGE", 5)
    name, lookups = named(password_registry, "shop/long"), lookups_for(password_registry.address)
    assert [*(await lookups.tags("ann", name, LOGIN)).tags] == tags
    monkeypatch.setattr("console.registries.client.MAX_PAGES", 2)
    found = await lookups.tags("bob", name, LOGIN)
    assert [*found.tags] == tags[:10] and not found.is_complete
    assert MAX_TAGS >= 1_000


async def test_a_token_is_requested_with_the_password_and_used(
    token_registry: RealRegistry,
    tokens: tuple[TokenServer, int],
    lookups_for: LookupsFor,
    pki: Pki,
) -> None:
    server, port = tokens
    lookups = lookups_for(token_registry.address, f"localhost:{port}")
    assert (await lookups.verify("ann", token_registry.address, LOGIN)).was_checked
    with pytest.raises(SignInRefused):
        await lookups.verify("ann", token_registry.address, Login(USER, "wrong"))
    access = [
        {"type": "repository", "name": name, "actions": ["pull", "push"]}
        for name in (API, "public/web")
    ]
    pusher = Pusher(token_registry, pki.authority, server.signed(access))
    await pusher.image(API, IMAGE, "1")
    await pusher.image("public/web", Image(), "1")
    assert [*(await lookups.tags("ann", named(token_registry, API), LOGIN)).tags] == ["1"]
    # A token without credentials: only public repositories.
    server.asked.clear()
    assert [*(await lookups.tags("ann", named(token_registry, "public/web"), None)).tags] == ["1"]
    with pytest.raises(SignInRefused):
        await lookups.tags("ann", named(token_registry, API), None)
    assert set(server.asked) == {""}


async def test_an_untrusted_certificate_is_reported_and_can_be_skipped_only_if_allowed(
    password_registry: RealRegistry, lookups_for: LookupsFor
) -> None:
    address = password_registry.address
    insecure = Login(USER, PASSWORD, is_insecure=True)
    strict = lookups_for(address, trusts=False)
    for login in (LOGIN, insecure):
        with pytest.raises(UntrustedRegistry, match="is not trusted: .*issuer"):
            await strict.verify("ann", address, login)
    lax = lookups_for(f"insecure://{address}", trusts=False)
    with pytest.raises(UntrustedRegistry, match="You can skip the verification"):
        await lax.verify("ann", address, LOGIN)
    assert (await lax.verify("ann", address, insecure)).was_checked


async def test_a_host_without_https_and_one_that_is_no_registry_are_reported(
    registry_program: Path, lookups_for: LookupsFor, tmp_path: Path
) -> None:
    with RealRegistry(registry_program, tmp_path) as plain:
        with pytest.raises(RegistryError, match="does not accept HTTPS"):
            await lookups_for(plain.address).verify("ann", plain.address, LOGIN)
        allowed = lookups_for(f"http://{plain.address}")
        found = await allowed.verify("ann", plain.address, LOGIN)
        assert not found.was_checked
    with pytest.raises(RegistryError, match="refused the connection"):
        await lookups_for(plain.address).verify("ann", plain.address, LOGIN)


async def test_an_unknown_host_is_reported(lookups_for: LookupsFor) -> None:
    with pytest.raises(RegistryError, match=r"host registry\.invalid was not found"):
        await lookups_for().verify("ann", "registry.invalid", LOGIN)


async def test_a_registry_that_never_responds_is_reported_in_time(
    silent: Silent, lookups_for: LookupsFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert egress.CONNECT_TIMEOUT < egress.DEADLINE < 10
    monkeypatch.setattr(egress, "DEADLINE", 0.3)
    began = time.monotonic()
    for listed in (silent.address, f"http://{silent.address}"):
        with pytest.raises(RegistryError, match="No response within"):
            await lookups_for(listed).verify("ann", silent.address, LOGIN)
    assert time.monotonic() - began < 5 and silent.accepted == 2
