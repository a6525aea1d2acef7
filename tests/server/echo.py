"""A small ASGI application under `console.web.server.run`, in a separate process because a Twisted
reactor runs only once.

GET /scope returns the ASGI scope. POST returns the size of the body. GET /slow responds after a
while, GET /never doesn't respond. GET /long sends 64 MiB as fast as its client reads, /broken
half of that and then aborts. GET /sent returns the number of bytes sent so far. A websocket
replies with the length of each message, to "big" with 200 kB, to "pour" with 16 MiB in 64
messages followed by creating a file, and to "close N" by closing with code N.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from console.live.flow import Flow, flow_of
from console.web import server
from console.web.hardening import harden

#: Time limits that a test may shorten by environment variables.
SECONDS = ("HEAD_SECONDS", "IDLE_SECONDS", "BODY_SECONDS", "RESPONSE_SECONDS")
#: Bytes of long responses sent so far.
sent = 0


async def body_of(receive: Any) -> bytes:
    body, more = bytearray(), True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return bytes(body)


async def http(scope: dict[str, Any], receive: Any, send: Any) -> None:
    size = len(await body_of(receive))
    if scope["path"] == "/never":
        await asyncio.Event().wait()
    if scope["path"] == "/slow":
        await slow(send)
        return
    if scope["path"] in ("/long", "/broken"):
        await long(flow_of(scope), send, whole=scope["path"] == "/long")
        return
    if scope["path"] == "/sent":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": str(sent).encode()})
        return
    names = sorted(name.decode() for name, _ in scope["headers"])
    answer = {
        "size": size,
        "path": scope["path"],
        "root_path": scope["root_path"],
        "headers": names,
    }
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": json.dumps(answer).encode()})


async def long(flow: Flow, send: Any, *, whole: bool) -> None:
    global sent
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(1024 if whole else 512):
        await send({"type": "http.response.body", "body": b"x" * 64 * 1024, "more_body": True})
        sent += 64 * 1024
        await flow.wait_clear()
    if whole:
        await send({"type": "http.response.body", "body": b""})
    else:
        flow.abort()


async def slow(send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"begun,", "more_body": True})
    await asyncio.sleep(1)
    await send({"type": "http.response.body", "body": b"done"})


async def websocket(scope: dict[str, Any], receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        text = message.get("text") or ""
        if text.startswith("close "):
            await send({"type": "websocket.close", "code": int(text.split()[1])})
            continue
        if text == "pour":
            await pour(send)
            continue
        answer = "x" * 200_000 if text == "big" else json.dumps([len(text), scope["root_path"]])
        await send({"type": "websocket.send", "text": answer})


async def pour(send: Any) -> None:
    for _ in range(64):
        await send({"type": "websocket.send", "text": "x" * 256 * 1024})
        await asyncio.sleep(0.05)
    Path(os.environ["TMPDIR"], "poured").touch()


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    await (websocket if scope["type"] == "websocket" else http)(scope, receive, send)


async def admits(headers: Mapping[bytes, Sequence[bytes]]) -> bool:
    return headers.get(b"X-Nobody") is None


def ready() -> None:
    os.write(1, b"ready\n")


def main() -> None:
    settings.configure(TRUSTED_PROXIES=())
    port = int(sys.argv[1])
    for name, value in os.environ.items():
        if name in SECONDS:
            setattr(server, name, float(value))
    server.run(harden(application), "127.0.0.1", port, ready, admits=admits)


if __name__ == "__main__":
    main()
