"""Logs and terminals on a control plane with a node that runs pods.

Measures the time to the first line, the effect of a busy log on other users, the memory of idle
logs and terminals, and the echo time of a keystroke compared with `kubectl exec`.
"""

import asyncio
import json
import os
import pty
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp

from bench.memory import SETTLE, read
from bench.pages import LIST
from bench.reading import Reader, hidden, percentiles
from bench.result import Result, percentile
from bench.webconsole import WebConsole
from tests.controlplane.build import find
from tests.node.node import RealNode, container

#: Logs or terminals that are open at once, and number to open before memory is measured.
_OPEN, _WARM = 200, 20
#: Logs to open one after another, keys to type, and seconds to follow a busy log.
_CLICKS, _KEYS, _SECONDS = 40, 200, 10.0
_WAIT = 30.0
#: Less than the limit per account, so that connections that are still closing don't matter.
_PER_ACCOUNT = 15
#: Seconds between two keystrokes of a fast typist.
_TYPING = 0.05
_PODS = "/clusters/host/projects/default/pods"
#: Command that is equivalent to the console's terminal.
_SHELL = ("exec", "--stdin", "--tty", "quiet", "--", "sh")

#: Linux limit of inotify instances per user. A kubelet needs one for each followed log. Without
#: one, it ends the log immediately, and the console retries again and again.
_INSTANCES = Path("/proc/sys/fs/inotify/max_user_instances")

_Open = Callable[[aiohttp.ClientSession], Awaitable["_StreamSocket"]]


def measure() -> list[Result]:
    quiet = container("a", "i=0; while :; do echo line $i; i=$((i+1)); sleep 2; done")
    # 20,000 lines per second, and slightly more.
    pours = container("a", "while :; do seq 1000000 1001000; usleep 43000; done")
    accounts = -(-_OPEN // _PER_ACCOUNT)
    with (
        _instances(4 * _OPEN),
        RealNode() as node,
        node.pod("quiet", quiet),
        WebConsole(node.cluster, accounts=accounts) as console,
    ):
        results = asyncio.run(_quiet(console, node.cluster.kubeconfig))
        with node.pod("pours", pours):
            results += asyncio.run(_pouring(console))
        # Use a new process for each kind, so that one can't reuse memory that the other has freed.
        for name, opens in (("log", _log), ("terminal", _terminal)):
            with WebConsole(node.cluster, accounts=accounts) as another:
                held = asyncio.run(_held(another, opens))
            results.append(Result(f"{name}_bytes_per_open", _OPEN, held, "B"))
        return results


@contextmanager
def _instances(least: int) -> Iterator[None]:
    before = _INSTANCES.read_text()
    if int(before) < least:
        _INSTANCES.write_text(str(least))
    try:
        yield
    finally:
        _INSTANCES.write_text(before)


class _StreamSocket:
    """A websocket of a log or terminal that acknowledges messages.

    `lines`, `screen`: received data. `goodbye`: message before closing, so that the terminal
    isn't kept for a reconnect.
    """

    def __init__(
        self, connection: aiohttp.ClientWebSocketResponse, goodbye: dict[str, Any] | None = None
    ) -> None:
        self._goodbye = goodbye
        self.lines, self.screen = 0, bytearray()
        self._connection = connection
        self._came = asyncio.Event()
        self._task = asyncio.create_task(self._listen())

    async def until(self, done: Callable[["_StreamSocket"], object]) -> None:
        """Wait for a condition. Raise TimeoutError, or OSError if the console closed the websocket."""
        async with asyncio.timeout(_WAIT):
            while not done(self):
                if self._task.done():
                    raise OSError(f"the console closed a stream: {self._connection.close_code}")
                self._came.clear()
                await self._came.wait()

    async def type(self, keys: bytes) -> None:
        await self._connection.send_bytes(keys)

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if self._goodbye is not None:
            await self._connection.send_json(self._goodbye)
        await self._connection.close()

    async def _listen(self) -> None:
        with suppress(ConnectionError):
            async for message in self._connection:
                await self._take(message)
                self._came.set()
        self._came.set()

    async def _take(self, message: aiohttp.WSMessage) -> None:
        if message.type is aiohttp.WSMsgType.BINARY:
            self.screen += message.data
            await self._connection.send_json({"ack": len(self.screen)})
        elif message.type is aiohttp.WSMsgType.TEXT:
            found: dict[str, Any] = json.loads(message.data)
            self.lines += len(found.get("lines", ()))
            if "n" in found:
                await self._connection.send_json({"ack": found["n"]})


async def _log(session: aiohttp.ClientSession, pod: str = "quiet") -> _StreamSocket:
    connection = await session.ws_connect(f"/ws{_PODS}/{pod}/log?tail=100")
    await connection.send_json({"follow": "en"})
    stream = _StreamSocket(connection)
    await stream.until(lambda one: one.lines)
    return stream


async def _terminal(session: aiohttp.ClientSession) -> _StreamSocket:
    async with session.get(f"{_PODS}/quiet/terminal") as response:
        page = hidden(await response.text())["csrfmiddlewaretoken"]
    connection = await session.ws_connect(f"/ws{_PODS}/quiet/terminal?shell=sh")
    await connection.send_json({"begin": "en", "size": [80, 24], "page": page})
    stream = _StreamSocket(connection, {"end": True})
    await stream.until(lambda one: b"# " in one.screen)
    return stream


async def _quiet(console: WebConsole, kubeconfig: Path) -> list[Result]:
    async with await console.signed_in(console.accounts[0]) as session:
        clicks = [await _click(session) for _ in range(_CLICKS)]
        keys = await _typed(session)
    keys_of_kubectl = await asyncio.to_thread(_typed_to_kubectl, kubeconfig)
    late, late_of_kubectl = percentile(keys, 0.95), percentile(keys_of_kubectl, 0.95)
    return [
        *percentiles("log_first_line_{}_ms", _CLICKS, clicks),
        *percentiles("terminal_echo_{}_ms", _KEYS, keys),
        Result("terminal_echo_p95_ms_kubectl", _KEYS, late_of_kubectl, "ms"),
        Result("terminal_echo_over_kubectl_ms", _KEYS, late - late_of_kubectl, "ms"),
    ]


async def _click(session: aiohttp.ClientSession) -> float:
    """Return the milliseconds from the request of a log page until the first line is followed."""
    started = time.perf_counter()
    async with session.get(f"{_PODS}/quiet/log?timestamps=1") as response:
        if response.status != 200 or "log-line" not in await response.text():
            raise OSError(f"the page of a log answered {response.status}")
    stream = await _log(session)
    took = (time.perf_counter() - started) * 1000
    await stream.close()
    return took


async def _typed(session: aiohttp.ClientSession) -> list[float]:
    """Return the milliseconds from each keystroke until its echo."""
    stream = await _terminal(session)
    found = []
    for _ in range(_KEYS):
        before = len(stream.screen)
        started = time.perf_counter()
        await stream.type(b"x")
        await stream.until(partial(_has_more, before))
        found.append((time.perf_counter() - started) * 1000)
        await asyncio.sleep(_TYPING)
    await stream.close()
    return found


def _has_more(before: int, stream: _StreamSocket) -> bool:
    return len(stream.screen) > before


def _typed_to_kubectl(kubeconfig: Path) -> list[float]:
    """Like `_typed`, for `kubectl exec` in a pseudo-terminal."""
    with _kubectl(kubeconfig) as terminal:
        screen = b""
        while b"# " not in screen:
            screen += os.read(terminal, 4096)
        found = []
        for _ in range(_KEYS):
            started = time.perf_counter()
            os.write(terminal, b"x")
            os.read(terminal, 4096)
            found.append((time.perf_counter() - started) * 1000)
            time.sleep(_TYPING)
        return found


@contextmanager
def _kubectl(kubeconfig: Path) -> Iterator[int]:
    terminal, its_end = pty.openpty()
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "HOME": str(kubeconfig.parent)}
    process = subprocess.Popen(  # noqa: S603  a program that we built
        [str(find("kubectl")), *_SHELL],
        stdin=its_end, stdout=its_end, stderr=its_end, env=environment, start_new_session=True,
    )  # fmt: skip
    try:
        yield terminal
    finally:
        process.terminate()
        process.wait()
        os.close(its_end)
        os.close(terminal)


