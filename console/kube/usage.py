"""What nodes and pods use, as metrics-server last measured it, and the hour before.

Promises:
- One list of each type every `STEP` seconds, whatever the number of viewers, and only while somebody has
  looked within `IDLE`: a large cluster's answer is megabytes. Never in the way of a page: pages read what
  is there.
- A `Reading` never changes. What the server says is not believed to make sense: what is no amount, or
  more than any machine has, is left out.
- Memory is bounded: the last reading, and `KEPT` numbers of 4 bytes for each node and namespace that it
  has. A step that failed is a gap (NaN), not a zero.

https://github.com/kubernetes/metrics/blob/master/pkg/apis/metrics/v1beta1/types.go
"""

import asyncio
import math
from array import array
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

import aiohttp
import msgspec

from console.kube.clock import Clock
from console.kube.errors import ApiError, Forbidden, NotFound
from console.kube.gvr import GVR, NODE_METRICS, POD_METRICS, Key
from console.kube.liststream import ListStream
from console.kube.quantity import parse_quantity

#: Seconds between two readings, how many are kept (an hour), and for how long after the last look.
STEP, KEPT, IDLE = 30.0, 120, 600.0
#: Seconds for the whole of one type's list, and between two of its parts.
TIMEOUT, READ_TIMEOUT = 20.0, 10.0
#: Bytes of an answer, and objects of it, that are looked at.
MOST_BYTES, MOST_OBJECTS = 256 * 1024 * 1024, 500_000
#: The name of all together, which nothing in a cluster has.
TOTAL = ""
#: Cores, bytes: more is no measurement.
_CORES, _BYTES = 1e6, 1e18


class Problem(StrEnum):
    """Why there are no numbers. `WAITING`: nothing has been asked yet."""

    WAITING = "waiting"
    ABSENT = "absent"
    FORBIDDEN = "forbidden"
    UNAVAILABLE = "unavailable"
    UNREADABLE = "unreadable"


class Used(NamedTuple):
    """Cores, bytes."""

    cpu: float = 0.0
    memory: float = 0.0

    def plus(self, other: "Used") -> "Used":
        return Used(self.cpu + other.cpu, self.memory + other.memory)


@dataclass(frozen=True, slots=True)
class Reading:
    """`at`: when one last brought anything. `problem` says why there are no pods and `node_problem` why
    there are no nodes, None where there are. `TOTAL` is a node and a namespace here: all of them.
    """

    at: datetime | None = None
    nodes: Mapping[str, Used] = field(default_factory=dict)
    pods: Mapping[Key, Used] = field(default_factory=dict)
    namespaces: Mapping[str, Used] = field(default_factory=dict)
    problem: Problem | None = Problem.WAITING
    node_problem: Problem | None = Problem.WAITING


class History(NamedTuple):
    """The oldest first, one number for each step, NaN for none."""

    cpu: Sequence[float] = ()
    memory: Sequence[float] = ()


Add = Callable[[msgspec.Raw], None]


class Lister(Protocol):
    """`console.kube.client.ReaderClient`."""

    def stream(
        self, gvr: GVR, namespace: str, params: Sequence[tuple[str, str]], *, read_timeout: float
    ) -> AbstractAsyncContextManager[aiohttp.StreamReader]: ...


class _Amounts(msgspec.Struct, gc=False):
    cpu: str | int | float = "0"
    memory: str | int | float = "0"


class _Meta(msgspec.Struct, gc=False):
    name: str
    namespace: str = ""


class _Container(msgspec.Struct, gc=False):
    usage: _Amounts


class _NodeMetrics(msgspec.Struct, gc=False):
    metadata: _Meta
    usage: _Amounts


class _PodMetrics(msgspec.Struct, gc=False):
    metadata: _Meta
    containers: tuple[_Container, ...] | None = None


_node = msgspec.json.Decoder(_NodeMetrics)
_pod = msgspec.json.Decoder(_PodMetrics)


