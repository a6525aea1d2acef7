"""Websockets: allowed origins, authentication and lifetime."""

from typing import Any

import pytest
from django.db import DatabaseError
from pytest_django import Settings

from accounts.signin import session_rows
from console.kube.gvr import PODS, USERS
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.ui.core.clusters import clusters
from tests.accounts.conftest import HASH, Browser
from tests.accounts.sockets import Headers, connect, from_ours
from tests.rbac.objects import user
from tests.support.informers import bring
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    "origins",
    [
        [],
        [b"null"],
        [b""],
        [b"http://console.example.com"],
        [b"https://console.example.com:443"],
        [b"https://console.example.com:30080"],
        [b"https://console.example.com/"],
        [b"https://console.example.com.evil.example"],
        [b"https://evil.example"],
        [b"https://user@console.example.com"],
        [b"https://CONSOLE.example.com"],
        [b"wss://console.example.com"],
        [b"file://"],
        [b"https://console.example.com", b"https://console.example.com"],
        [b"https://evil.example,https://console.example.com"],
        [b"\xff"],
    ],
)
async def test_other_origins_cannot_open_a_websocket(
    browser: Browser, origins: list[bytes]
) -> None:
    await browser.login("admin")
    cookie = from_ours(browser)[1:]
    pod = "/ws/clusters/host/projects/default/pods/web"
    for path in ("/ws/live", f"{pod}/log", f"{pod}/terminal"):
        headers = [*((b"origin", value) for value in origins), *cookie]
        accepted, scope = await connect(headers, path)
        assert not accepted
        assert scope == {}


async def test_a_websocket_has_the_user_of_the_session(browser: Browser) -> None:
    await browser.login("admin")
    accepted, scope = await connect(from_ours(browser))
    assert accepted
    assert scope["account"] == "admin"
    assert scope["access_in"](clusters.host).identity.name == "admin"
    assert scope["access_in"](clusters.host).can("list", PODS)
    assert await scope["session_alive"]()


@pytest.mark.parametrize(
    ("headers", "language"),
    [
        ([], "en"),
        ([(b"accept-language", b"zh-CN,en;q=0.5")], "zh-hans"),
        ([(b"accept-language", b"\xff;q=x")], "en"),
        ([(b"accept-language", b"en"), (b"cookie", b"%s=zh-hans")], "zh-hans"),
        ([(b"accept-language", b"zh-CN"), (b"cookie", b"%s=../en")], "zh-hans"),
    ],
)
async def test_a_websocket_uses_the_language_of_the_pages(
    settings: Settings, headers: Headers, language: str
) -> None:
    name = settings.LANGUAGE_COOKIE_NAME.encode()
    given = [(header, value.replace(b"%s", name)) for header, value in headers]
    _, scope = await connect([*from_ours(), *given])
    assert scope["language"] == language


async def test_a_websocket_has_the_permissions_of_the_user(browser: Browser) -> None:
    await browser.login("alice")
    _, scope = await connect(from_ours(browser))
    assert scope["account"] == "alice"
    assert not scope["access_in"](clusters.host).can("list", PODS)


@pytest.mark.parametrize(
    "cookie", [b"", b"__Host-quarterdeck=", b"__Host-quarterdeck=" + b"a" * 32, b"\xff=\xff", b";;"]
)
async def test_a_websocket_without_a_session_is_anonymous(cookie: bytes) -> None:
    _, scope = await connect([*from_ours(), (b"cookie", cookie)])
    assert (scope["account"], scope["access_in"]) == (None, None)
    assert not await scope["session_alive"]()


async def test_a_websocket_notices_the_end_of_its_session(
    browser: Browser, users: Informer[Any], runtime: StaticRuntime
) -> None:
    await browser.login("admin")
    _, scope = await connect(from_ours(browser))
    alive = scope["session_alive"]
    bring(users, user("admin", password=HASH, state="Disabled"))
    assert not await alive()
    assert not scope["access_in"](clusters.host).can("list", PODS)
    bring(users, user("admin", password=HASH))
    assert await alive()
    runtime._informers[USERS] = Informer(USERS, DECODERS[USERS])
    assert not await alive()
    runtime._informers[USERS] = users
    await browser.post("/logout")
    assert not await alive()


async def test_a_websocket_is_anonymous_without_the_database(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    await browser.login("admin")
    _, before = await connect(from_ours(browser))

    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise DatabaseError("the server closed the connection")

    monkeypatch.setattr(session_rows, "_read", fail)
    assert not await before["session_alive"]()
    _, scope = await connect(from_ours(browser))
    assert (scope["account"], scope["access_in"]) == (None, None)


async def test_a_new_sign_in_ends_the_session_of_a_websocket(browser: Browser) -> None:
    await browser.login("admin")
    _, scope = await connect(from_ours(browser))
    await browser.login("alice")
    assert not await scope["session_alive"]()


async def test_the_origin_of_the_demo_is_plain_http(settings: Settings) -> None:
    settings.ORIGINS = frozenset({"http://127.0.0.1:8000"})
    accepted, _ = await connect([(b"origin", b"http://127.0.0.1:8000")])
    assert accepted
    accepted, _ = await connect([(b"origin", b"http://127.0.0.1:30080")])
    assert not accepted
