"""Bytes exchanged with kube-apiserver, with programs of many kinds behind it."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from console.live.flow import Flow
from console.live.sessionmonitor import get_session_monitor
from console.ui.core.clusters import clusters
from tests.proxying.browsing import Answer
from tests.proxying.headers import CANARY, HOSTILE
from tests.proxying.wire import BROWSERS, PREFIX, Wire

pytestmark = pytest.mark.django_db(transaction=True)


async def test_forwarded_request_contains_only_allowed_headers(wire: Wire) -> None:
    wire.says("hello")
    path = "/a%2Fb//c%20d?x=%2e%2e&path=/etc&watch=true"
    own = {"sec-fetch-site": "same-origin", "content-type": "text/x", "user-agent": "Browser/1"}
    await wire.browser.send("POST", path, b"body", **BROWSERS | own, origin=_origin(wire))
    (request,) = wire.seen
    assert request.raw_path == f"{PREFIX}{path}" and wire.bodies == [b"body"]
    assert CANARY not in str(request.raw_headers)
    assert dict(request.headers) == {
        "Host": wire.url.removeprefix("http://"),
        "User-Agent": "Browser/1",
        "Accept-Encoding": "identity",
        "Accept": "*/*",
        "Content-Type": "text/x",
        "Cookie": "sid=theirs",
        "X-Forwarded-Host": wire.browser.host,
        "X-Forwarded-Proto": "https",
        "Impersonate-User": "admin",
        "Impersonate-Group": "system:authenticated",
        "Audit-ID": "audit-1",
        "Authorization": "Bearer secret-token",
        "Content-Length": "4",
    }


def _origin(wire: Wire) -> str:
    return f"https://{wire.browser.host}"


async def test_headers_of_a_hostile_program_do_not_reach_the_browser(wire: Wire) -> None:
    quiet = ("Transfer-Encoding", "Connection", "Upgrade", "Keep-Alive", "Trailer")
    headers = {name: CANARY for name in HOSTILE if name not in quiet}
    assert len(headers) >= 25
    wire.says("hello", headers=headers, content_type="text/css")
    answer = await wire.browser.get("/x.css")
    assert answer.status == 200 and CANARY not in str(answer.headers)
    assert answer.get("content-type").startswith("text/css") and answer.text == "hello"


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
async def test_redirects_are_not_followed(wire: Wire, code: int) -> None:
    wire.says(status=code, headers={"Location": f"{wire.elsewhere}/x", "Set-Cookie": "a=b"})
    answer = await wire.browser.get("/go", accept="text/html")
    assert answer.status == 200 and answer.get("location") == ""
    assert "Redirect to another site" in answer.text and f'href="{wire.elsewhere}/x"' in answer.text
    assert (await wire.browser.get("/go")).status == 502
    wire.says(status=code, headers={"Location": f"{PREFIX}/login"})
    answer = await wire.browser.get("/go", accept="text/html")
    assert (answer.status, answer.get("location")) == (code, "/login")
    wire.says(status=code, headers={"Location": "javascript:alert(1)"})
    assert (await wire.browser.get("/go", accept="text/html")).status == 502
    assert wire.strayed == []


async def test_urls_in_pages_are_rewritten(wire: Wire) -> None:
    wire.says(f'<a href="{PREFIX}/x">', content_type="text/html")
    answer = await wire.browser.get(f"{PREFIX}/page")
    assert answer.text == '<a href="/x">' and answer.get("content-length") == ""
    assert wire.seen[-1].raw_path == f"{PREFIX}/page"
    wire.says(f"'{PREFIX}/x'", content_type="text/javascript")
    assert (await wire.browser.get("/x.js")).text == f"'{PREFIX}/x'"


async def test_status_codes_and_bodies_are_passed_on(wire: Wire) -> None:
    for code in (201, 204, 206, 304, 400, 401, 403, 404, 418, 500, 503):
        wire.says("" if code in (204, 304) else "said", status=code)
        answer = await wire.browser.get("/")
        assert answer.status == code and answer.whole
        assert answer.text == ("" if code in (204, 304) else "said")
    for text in ('{"kind": "Status"}', "[]", "{", '{"kind":"Status","apiVersion":"v1"}'):
        wire.says(text, status=404, content_type="application/json")
        assert (await wire.browser.get("/")).text == text


@pytest.mark.parametrize("code", [600, 700, 999])
async def test_statuses_that_are_not_http_are_not_passed_on(wire: Wire, code: int) -> None:
    wire.says("said", status=code, headers={"X-Made-Up": CANARY})
    answer = await wire.browser.get("/", accept="text/html")
    assert answer.status == 502
    assert "invalid HTTP status" in answer.text and CANARY not in answer.text


async def test_errors_of_kube_apiserver_are_explained(wire: Wire) -> None:
    dial = "error trying to reach service: dial tcp 10.0.0.1:80: connect: connection refused"
    for code, reason, message, words in (
        (503, "ServiceUnavailable", dial, "Port 80 of web-1 is not responding."),
        (503, "ServiceUnavailable", "no endpoints available for service", "no ready pods"),
        (404, "NotFound", 'pods "web-1" not found', "web-1 no longer exists."),
        (403, "Forbidden", "pods/proxy is forbidden", "Permission denied by the cluster."),
        (
            400,
            "BadRequest",
            "address not allowed <b>",
            "The cluster rejected the request. address not allowed",
        ),
        (500, "InternalError", "internal", "The cluster rejected the request."),
        (401, "Unauthorized", "Unauthorized", "The cluster rejected the request."),
    ):
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code}
        told = json.dumps({**status, "message": message, "reason": reason})
        wire.says(told, status=code, content_type="application/json")
        answer = await wire.browser.get("/", accept="text/html")
        assert words in answer.text and "10.0.0.1" not in answer.text and "<b>" not in answer.text
        assert answer.status == {500: 502, 401: 503}.get(code, code)


async def test_response_is_streamed_while_it_is_written(wire: Wire) -> None:
    more = asyncio.Event()

    async def trickles(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"data: 1\n\n")
        await more.wait()
        await response.write(b"data: 2\n\n")
        return response

    wire.program = trickles
    answer = Answer()
    task = wire.browser.begin(answer, "GET", "/events")
    await until(lambda: answer.body == b"data: 1\n\n")
    assert not answer.whole
    more.set()
    await task
    assert answer.text == "data: 1\n\ndata: 2\n\n" and answer.whole and not answer.cut


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


@dataclass
class Pouring:
    """Write without end. `ended` is set when the client disconnects."""

    written: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/x"})
        await response.prepare(request)
        try:
            while True:
                await response.write(b"x" * 65536)
                self.written += 65536
        finally:
            self.ended.set()


async def test_slow_reader_causes_back_pressure(wire: Wire) -> None:
    wire.program = pouring = Pouring()
    answer, flow, gone = Answer(), Flow(), asyncio.Event()
    task = wire.browser.begin(answer, "GET", "/", flow=flow, gone=gone)
    await until(lambda: answer.body)
    flow.clogged = True
    before = -1
    while before != pouring.written:
        before = pouring.written
        await asyncio.sleep(0.3)
    assert len(answer.body) < before < len(answer.body) + 16 * 2**20
    flow.clogged = False
    flow.on_clear()
    await until(lambda: pouring.written > before + 2**20)
    gone.set()
    await task
    await asyncio.wait_for(pouring.ended.wait(), 10)
    assert not get_session_monitor()._checked


@pytest.mark.parametrize("lost", ["session", "right"])
async def test_open_response_ends_with_session_or_permission(wire: Wire, lost: str) -> None:
    wire.program = pouring = Pouring()
    answer = Answer()
    task = wire.browser.begin(answer, "GET", "/")
    await until(lambda: answer.body)
    if lost == "session":
        wire.person.alive = False
        get_session_monitor()._on_rights(clusters.host)
    else:
        wire.person.access.get_in = ()
    await asyncio.wait_for(task, 20)
    assert answer.cut and not answer.whole
    await asyncio.wait_for(pouring.ended.wait(), 10)


async def test_aborted_response_is_not_reported_as_complete(wire: Wire) -> None:
    async def breaks(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/x"})
        response.content_length = 100
        await response.prepare(request)
        await response.write(b"half")
        assert request.transport is not None
        request.transport.abort()
        return response

    wire.program = breaks
    answer = await wire.browser.get("/")
    assert answer.body == b"half" and answer.cut and not answer.whole