class Usage:
    """`namespaces`: where pods are listed, "" for everywhere. `whole`: nodes may be listed, too."""

    def __init__(
        self,
        lister: Lister,
        clock: Clock,
        *,
        namespaces: Sequence[str] = ("",),
        whole: bool = True,
    ) -> None:
        self._lister = lister
        self._clock = clock
        self._namespaces = namespaces
        self._whole = whole
        self._looked = -math.inf
        self._reading = Reading()
        self._nodes: Mapping[str, History] = {}
        self._spaces: Mapping[str, History] = {}

    # Any thread.

    def read(self) -> Reading:
        """The last one. From now on more are taken for a while."""
        self._looked = self._clock.monotonic()
        return self._reading

    def of_node(self, name: str = TOTAL) -> History:
        return self._nodes.get(name, History())

    def of_namespaces(self, names: Collection[str] | None) -> History:
        """Together; None for all of them."""
        if names is None:
            return self._spaces.get(TOTAL, History())
        spaces = self._spaces
        found = [spaces[name] for name in names if name in spaces and name != TOTAL]
        return History(_added_up([h.cpu for h in found]), _added_up([h.memory for h in found]))

    # The core's thread.

    async def run(self) -> None:
        """Until cancelled. Somebody's first look is answered within a second."""
        while True:
            if self._clock.monotonic() - self._looked <= IDLE:
                await self.take()
                await self._clock.sleep(STEP)
            else:
                await self._clock.sleep(1.0)

    async def take(self) -> None:
        """One reading now. Raises nothing."""
        old = self._reading
        nodes, node_problem = await self._nodes_now()
        pods, problem = await self._pods_now()
        spaces = _by_namespace(pods)
        self._nodes = _longer(self._nodes, nodes, failed=node_problem is not None)
        self._spaces = _longer(self._spaces, spaces, failed=problem is not None)
        worked = problem is None or node_problem is None
        self._reading = Reading(
            at=self._clock.now() if worked else old.at,
            nodes=nodes if node_problem is None else {},
            pods=pods if problem is None else {},
            namespaces=spaces if problem is None else {},
            problem=problem,
            node_problem=node_problem,
        )

    async def _nodes_now(self) -> tuple[dict[str, Used], Problem | None]:
        if not self._whole:
            return {}, Problem.FORBIDDEN
        found: dict[str, Used] = {}

        def add(raw: msgspec.Raw) -> None:
            item = _node.decode(raw)
            used = _used(item.usage)
            if used is not None:
                found[item.metadata.name] = used

        problem = await self._listed(NODE_METRICS, "", add)
        return _with_total(found), problem

    async def _pods_now(self) -> tuple[dict[Key, Used], Problem | None]:
        found: dict[Key, Used] = {}

        def add(raw: msgspec.Raw) -> None:
            item = _pod.decode(raw)
            total = Used()
            for container in item.containers or ():
                total = total.plus(_used(container.usage) or Used())
            found[Key(item.metadata.namespace, item.metadata.name)] = total

        for namespace in self._namespaces:
            problem = await self._listed(POD_METRICS, namespace, add)
            if problem is not None:
                return {}, problem
        return found, None

    async def _listed(self, gvr: GVR, namespace: str, add: Add) -> Problem | None:
        """None if all of it could be read; single objects that cannot are left out."""
        seen = good = 0
        try:
            async with (
                asyncio.timeout(TIMEOUT),
                self._lister.stream(gvr, namespace, [], read_timeout=READ_TIMEOUT) as content,
            ):
                async for raws in ListStream(_bounded(content)):
                    for raw in raws:
                        seen += 1
                        if seen > MOST_OBJECTS:
                            return Problem.UNREADABLE
                        good += _added(add, raw)
                    # Thousands at once would keep the core from everything else.
                    await asyncio.sleep(0)
        except NotFound:
            return Problem.ABSENT
        except Forbidden:
            return Problem.FORBIDDEN
        except (ApiError, TimeoutError):
            return Problem.UNAVAILABLE
        except (msgspec.DecodeError, UnicodeError, RecursionError, _TooMuch):
            return Problem.UNREADABLE
        return Problem.UNREADABLE if seen and not good else None


class _TooMuch(Exception):
    """More bytes than anybody's answer has."""


async def _bounded(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    total = 0
    async for chunk in content.iter_any():
        total += len(chunk)
        if total > MOST_BYTES:
            raise _TooMuch
        yield chunk


def _added(add: Add, raw: msgspec.Raw) -> bool:
    try:
        add(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def _used(amounts: _Amounts) -> Used | None:
    cpu, memory = parse_quantity(str(amounts.cpu)), parse_quantity(str(amounts.memory))
    if cpu is None or memory is None:
        return None
    if not (0 <= cpu <= _CORES and 0 <= memory <= _BYTES):
        return None
    return Used(float(cpu), float(memory))


def _by_namespace(pods: Mapping[Key, Used]) -> dict[str, Used]:
    found: dict[str, Used] = {}
    for key, used in pods.items():
        found[key.namespace] = found.get(key.namespace, Used()).plus(used)
    return _with_total(found)


def _with_total(found: dict[str, Used]) -> dict[str, Used]:
    total = Used()
    for used in found.values():
        total = total.plus(used)
    return {**found, TOTAL: total}


def _longer(
    series: Mapping[str, History], now: Mapping[str, Used], *, failed: bool
) -> dict[str, History]:
    """With one step more. What is not there any more is forgotten, unless nothing could be read."""
    step = dict.fromkeys(series, Used(math.nan, math.nan)) if failed else now
    return {name: _and(series.get(name, History()), used) for name, used in step.items()}


def _and(history: History, used: Used) -> History:
    return History(
        array("f", (*history.cpu[1 - KEPT :], used.cpu)),
        array("f", (*history.memory[1 - KEPT :], used.memory)),
    )


def _added_up(several: Sequence[Sequence[float]]) -> Sequence[float]:
    """Step by step, the last ones together; a step is known if it is of any."""
    size = max(map(len, several), default=0)
    sums = [math.nan] * size
    for values in several:
        for at, value in enumerate(values, start=size - len(values)):
            if not math.isnan(value):
                sums[at] = value if math.isnan(sums[at]) else sums[at] + value
    return sums
