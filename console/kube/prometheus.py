"""Usage history beyond the last hour, from an optional Prometheus that scrapes kubelets.

A response takes at most `TIMEOUT` seconds and `MOST_BYTES`, and each query is sent at most once
in `FRESH` seconds. Redirects are not followed. Responses are only used as lists of numbers, so a
faulty or malicious server can only corrupt a plot.
https://prometheus.io/docs/prometheus/latest/querying/api/#range-queries
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass

import aiohttp
import msgspec

from console.kube.clock import Clock, SystemClock
from console.kube.metrics_server import UsageProblem
from console.kube.names import is_dns_label
from console.kube.usage_history import KEPT, UsageHistory

#: Seconds, bytes, seconds, and the number of cached responses.
TIMEOUT, MOST_BYTES, FRESH, KEPT_ANSWERS = 3.0, 1024 * 1024, 30.0, 200

_CPU = "sum(rate(container_cpu_usage_seconds_total{{{where}}}[5m]))"
_MEMORY = "sum(container_memory_working_set_bytes{{{where}}})"


@dataclass(frozen=True, slots=True)
class HistoryResult:
    """A usage history. `problem` is None on success, even if the history is empty."""

    history: UsageHistory = UsageHistory()
    problem: UsageProblem | None = None


class _Series(msgspec.Struct):
    values: list[tuple[float, str]]


class _Data(msgspec.Struct):
    result: list[_Series]


class _Response(msgspec.Struct):
    data: _Data


_decoder = msgspec.json.Decoder(_Response)


class Prometheus:
    """A client for one Prometheus. `url` is its address, or a function that returns it. Use the
    client on one event loop.
    """

    def __init__(self, url: str | Callable[[], str], clock: Clock | None = None) -> None:
        self._configured = url
        self._clock = clock or SystemClock()
        self._known: OrderedDict[tuple[str, str, int], tuple[float, HistoryResult]] = OrderedDict()

    @property
    def url(self) -> str:
        """The address of the server, which may change, or "" if none is configured."""
        return self._configured if isinstance(self._configured, str) else self._configured()

    async def usage_history(
        self, namespaces: Collection[str] | None, *, seconds: int
    ) -> HistoryResult:
        """Return CPU and memory of the pods in `namespaces` (None for all) in `KEPT` steps until
        now.
        """
        where = _where(namespaces)
        if where is None:
            return HistoryResult()
        now, key = self._clock.monotonic(), (self.url, where, seconds)
        known = self._known.get(key)
        if known is not None and now - known[0] < FRESH:
            return known[1]
        found = await self._asked(where, seconds)
        self._known[key] = now, found
        self._known.move_to_end(key)
        while len(self._known) > KEPT_ANSWERS:
            self._known.popitem(last=False)
        return found

    async def _asked(self, where: str, seconds: int) -> HistoryResult:
        timeout = aiohttp.ClientTimeout(total=TIMEOUT)
        try:
            async with aiohttp.ClientSession(timeout=timeout, trust_env=False) as session:
                cpu = await self._range(session, _CPU.format(where=where), seconds)
                memory = await self._range(session, _MEMORY.format(where=where), seconds)
        except (aiohttp.ClientError, TimeoutError, OSError):
            return HistoryResult(problem=UsageProblem.UNAVAILABLE)
        except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError):
            return HistoryResult(problem=UsageProblem.UNREADABLE)
        return HistoryResult(UsageHistory(cpu, memory))

    async def _range(
        self, session: aiohttp.ClientSession, query: str, seconds: int
    ) -> tuple[float, ...]:
        end = int(self._clock.now().timestamp())
        step = seconds // KEPT
        start = end - step * (KEPT - 1)
        params = {"query": query, "start": str(start), "end": str(end), "step": str(step)}
        url = f"{self.url.rstrip('/')}/api/v1/query_range"
        async with session.get(url, params=params, allow_redirects=False) as response:
            response.raise_for_status()
            body = await response.content.read(MOST_BYTES + 1)
            while len(body) <= MOST_BYTES and (more := await response.content.read(MOST_BYTES)):
                body += more
        if len(body) > MOST_BYTES:
            raise ValueError("the response is too long")
        return _numbers(_decoder.decode(body).data.result, start, step)


def _numbers(result: list[_Series], start: int, step: int) -> tuple[float, ...]:
    """Return one value for each step, NaN if missing.

    A sum has one series. If a server returns several, the first one is used.
    """
    found = [math.nan] * KEPT
    for moment, text in result[0].values if result else ():
        value = float(text)
        at = (moment - start) / step
        if 0 <= at < KEPT and 0 <= value < math.inf:
            found[int(at)] = value
    return tuple(found)


def _where(namespaces: Collection[str] | None) -> str | None:
    """Return the label matchers, or None if no namespace name is valid."""
    pods = 'container!=""'
    if namespaces is None:
        return pods
    names = sorted(name for name in namespaces if is_dns_label(name))
    # In DNS labels only "-" could be special in a regular expression, and only within brackets.
    return f'{pods},namespace=~"{"|".join(names)}"' if names else None
