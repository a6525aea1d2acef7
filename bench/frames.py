"""How long from a change until a frame on a websocket shows it, with many sockets open.

All sockets show the pods of one app, which nobody else changes. Each of our own changes gives a pod a
number of restarts that grows from change to change; a frame whose row has that number, or a later one,
shows it. The other pods change as they do for the pages.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import msgspec

from bench.churn import ChurnProcess
from bench.cluster import LoadedControlPlane
from bench.live import order
from bench.memory import read
from bench.pages import RATE
from bench.podspec import Pod
from bench.podstatus import status_of
from bench.rate import ChangeRate
from bench.result import Result, percentile
from bench.webconsole import WebConsole
from bench.writing import MERGE_PATCH, Writer
from tests.controlplane.build import Report

_SIZES = (100, 500)
#: What one account may have open is limited.
_SOCKETS_PER_ACCOUNT = 20
#: For all sockets to open.
_OPENING_SECONDS = 60.0
_SECONDS = 15.0
_CHANGES_PER_SECOND = 8.0
#: Seconds after the last change in which its frames may still come.
_LATE_SECONDS = 5.0
_FIRST_NUMBER = 100_001

_TABLE = re.compile(r'<table[^>]*data-etag="([^"]*)"')
_TABLE_URL = re.compile(r'<table[^>]*data-url="([^"]*)"')
_ROW = re.compile(r'<tr[^>]*data-key="([^"]+)"')
_NUMBER = re.compile(r">\s*(1\d\d[,.\u202f\u00a0 ]?\d{3})\s*<")


@dataclass(slots=True)
class _Seen:
    """What one socket got. `arrived`: per row, the numbers that frames showed and when."""

    arrived: dict[str, list[tuple[int, float]]] = field(default_factory=dict)
    refreshes: int = 0
    bytes: int = 0


def measure(cluster: LoadedControlPlane, rounds: int, report: Report) -> list[Result]:
    """`rounds` is not used: every change is seen by all sockets."""
    pod = Pod(cluster.pods - 1)
    accounts = max(_SIZES) // _SOCKETS_PER_ACCOUNT
    report("starting the console\n")
    others = msgspec.structs.replace(order(cluster, 3600, RATE, generation=5), spare=pod.app)
    results: list[Result] = []
    with WebConsole(cluster, accounts=accounts) as console, ChurnProcess(others):
        for size in _SIZES:
            report(f"watching with {size} sockets\n")
            try:
                results += asyncio.run(_run(cluster, console, pod.app, size))
            except TimeoutError as error:
                # Without a result for this size, and with those of the others.
                report(f"{size} sockets: {error}\n")
    return results


async def _run(
    cluster: LoadedControlPlane, console: WebConsole, app: str, size: int
) -> list[Result]:
    seen: list[_Seen] = [_Seen() for _ in range(size)]
    before = read("VmRSS", console.pid)
    async with AsyncExitStack() as stack:
        try:
            async with asyncio.timeout(_OPENING_SECONDS):
                sockets = [
                    socket
                    for account in console.accounts[: -(-size // _SOCKETS_PER_ACCOUNT)]
                    for socket in await stack.enter_async_context(_sockets(console, account, app))
                ][:size]
        except TimeoutError:
            raise TimeoutError(f"not open within {_OPENING_SECONDS:g} s") from None
        after = read("VmRSS", console.pid)
        readers = [
            asyncio.create_task(_listen(socket, one))
            for socket, one in zip(sockets, seen, strict=True)
        ]
        rate = ChangeRate(cluster)
        changes = await _change(cluster, app, _FIRST_NUMBER + size * 100)
        per_second = rate.per_second()
        await asyncio.sleep(_LATE_SECONDS)
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
    lags = [lag for one in seen for lag in _lags(changes, one)]
    if not lags:
        raise TimeoutError("no socket was told of any change")
    expected = sum(len(made) for made in changes.values()) * size
    return [
        Result("frame_p50_ms", size, percentile(lags, 0.5), "ms"),
        Result("frame_p95_ms", size, percentile(lags, 0.95), "ms"),
        Result("frame_p99_ms", size, percentile(lags, 0.99), "ms"),
        Result("frame_changes_per_second", size, per_second, "1/s"),
        Result("frame_share_seen", size, len(lags) / expected, "x"),
        Result("frame_refreshes", size, sum(one.refreshes for one in seen) / size, ""),
        Result("frame_bytes_per_change", size, sum(one.bytes for one in seen) / expected, "B"),
        Result("frame_bytes_per_socket", size, (after - before) / size, "B"),
    ]


@asynccontextmanager
async def _sockets(
    console: WebConsole, account: str, app: str
) -> AsyncIterator[list[aiohttp.ClientWebSocketResponse]]:
    """As many as an account may have, each subscribed to the list as a browser would be."""
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(await console.signed_in(account))
        url = f"/clusters/host/pods?label=app.kubernetes.io/name%3D{app}&sort=name"
        async with session.get(url) as response:
            text = await response.text()
        etag, own = _TABLE.search(text), _TABLE_URL.search(text)
        if etag is None or own is None:
            raise OSError(f"{url} answered {response.status} without a table")
        message = {"subscribe": own.group(1).replace("&amp;", "&"), "etag": etag.group(1)}
        sockets = []
        for _ in range(_SOCKETS_PER_ACCOUNT):
            socket = await stack.enter_async_context(session.ws_connect("/ws/live"))
            await socket.send_str(msgspec.json.encode({**message, "lang": "en"}).decode())
            sockets.append(socket)
        yield sockets


async def _listen(socket: aiohttp.ClientWebSocketResponse, seen: _Seen) -> None:
    async for message in socket:
        if message.type is not aiohttp.WSMsgType.TEXT:
            continue
        now = time.monotonic()
        text: str = message.data
        seen.bytes += len(text)
        seen.refreshes += text.startswith("{") and "refresh" in text
        rows = _ROW.split(text)
        for key, row in zip(rows[1::2], rows[2::2], strict=True):
            found = _NUMBER.search(row)
            if found is not None:
                number = int(re.sub(r"\D", "", found.group(1)))
                seen.arrived.setdefault(key, []).append((number, now))


async def _change(
    cluster: LoadedControlPlane, app: str, first_number: int
) -> dict[str, list[tuple[int, float]]]:
    """Per row, the numbers it was given and when each was acknowledged."""
    pods = [pod for pod in map(Pod, range(cluster.pods)) if pod.app == app]
    # Those on the first page, which is in the order of names.
    pods = sorted(pods, key=lambda pod: (pod.name, pod.namespace))[:50]
    made: dict[str, list[tuple[int, float]]] = {}
    writer = Writer(cluster.access)
    started = time.monotonic()
    try:
        for count in range(int(_SECONDS * _CHANGES_PER_SECOND)):
            await asyncio.sleep(started + count / _CHANGES_PER_SECOND - time.monotonic())
            pod = pods[count % len(pods)]
            number = first_number + count
            await _restart(writer, pod, number)
            made.setdefault(f"{pod.namespace}/{pod.name}", []).append((number, time.monotonic()))
    finally:
        await writer.close()
    return made


async def _restart(writer: Writer, pod: Pod, number: int) -> None:
    """Nothing else about the pod changes, so its row stays where it is."""
    first, *others = status_of(pod)["containerStatuses"]
    states = [{**first, "restartCount": number}, *({**one, "restartCount": 0} for one in others)]
    path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/status"
    body = {"status": {"containerStatuses": states}}
    await writer.send("PATCH", path, body, manager="kubelet", content_type=MERGE_PATCH)


def _lags(made: dict[str, list[tuple[int, float]]], seen: _Seen) -> list[float]:
    """Milliseconds. A frame that shows a later number shows the earlier ones too."""
    lags: list[float] = []
    for key, changes in made.items():
        for number, when in changes:
            times = [at for shown, at in seen.arrived.get(key, ()) if shown >= number]
            if times:
                lags.append((min(times) - when) * 1000)
    return lags
