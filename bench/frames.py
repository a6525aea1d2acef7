"""Time from a change until a websocket frame shows it, with many open sockets.

First all sockets show the same list, then many different lists. Only this module changes the
pods in these lists; all other pods change as in `bench.pages`. Some more sockets show a list
without changes.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from bench.churn import ChurnProcess, order
from bench.cluster import LoadedControlPlane
from bench.memory import read
from bench.pages import AT_MOST, RATE
from bench.rate import ChangeRate
from bench.reading import percentiles
from bench.restarts import FIRST, apps_of, lags, restart
from bench.result import Result
from bench.sockets import PER_ACCOUNT, Socket, opened
from bench.webconsole import WebConsole
from tests.controlplane.build import Report

_FEW, _MANY = 100, 500
_LISTS = 25
_IDLE = 5
#: Timeout in seconds for opening all sockets.
_OPENING_SECONDS = 120.0
#: Seconds to wait for the initial messages after subscribing.
_SETTLING_SECONDS = 2.0
_SECONDS = 10.0
#: Changes per second: in the one list, and in all lists together.
_RATE, _RATE_MIXED = 8.0, 25.0
#: Seconds after the last change in which late frames still count.
_LATE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class _FrameLists:
    """`lists`: apps whose lists are shown. `quiet`: an app without changes."""

    lists: Sequence[str]
    quiet: str

    @classmethod
    def choose(cls, pods: int) -> "_FrameLists":
        """Choose at most a third of the apps, so that others remain to be changed."""
        apps = apps_of(pods)
        return cls(apps[: max(1, min(_LISTS, len(apps) // 3))], apps[-1])

    def one_list(self, sockets: range) -> list[str]:
        return [self.lists[0] for _ in sockets]

    def many_lists(self, sockets: range) -> list[str]:
        return [self.lists[number % len(self.lists)] for number in sockets]


def measure(cluster: LoadedControlPlane, rounds: int, report: Report) -> list[Result]:
    """Run the benchmark. `rounds` is ignored, because many sockets receive each change."""
    cast = _FrameLists.choose(cluster.pods)
    accounts = _MANY // PER_ACCOUNT + 1
    spare = (*cast.lists, cast.quiet)
    report("starting the console\n")
    with (
        WebConsole(cluster, accounts=accounts) as console,
        ChurnProcess(order(cluster, AT_MOST, RATE, generation=6, spare=spare)),
    ):
        return asyncio.run(_Run(cluster, console, cast, report).results())


class _Run:
    def __init__(
        self, cluster: LoadedControlPlane, console: WebConsole, cast: _FrameLists, report: Report
    ) -> None:
        self._cluster, self._console, self._cast = cluster, console, cast
        self._report = report
        self._number = FIRST

    async def results(self) -> list[Result]:
        cast = self._cast
        async with self._following(self._console.accounts[-1:], [cast.quiet] * _IDLE) as idle:
            await asyncio.sleep(_SETTLING_SECONDS)
            for socket in idle:
                socket.forget()
            since = time.monotonic()
            results = await self._one_list()
            results += _idle(idle, time.monotonic() - since)
        async with self._open(cast.many_lists(range(_MANY)), 0) as sockets:
            results += await self._measured(sockets, cast.lists, _RATE_MIXED, "_mixed")
        return results

    async def _one_list(self) -> list[Result]:
        """Measure with some sockets, then with many more."""
        cast = self._cast
        before = read("VmRSS", self._console.pid)
        async with AsyncExitStack() as stack:
            few = await stack.enter_async_context(self._open(cast.one_list(range(_FEW)), 0))
            results = await self._measured(few, cast.lists[:1], _RATE, "")
            for socket in few:
                socket.forget()
            more = await stack.enter_async_context(
                self._open(cast.one_list(range(_FEW, _MANY)), _FEW)
            )
            results += await self._measured([*few, *more], cast.lists[:1], _RATE, "")
            after = read("VmRSS", self._console.pid)
        return [*results, Result("frame_bytes_per_socket", _MANY, (after - before) / _MANY, "B")]

    @asynccontextmanager
    async def _open(self, apps: list[str], already: int) -> AsyncIterator[list[Socket]]:
        """Open sockets. `already`: number of open sockets, whose accounts have reached their limit."""
        self._report(f"opening {len(apps)} sockets\n")
        started = time.monotonic()
        async with self._following(self._console.accounts[already // PER_ACCOUNT :], apps) as found:
            self._report(f"took {time.monotonic() - started:.1f} s\n")
            await asyncio.sleep(_SETTLING_SECONDS)
            yield found

    @asynccontextmanager
    async def _following(
        self, accounts: Sequence[str], apps: list[str]
    ) -> AsyncIterator[list[Socket]]:
        """Open sockets of several accounts. Raise TimeoutError if that takes too long."""
        sockets: list[Socket] = []
        texts: dict[str, str] = {}
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(_OPENING_SECONDS):
                for number, at in enumerate(range(0, len(apps), PER_ACCOUNT)):
                    some = apps[at : at + PER_ACCOUNT]
                    following = opened(self._console, accounts[number], some, texts)
                    sockets += await stack.enter_async_context(following)
            yield sockets

    async def _measured(
        self, sockets: Sequence[Socket], apps: Sequence[str], rate: float, suffix: str
    ) -> list[Result]:
        n = len(sockets)
        self._report(f"watching with {n} sockets, {len(apps)} lists\n")
        changes = ChangeRate(self._cluster)
        busy, since = time.process_time(), time.monotonic()
        first, self._number = self._number, self._number + int(_SECONDS * rate)
        made = await restart(self._cluster, apps, first=first, rate=rate, seconds=_SECONDS)
        per_second = changes.per_second()
        await asyncio.sleep(_LATE_SECONDS)
        busy, since = time.process_time() - busy, time.monotonic() - since
        found = [lag for socket in sockets for lag in lags(made, socket.arrived())]
        if not found:
            raise OSError("no socket received a change")
        # Each change reaches only the sockets that show its list.
        expected = sum(len(numbers) for numbers in made.values()) * n / len(apps)
        return [
            *percentiles("frame_{}_ms" + suffix, n, found),
            Result("frame_changes_per_second" + suffix, n, per_second, "1/s"),
            Result("frame_share_seen" + suffix, n, len(found) / expected, "x"),
            Result("frame_reader_busy" + suffix, n, busy / since, "x"),
            Result("frame_sockets_lost" + suffix, n, sum(s.lost for s in sockets), ""),
            Result("frame_refreshes" + suffix, n, sum(s.refreshes for s in sockets) / n, ""),
            Result(
                "frame_bytes_per_change" + suffix, n, sum(s.bytes for s in sockets) / expected, "B"
            ),
        ]


def _idle(sockets: Sequence[Socket], seconds: float) -> list[Result]:
    n = len(sockets)
    return [
        Result("frame_idle_seconds", n, seconds, "s"),
        Result("frame_idle_bytes", n, sum(socket.bytes for socket in sockets) / n, "B"),
        Result("frame_idle_pings", n, sum(socket.pings for socket in sockets) / n, ""),
    ]