async def _held(console: WebConsole, opens: _Open) -> float:
    """Return the memory in bytes per idle log or terminal."""
    async with AsyncExitStack() as stack:
        sessions = [
            await stack.enter_async_context(await console.signed_in(one))
            for one in console.accounts
        ]
        async with _open(sessions, opens, _WARM):
            pass
        before = read("VmRSS", console.pid)
        async with _open(sessions, opens, _OPEN):
            await asyncio.sleep(SETTLE)
            return (read("VmRSS", console.pid) - before) / _OPEN


@asynccontextmanager
async def _open(
    sessions: list[aiohttp.ClientSession], opens: _Open, number: int
) -> AsyncIterator[None]:
    """Open a number of streams, distributed over several accounts."""
    async with AsyncExitStack() as stack:
        for at in range(number):
            stream = await opens(sessions[at // _PER_ACCOUNT])
            stack.push_async_callback(stream.close)
        yield


async def _pouring(console: WebConsole) -> list[Result]:
    """Measure another user's pages while a busy log is followed and while it isn't."""
    who, other = console.accounts[:2]
    async with await console.signed_in(who) as session, await console.signed_in(other) as looking:
        reader = Reader(console, looking)
        done = asyncio.Event()
        asyncio.get_running_loop().call_later(_SECONDS, done.set)
        calm = [page.server for page in await reader.until(LIST, done)]
        stream = await _log(session, "pours")
        done.clear()
        asyncio.get_running_loop().call_later(_SECONDS, done.set)
        before, started = stream.lines, time.monotonic()
        late = [page.server for page in await reader.until(LIST, done)]
        rate = (stream.lines - before) / (time.monotonic() - started)
        await stream.close()
    usual, found = percentile(calm, 0.95), percentile(late, 0.95)
    return [
        Result("log_lines_per_second", 1, rate, "1/s"),
        Result("page_p95_during_log_ms", 1, found, "ms"),
        Result("page_ratio_during_log", 1, found / usual, "x"),
    ]
