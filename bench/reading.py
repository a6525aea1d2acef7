"""HTTP client that requests pages sequentially at a fixed rate."""

import asyncio
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import count

import aiohttp

from bench.result import Result, percentile
from bench.timing import HEADER
from bench.webconsole import WebConsole

#: Pages per second. Back-to-back requests would take CPU time from the console.
PACE = 20.0

#: Text of a page if a part of it failed.
MISTAKE = "The console made a mistake"
#: Text of a list with rows. The total comes first, and isn't zero.
ROWS, _NO_ROWS = 'data-total="', 'data-total="0"'
_HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)">')
_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Page:
    """Timing of a page. `server`: milliseconds in the console's process. `client`: milliseconds
    from sending the request until the response is read completely. `began`, `ended`: server
    times (`time.monotonic()`).
    """

    server: float
    client: float
    began: float
    ended: float


@dataclass(slots=True)
class Reader:
    """A signed-in user on one connection. `shows`: text that each page must contain. `never`: text
    that no page may contain. `status`: status of each response.
    """

    console: WebConsole
    session: aiohttp.ClientSession
    shows: str = ROWS
    never: str = _NO_ROWS
    status: int = 200
    _client: dict[str, float] = field(default_factory=dict)

    async def read(self, url: str, pages: int) -> list[Page]:
        """Request a URL repeatedly. Raise OSError if a page isn't as expected."""
        return await self.read_each([url] * pages)

    async def read_each(self, urls: Sequence[str]) -> list[Page]:
        """Like `read`, with one page of each URL."""
        names = [str(next(_numbers)) for _ in urls]
        started = time.monotonic()
        for number, (name, url) in enumerate(zip(names, urls, strict=True)):
            await asyncio.sleep(started + number / PACE - time.monotonic())
            await self._read(url, name)
        return self._found(names)

    async def until(self, url: str, done: asyncio.Event) -> list[Page]:
        """Like `read`, until `done` is set."""
        names: list[str] = []
        started = time.monotonic()
        while not done.is_set():
            await asyncio.sleep(started + len(names) / PACE - time.monotonic())
            names.append(str(next(_numbers)))
            await self._read(url, names[-1])
        return self._found(names)

    async def one(self, url: str, form: Mapping[str, str] | None = None) -> tuple[Page, str]:
        """Request one page immediately, or submit `form`. Return the timing and the text."""
        name = str(next(_numbers))
        body = await self._read(url, name, form)
        return self._found([name])[0], body

    async def _read(self, url: str, name: str, form: Mapping[str, str] | None = None) -> str:
        data = aiohttp.FormData(form, default_to_multipart=True) if form is not None else None
        method = "GET" if data is None else "POST"
        started = time.perf_counter()
        async with self.session.request(method, url, data=data, headers={HEADER: name}) as response:
            body = (await response.read()).decode()
        self._client[name] = (time.perf_counter() - started) * 1000
        if response.status != self.status or self.shows not in body or self.never in body:
            raise OSError(f"unexpected response of {url}: {response.status} {_said(body)}")
        return body

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


def _said(body: str) -> str:
    """Return the first words of the page's main content."""
    words = re.sub(r"<[^>]*>", " ", body.partition("<main")[2]).split()
    return " ".join(words)[:300]


def hidden(text: str) -> dict[str, str]:
    """Return the hidden fields of a page's forms."""
    return {name: unescape(value) for name, value in _HIDDEN.findall(text)}


def percentiles(name: str, n: int, milliseconds: Sequence[float]) -> list[Result]:
    """Return the p50, p95 and p99 as results. `name` contains a placeholder: `page_{}_ms`."""
    return [
        Result(name.format(label), n, percentile(milliseconds, share), "ms")
        for label, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
    ]
