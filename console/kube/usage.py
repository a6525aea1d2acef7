"""What nodes and pods use, as metrics-server last measured it, and the hour before.

Promises:
- One list of each type every `STEP` seconds, whatever the number of viewers, and only while somebody has
  looked within `IDLE`: a large cluster's answer is megabytes. Never in the way of a page: pages read what
  is there.
- A `Reading` never changes. Whoever wants to know of the next one listens.
- Memory is bounded: the last reading, and `KEPT` numbers of 4 bytes for each node and namespace that it
  has. A step that failed is a gap (NaN), not a zero.
"""

import asyncio
import logging
import math
import sys
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import NamedTuple

from console.kube.clock import Clock
from console.kube.gvr import Key
from console.kube.metricslist import Lister, Problem, Used, nodes_used, pods_used

log = logging.getLogger(__name__)

#: Seconds between two readings, how many are kept (an hour), and for how long after the last look.
STEP, KEPT, IDLE = 30.0, 120, 600.0
#: Seconds after which the last reading is one of the past, since nobody has looked meanwhile.
OLD = 3 * STEP
#: The name of all together, which nothing in a cluster has.
TOTAL = ""


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


class UsageHistory(NamedTuple):
    """The oldest first, one number for each step, NaN for none."""

    cpu: Sequence[float] = ()
    memory: Sequence[float] = ()


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
        self._looked = self._taken = -math.inf
        self._running = False
        self._lock = Lock()
        self._listeners: Mapping[object, Callable[[], None]] = {}
        self._reading = Reading()
        self._nodes: Mapping[str, UsageHistory] = {}
        self._spaces: Mapping[str, UsageHistory] = {}

    # Any thread.

    def read(self) -> Reading:
        """The last one. From now on more are taken for a while."""
        self._looked = self._clock.monotonic()
        return self._reading

    def of_node(self, name: str = TOTAL) -> UsageHistory:
        return self._nodes.get(name, UsageHistory())

    def of_namespaces(self, names: Collection[str] | None) -> UsageHistory:
        """Together; None for all of them."""
        if names is None:
            return self._spaces.get(TOTAL, UsageHistory())
        spaces = self._spaces
        found = [spaces[name] for name in names if name in spaces and name != TOTAL]
        return UsageHistory(_added_up([h.cpu for h in found]), _added_up([h.memory for h in found]))

    def add_listener(
        self, on_change: Callable[[Key], None], on_state: Callable[[], None]
    ) -> Callable[[], None]:
        """Calls `on_state()` after each reading, on the core's thread, as an informer does of which no
        single key changes. It must only mark and return.

        Returns a function that removes the listener; calling it twice is harmless.
        """
        name = object()
        with self._lock:
            self._listeners = {**self._listeners, name: on_state}

        def remove() -> None:
            with self._lock:
                self._listeners = {k: one for k, one in self._listeners.items() if k is not name}

        return remove

    async def wait(self, *, timeout: float, fresh: bool) -> None:  # noqa: ASYNC109
        """Until there is a reading, so long at most; not at all if none are taken.

        `fresh`: one that is `OLD` will not do.
        """
        self.read()
        enough = OLD if fresh else sys.float_info.max
        if not self._running or self._clock.monotonic() - self._taken <= enough:
            return
        loop, taken = asyncio.get_running_loop(), asyncio.Event()

        def signal() -> None:
            loop.call_soon_threadsafe(taken.set)

        remove = self.add_listener(lambda _key: None, signal)
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(taken.wait(), timeout)
        finally:
            remove()

    # The core's thread.

    async def run(self) -> None:
        """Until cancelled. Somebody's first look is answered within a second."""
        self._running = True
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
        pods, problem = await pods_used(self._lister, self._namespaces)
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
        self._taken = self._clock.monotonic()
        for tell in self._listeners.values():
            try:
                tell()
            except Exception:
                log.exception("A listener of usage failed")

    async def _nodes_now(self) -> tuple[dict[str, Used], Problem | None]:
        if not self._whole:
            return {}, Problem.FORBIDDEN
        found, problem = await nodes_used(self._lister)
        return _with_total(found), problem


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
    series: Mapping[str, UsageHistory], now: Mapping[str, Used], *, failed: bool
) -> dict[str, UsageHistory]:
    """With one step more. What is not there any more is forgotten, unless nothing could be read."""
    step = dict.fromkeys(series, Used(math.nan, math.nan)) if failed else now
    return {name: _and(series.get(name, UsageHistory()), used) for name, used in step.items()}


def _and(history: UsageHistory, used: Used) -> UsageHistory:
    return UsageHistory(
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
