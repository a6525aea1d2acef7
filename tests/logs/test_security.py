"""Malicious links and messages: no additional access and bounded cost."""

import json
import re
import time
from urllib.parse import urlencode

import pytest

from console.live.limits import MAX_MESSAGE
from console.logs.consumer import LogConsumer
from console.logs.filtering import LineFilter, LogEntry
from console.logs.lines import LogLine
from console.logs.query import LogQuery
from devcluster.logs.runs import TEXT_ANNOTATION
from tests.controlplane.waiting import eventually
from tests.logs.conftest import World
from tests.logs.followers import TIMEOUT, Browser, following, written
from tests.logs.pages import get, shown
from tests.support.path_tricks import TRICKS
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs

pytestmark = pytest.mark.django_db(transaction=True)

PODS = "/clusters/host/projects/default/pods"
AT = "2026-11-24T10:00:00.000000000Z"


@pytest.mark.parametrize("query", ["", f"?at={AT}&q=x", "?format=text&tail=all", "?container=*"])
async def test_link_grants_no_permission(world: World, query: str) -> None:
    """Users see only what their permissions cover and don't learn whether the pod exists."""
    path = world.start(world.pod(f"stolen-{len(query)}"))
    mark = world.cluster.audit.mark()
    answers = [
        await ClientAs()("charlie").get(f"{one}{query}")
        for one in (path, path.replace("stolen", "absent"))
    ]
    assert [one.status_code for one in answers] == [403, 403]
    # The rest of the page contains tokens and the time.
    texts = [re.sub(r"(?s)^.*<main|</main.*$", "", await text_of(one)) for one in answers]
    assert texts[0].replace("stolen", "absent") == texts[1]
    assert world.asked(mark) == []


async def test_websocket_url_grants_no_permission(world: World) -> None:
    path = world.start(world.pod("stolen-socket"))
    mark = world.cluster.audit.mark()
    for one in (path, path.replace("stolen", "absent")):
        eve = Browser(f"{one}?tail=10", FakeAccess("eve", get_in=(), list_in=()))
        async with following(eve, {"app": [AT, 1, "containerd://x"]}):
            assert await eve.error() == (403, 4403)
            assert eve.lines == [] and eve.sources == []
    assert world.asked(mark) == []


@pytest.mark.parametrize("name", TRICKS)
async def test_container_name_cannot_redirect_the_request(world: World, name: str) -> None:
    path = world.start(world.pod(f"tricks-{TRICKS.index(name)}"))
    mark = world.cluster.audit.mark()
    await get(f"{path}?{urlencode({'container': name})}", 400)
    assert world.asked(mark) == []


@pytest.mark.parametrize(
    "name", ["..", "%2e%2e", "a%2f..%2fsecret", "a%0ab", "a%3fprevious=true", "%00"]
)
async def test_pod_name_cannot_redirect_the_request(world: World, name: str) -> None:
    mark = world.cluster.audit.mark()
    assert (await ClientAs()("admin").get(f"{PODS}/{name}/log")).status_code in (400, 404)
    assert world.asked(mark) == []


async def test_search_text_is_not_a_regular_expression() -> None:
    """Compiling this text as a pattern would cause catastrophic backtracking."""
    picker = LineFilter(LogQuery(search="(a+)+$"))
    lines = ["a" * 16_000 + "!", "x(a+)+$"]
    begun = time.monotonic()
    found = [
        [*picker.next(LogEntry(0, LogLine("", line.encode()), ""))]
        for line in lines
        for _ in range(100)
    ]
    assert [bool(one) for one in found] == [False] * 100 + [True] * 100
    assert time.monotonic() - begun < 5


async def test_long_line_is_truncated_in_transit(world: World) -> None:
    text = "x" * 200_000 + "\nend"
    path = world.start(world.pod("long-line", **{TEXT_ANNOTATION: text}))
    eventually(lambda: len(written(world, "long-line")) == 2, "it is written")
    html = await get(path)
    assert shown(html)[1] == "end" and "183,616 more bytes" in html
    assert len(html) < 100_000
    async with following(Browser(path)) as browser:
        await browser.until(2)
        assert [len(line) for _, line in browser.lines] == [16 * 1024, 3]


async def test_message_flood_closes_the_websocket(world: World) -> None:
    path = world.start(world.pod("flood"))
    browser = Browser(path, answers=False)
    await browser.follow()
    for number in range(int(LogConsumer.per_second) + 20):
        await browser.socket.send_to(text_data=json.dumps({"ack": number}))
    assert await closed(browser) == 1008


async def test_huge_message_closes_the_websocket(world: World) -> None:
    path = world.start(world.pod("huge"))
    browser = Browser(path)
    await browser.socket.connect(timeout=TIMEOUT)
    await browser.socket.send_to(text_data="x" * (MAX_MESSAGE + 1))
    assert await closed(browser) == 1009


async def closed(browser: Browser) -> int:
    while (message := await browser.socket.receive_output(timeout=TIMEOUT))[
        "type"
    ] != "websocket.close":
        pass
    code: int = message["code"]
    return code
