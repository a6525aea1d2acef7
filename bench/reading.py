"""A reader of pages who takes their time: some pages a second, one after the other."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

import aiohttp

from bench.result import Result, percentile
from bench.timing import HEADER
from bench.webconsole import WebConsole

#: Pages a second. Back to back, a reader would wait for the processor that it takes from the console.
PACE = 20.0

#: What a list has that shows something. Its total comes first, and not with a zero.
ROWS, _NO_ROWS = 'data-total="', 'data-total="0"'
_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Page:
    """`server`: milliseconds within the console's process; `client`: from sending the request until
    all of the answer is read. `began` and `ended` are the server's, `time.monotonic()`."""

    server: float
    client: float
    began: float
    ended: float


@dataclass(slots=True)
class Reader:
    """One signed-in account on one connection. `shows`: what every page has in it, `never`: what none."""

    console: WebConsole
    session: aiohttp.ClientSession
    shows: str = ROWS
    never: str = _NO_ROWS
    _client: dict[str, float] = field(default_factory=dict)

    async def read(self, url: str, pages: int) -> list[Page]:
        """Raises OSError where a page is not what it should be."""
        return await self.read_each([url] * pages)

    async def read_each(self, urls: Sequence[str]) -> list[Page]:
        """As `read`, one page of each address."""
        names = [str(next(_numbers)) for _ in urls]
        started = time.monotonic()
        for number, (name, url) in enumerate(zip(names, urls, strict=True)):
            await asyncio.sleep(started + number / PACE - time.monotonic())
            await self._read(url, name)
        return self._found(names)

    async def until(self, url: str, done: asyncio.Event) -> list[Page]:
        """As `read`, for as long as it takes."""
        names: list[str] = []
        started = time.monotonic()
        while not done.is_set():
            await asyncio.sleep(started + len(names) / PACE - time.monotonic())
            names.append(str(next(_numbers)))
            await self._read(url, names[-1])
        return self._found(names)

    async def _read(self, url: str, name: str) -> None:
        started = time.perf_counter()
        async with self.session.get(url, headers={HEADER: name}) as response:
            body = (await response.read()).decode()
        self._client[name] = (time.perf_counter() - started) * 1000
        if response.status != 200 or self.shows not in body or self.never in body:
            raise OSError(f"{url} answered {response.status} and does not show what it should")

    def _found(self, names: Sequence[str]) -> list[Page]:
        noted = {timing.id: timing for timing in self.console.timings()}
        return [
            Page(
                server=noted[name].seconds * 1000,
                client=self._client[name],
                began=noted[name].ended - noted[name].seconds,
                ended=noted[name].ended,
            )
            for name in names
        ]


def percentiles(name: str, n: int, milliseconds: Sequence[float]) -> list[Result]:
    """`name` has a place for the percentile: `page_{}_ms`."""
    return [
        Result(name.format(label), n, percentile(milliseconds, share), "ms")
        for label, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
    ]
