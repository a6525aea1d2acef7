"""Validation and rate limits of messages from the browser."""

from typing import Any

import pytest

from console.kube.informer import Informer
from console.live.consumer import LiveConsumer
from console.live.hub import get_hub
from console.live.limits import BURST, MAX_MESSAGE, MAX_SOCKETS, SocketCap
from tests.live.conftest import URL, Browser, Browsers
from tests.support.informers import bring
from tests.ui.support import admin, alice, pod

MALFORMED = [
    "",
    "{",
    "null",
    "[]",
    "1",
    '"x"',
    "\x00",
    "[" * 50_000,
    '{"subscribe": ' + "[" * 30_000,
    '{"subscribe": 1}',
    '{"subscribe": null}',
    '{"etag": "x"}',
    '{"subscribe": "/clusters/host/pods", "etag": 5}',
    '{"subscribe": "/clusters/host/pods", "more": true}',
    '{"subscribe": "/clusters/host/pods"} {}',
    '{"subscribe": "/clusters/host/planets"}',
    '{"subscribe": "/clusters/other/pods"}',
    '{"subscribe": "/login"}',
    '{"subscribe": "/clusters/host/projects/shop/pods/web-1/actions/delete"}',
    '{"subscribe": "https://evil.example/clusters/host/pods"}',
    '{"subscribe": "//evil.example/clusters/host/pods"}',
    '{"subscribe": "/clusters/host/pods?limit=abc"}',
    '{"subscribe": "/clusters/host/pods?sort=__x"}',
    '{"subscribe": "/clusters/host/pods?q=' + "a" * 60_000 + '"}',
    '{"subscribe": "/clusters/host/pods?' + "&".join(f"x{n}=1" for n in range(1500)) + '"}',
]


@pytest.mark.parametrize("text", MALFORMED, ids=range(len(MALFORMED)))
async def test_invalid_message_is_answered_with_an_error(
    browsers: Browsers, pods: Informer[Any], text: str
) -> None:
    browser = await browsers(admin())
    await browser.subscribe()
    await browser.frame()
    await browser.say(text)
    error = (await browser.control())["error"]
    assert error["code"] in (400, 404)
    assert error["message"]
    # The previous subscription continues.
    bring(pods, pod("web-1", restarts=8))
    assert 'data-key="shop/web-1"' in await browser.html()


async def test_binary_message_is_refused(browsers: Browsers) -> None:
    browser = await browsers(admin())
    await browser._socket.send_to(bytes_data=b'{"subscribe": "/clusters/host/pods"}')
    assert (await browser.control())["error"]["code"] == 400


async def test_unknown_language_falls_back_to_english(browsers: Browsers) -> None:
    browser = await browsers(admin())
    for lang in ("xx", "x" * 10_000, "../../etc", "en_US.UTF-8"):
        await browser.subscribe(lang=lang)
        assert "Live" in await browser.html()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "该消息不是有效的订阅请求。"),
        ('{"subscribe": "/clusters/host/planets"}', "此地址的页面没有实时更新。"),
    ],
)
async def test_errors_before_the_subscription_use_the_language_of_the_pages(
    text: str, why: str
) -> None:
    browser = Browser(admin(), language="zh-hans")
    assert await browser.connect()
    await browser.say(text)
    assert (await browser.control())["error"]["message"] == why
    await browser.leave()


async def test_huge_message_closes_the_websocket(browsers: Browsers) -> None:
    browser = await browsers(admin())
    await browser.say("x" * (MAX_MESSAGE + 1))
    assert await browser.closed() == 1009


async def test_message_flood_closes_the_websocket(browsers: Browsers) -> None:
    browser = await browsers(admin())
    for _ in range(int(BURST) + 5):
        await browser.say("{}")
    answers = 0
    while True:
        message = await browser._socket.receive_output(timeout=5)
        if message["type"] == "websocket.close":
            break
        answers += 1
    assert message["code"] == 1008
    assert answers <= BURST + 1


async def test_new_subscription_replaces_the_previous_one(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    browser = await browsers(admin())
    await browser.subscribe(f"{URL}?namespace=shop")
    await browser.frame()
    await browser.subscribe(f"{URL}?namespace=team-b")
    await browser.frame()
    bring(pods, pod("web-1", "shop", restarts=8))
    assert await browser.quiet()
    bring(pods, pod("web-1", "team-b", restarts=13))
    assert 'data-key="team-b/web-1"' in await browser.html()


async def test_websockets_are_limited_per_account(browsers: Browsers) -> None:
    for _ in range(MAX_SOCKETS):
        await browsers(admin())
    one_more = Browser(admin(), language="zh-hans")
    assert await one_more.connect()
    error = {"code": 429, "message": "打开的页面过多，请关闭一些页面。"}
    assert (await one_more.control())["error"] == error
    assert await one_more.closed() == 1008
    other = await browsers(alice())
    await other.subscribe()
    assert await other.frame()
    await browsers.open[0].leave()
    assert await (await browsers(admin())).quiet()


async def test_closed_websocket_releases_all_resources(
    pods: Informer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    cap = SocketCap()
    monkeypatch.setattr(LiveConsumer, "cap", cap)
    browser = Browser(admin())
    await browser.connect()
    await browser.subscribe()
    await browser.frame()
    # Pods, bindings and usage.
    assert (cap.open("admin"), get_hub().feeds) == (1, 3)
    await browser.leave()
    assert (cap.open("admin"), get_hub().feeds) == (0, 0)


async def test_unknown_websocket_path_is_refused() -> None:
    for path in ("/", "/ws/live/", "/ws/other", "/clusters/host/pods"):
        browser = Browser(admin())
        browser._socket.scope["path"] = path
        assert not await browser.connect()


async def test_websockets_share_one_informer_listener(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    for _ in range(3):
        browser = await browsers(admin())
        await browser.subscribe()
        await browser.frame()
    assert len(pods._listeners) == 1
