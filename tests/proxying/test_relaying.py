"""Websockets between a port's page and its program."""

import asyncio
from typing import Any

import pytest
from aiohttp import WSMsgType, web
from channels.testing import ApplicationCommunicator

from console.live.sessionmonitor import get_session_monitor
from console.proxying import application, relaying
from console.ui.core.clusters import clusters
from tests.proxying.headers import CANARY
from tests.proxying.wire import BROWSERS, PREFIX, Wire

pytestmark = pytest.mark.django_db(transaction=True)


async def echoes(request: web.Request) -> web.StreamResponse:
    """Echo every message until "bye"."""
    websocket = web.WebSocketResponse(protocols=("chat",))
    await websocket.prepare(request)
    async for message in websocket:
        if message.data == "bye":
            break
        if message.type is WSMsgType.TEXT:
            await websocket.send_str(message.data)
        else:
            await websocket.send_bytes(message.data)
    await websocket.close()
    return websocket


async def begun(socket: ApplicationCommunicator) -> dict[str, Any]:
    await socket.send_input({"type": "websocket.connect"})
    found: dict[str, Any] = await socket.receive_output(10)
    return found


async def said(socket: ApplicationCommunicator, **message: Any) -> dict[str, Any]:
    await socket.send_input({"type": "websocket.receive", **message})
    found: dict[str, Any] = await socket.receive_output(10)
    return found


async def test_messages_are_relayed_unchanged_in_both_directions(wire: Wire) -> None:
    wire.program = echoes
    headers = {name: value for name, value in BROWSERS.items() if name != "sec-websocket-key"}
    socket = wire.browser.connect("/ws?a=%2e", "other", "chat", **headers)
    assert await begun(socket) == {"type": "websocket.accept", "subprotocol": "chat"}
    assert await said(socket, text="h\u00e9") == {"type": "websocket.send", "text": "h\u00e9"}
    assert await said(socket, bytes=b"\0") == {"type": "websocket.send", "bytes": b"\0"}
    assert await said(socket, text="bye") == {"type": "websocket.close", "code": 1000}
    await socket.wait(5)
    (request,) = wire.seen
    assert request.raw_path == f"{PREFIX}/ws?a=%2e" and CANARY not in str(request.raw_headers)
    assert request.headers["Cookie"] == "sid=theirs" and "Origin" not in request.headers
    assert request.headers.getall("Impersonate-User") == ["admin"]
    assert not get_session_monitor()._checked and application.places.reserved("admin") == 0


@pytest.mark.parametrize(
    "origin", ["https://console.example.com", "null", "", "https://ports.example.com"]
)
async def test_websocket_from_another_origin_is_refused(wire: Wire, origin: str) -> None:
    socket = wire.browser.connect("/ws", origin=origin)
    assert await begun(socket) == {"type": "websocket.close", "code": 1008}
    assert wire.seen == []


async def test_websocket_requires_cookie_session_and_write_permission(wire: Wire) -> None:
    refused = {"type": "websocket.close", "code": 1008}
    assert await begun(wire.browser.connect("/ws", cookie="a=b")) == refused
    assert await begun(wire.browser.connect("/../ws")) == refused
    wire.person.access.delete_in = ()
    assert await begun(wire.browser.connect("/ws")) == refused
    wire.person.access.delete_in, wire.person.alive = None, False
    assert await begun(wire.browser.connect("/ws")) == refused
    assert wire.seen == []


@pytest.mark.parametrize("code", [200, 302, 403, 404, 500])
async def test_failed_handshake_does_not_open_a_raw_connection(wire: Wire, code: int) -> None:
    wire.says("no", status=code, headers={"Location": f"{wire.elsewhere}/x"})
    socket = wire.browser.connect("/ws")
    assert await begun(socket) == {"type": "websocket.close", "code": 1008}
    await socket.wait(5)
    assert wire.strayed == [] and len(wire.seen) == 1


@pytest.mark.parametrize("lost", ["session", "right"])
async def test_websocket_closes_when_session_or_permission_ends(wire: Wire, lost: str) -> None:
    wire.program = echoes
    socket = wire.browser.connect("/ws")
    await begun(socket)
    await said(socket, text="x")
    if lost == "session":
        wire.person.alive = False
        get_session_monitor()._on_rights(clusters.host)
    else:
        wire.person.access.get_in = ()
    assert await socket.receive_output(10) == {"type": "websocket.close", "code": 1008}


async def test_disconnected_client_leaves_no_session_check(wire: Wire) -> None:
    ended = asyncio.Event()

    async def waits(request: web.Request) -> web.StreamResponse:
        try:
            return await echoes(request)
        finally:
            ended.set()

    wire.program = waits
    socket = wire.browser.connect("/ws")
    await begun(socket)
    await socket.send_input({"type": "websocket.disconnect", "code": 1001})
    await socket.wait(5)
    assert await socket.receive_nothing()
    await asyncio.wait_for(ended.wait(), 5)
    assert not get_session_monitor()._checked


async def test_program_that_does_not_read_is_disconnected_after_a_timeout(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaf = asyncio.Event()

    async def listens_to_nothing(request: web.Request) -> web.StreamResponse:
        websocket = web.WebSocketResponse()
        await websocket.prepare(request)
        assert request.transport is not None
        request.transport.pause_reading()
        await deaf.wait()
        # Closing the connection properly would wait ten seconds for the close frame of a peer that
        # doesn't read.
        request.transport.abort()
        return websocket

    wire.program = listens_to_nothing
    monkeypatch.setattr(relaying, "MAX_WAITING_BYTES", 2**18)
    socket = wire.browser.connect("/ws")
    await begun(socket)
    for _ in range(1000):
        await socket.send_input({"type": "websocket.receive", "bytes": b"x" * 60_000})
        if socket.output_queue.qsize():
            break
        await asyncio.sleep(0)
    assert await socket.receive_output(10) == {"type": "websocket.close", "code": 1008}
    deaf.set()
