"""What was used before the last hour, asked of a Prometheus that scrapes kubelets. Optional.

Promises: an answer within `TIMEOUT` or a problem, `MOST_BYTES` of it at most, each question once in
`FRESH` seconds. Redirects are not followed. Whatever it says is only ever a list of numbers, so that a
wrong or hostile one can spoil a plot and nothing else.

https://prometheus.io/docs/prometheus/latest/querying/api/#range-queries
"""

import math
import re
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass

import aiohttp
import msgspec

from console.kube.clock import Clock, SystemClock
from console.kube.metricslist import Problem
from console.kube.usage import KEPT, UsageHistory

#: Seconds; bytes; seconds; answers that are kept.
TIMEOUT, MOST_BYTES, FRESH, KEPT_ANSWERS = 3.0, 1024 * 1024, 30.0, 200

#: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-label-names
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_CPU = "sum(rate(container_cpu_usage_seconds_total{{{where}}}[5m]))"
_MEMORY = "sum(container_memory_working_set_bytes{{{where}}})"


@dataclass(frozen=True, slots=True)
class Past:
    """`problem` is None where there is a history, be it an empty one."""

    history: UsageHistory = UsageHistory()
    problem: Problem | None = None


class _Series(msgspec.Struct):
    values: list[tuple[float, str]]


class _Data(msgspec.Struct):
    result: list[_Series]


class _Response(msgspec.Struct):
    data: _Data


_decoder = msgspec.json.Decoder(_Response)


class Prometheus:
    """Use on one loop."""

    def __init__(self, url: str, clock: Clock | None = None) -> None:
        self._url = f"{url.rstrip('/')}/api/v1/query_range"
        self._clock = clock or SystemClock()
        self._known: OrderedDict[tuple[str, int], tuple[float, Past]] = OrderedDict()

    async def past(self, namespaces: Collection[str] | None, *, seconds: int) -> Past:
        """CPU and memory of the pods of these namespaces, None for all, in `KEPT` steps until now."""
        where = _where(namespaces)
        if where is None:
            return Past()
        now, key = self._clock.monotonic(), (where, seconds)
        known = self._known.get(key)
        if known is not None and now - known[0] < FRESH:
            return known[1]
        found = await self._asked(where, seconds)
        self._known[key] = now, found
        self._known.move_to_end(key)
        while len(self._known) > KEPT_ANSWERS:
            self._known.popitem(last=False)
        return found

    async def _asked(self, where: str, seconds: int) -> Past:
        timeout = aiohttp.ClientTimeout(total=TIMEOUT)
        try:
            async with aiohttp.ClientSession(timeout=timeout, trust_env=False) as session:
                cpu = await self._range(session, _CPU.format(where=where), seconds)
                memory = await self._range(session, _MEMORY.format(where=where), seconds)
        except (aiohttp.ClientError, TimeoutError, OSError):
            return Past(problem=Problem.UNAVAILABLE)
        except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError):
            return Past(problem=Problem.UNREADABLE)
        return Past(UsageHistory(cpu, memory))

    async def _range(
        self, session: aiohttp.ClientSession, query: str, seconds: int
    ) -> tuple[float, ...]:
        end = int(self._clock.now().timestamp())
        step = seconds // KEPT
        start = end - step * (KEPT - 1)
        params = {"query": query, "start": str(start), "end": str(end), "step": str(step)}
        async with session.get(self._url, params=params, allow_redirects=False) as response:
            response.raise_for_status()
            body = await response.content.read(MOST_BYTES + 1)
            while len(body) <= MOST_BYTES and (more := await response.content.read(MOST_BYTES)):
                body += more
        if len(body) > MOST_BYTES:
            raise ValueError("more than a plot can need")
        return _numbers(_decoder.decode(body).data.result, start, step)


def _numbers(result: list[_Series], start: int, step: int) -> tuple[float, ...]:
    """One for each step, NaN for none. A sum has one series; of others the first counts."""
    found = [math.nan] * KEPT
    for moment, text in result[0].values if result else ():
        value = float(text)
        at = (moment - start) / step
        if 0 <= at < KEPT and 0 <= value < math.inf:
            found[int(at)] = value
    return tuple(found)


def _where(namespaces: Collection[str] | None) -> str | None:
    """None for no namespace that there can be."""
    pods = 'container!=""'
    if namespaces is None:
        return pods
    names = sorted(name for name in namespaces if _LABEL.fullmatch(name))
    # In such names nothing is special to a regular expression but "-", and that only in brackets.
    return f'{pods},namespace=~"{"|".join(names)}"' if names else None
