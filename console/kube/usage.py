"""Resource usage of nodes and pods: metrics-server's latest values and those of the last hour.

- Each type is listed once every `STEP` seconds regardless of the number of users, and only
  within `IDLE` seconds after the last `read`, because a large cluster's response is megabytes.
  Pages never wait for it.
- A `UsageSample` never changes. Add a listener to be notified of the next one.
- Memory is bounded: the last reading, and `KEPT` 4-byte numbers per node, namespace and container
  (see `console.kube.usage_history`). A failed step is recorded as NaN, not 0, and so are the steps of
  a pause.
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
from functools import reduce
from threading import Lock

from console.kube.clock import Clock
from console.kube.gvr import Key
from console.kube.metrics_server import Lister, ResourceUsage, UsageProblem, node_usage, pod_usage
from console.kube.usage_history import KEPT, ContainerHistory, UsageHistory

log = logging.getLogger(__name__)

#: Seconds between two readings, and seconds to continue after the last use.
STEP, IDLE = 30.0, 600.0
#: Seconds after which a reading is outdated because there was no use meanwhile.
OLD = 3 * STEP
#: The name of the total. No node or namespace has an empty name.
TOTAL = ""


@dataclass(frozen=True, slots=True)
class UsageSample:
    """Usage at one moment.

    `at` is the time of the last successful reading. `problem` and `node_problem` are the reasons
    why pods and nodes are missing, or None. `TOTAL` is the key of the sum of all nodes and of
    all namespaces.
    """

    at: datetime | None = None
    nodes: Mapping[str, ResourceUsage] = field(default_factory=dict)
    pods: Mapping[Key, ResourceUsage] = field(default_factory=dict)
    namespaces: Mapping[str, ResourceUsage] = field(default_factory=dict)
    problem: UsageProblem | None = UsageProblem.WAITING
    node_problem: UsageProblem | None = UsageProblem.WAITING


class UsageReader:
    """Read usage periodically.

    `namespaces` are the namespaces whose pods are listed, "" for all. `whole` is True if nodes
    may be listed. `containers` is the history of each container.
    """

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
        self._reading = UsageSample()
        self._nodes: Mapping[str, UsageHistory] = {}
        self._spaces: Mapping[str, UsageHistory] = {}
        self.containers = ContainerHistory()

    # Any thread.

    def read(self) -> UsageSample:
        """Return the last reading, and continue to take readings for `IDLE` seconds."""
        self._looked = self._clock.monotonic()
        return self._reading

    def of_node(self, name: str = TOTAL) -> UsageHistory:
        return self._nodes.get(name, UsageHistory())

    def of_namespaces(self, names: Collection[str] | None) -> UsageHistory:
        """Return the total of these namespaces, or of all namespaces for None."""
        if names is None:
            return self._spaces.get(TOTAL, UsageHistory())
        spaces = self._spaces
        found = [spaces[name] for name in names if name in spaces and name != TOTAL]
        return UsageHistory(_added_up([h.cpu for h in found]), _added_up([h.memory for h in found]))

    def add_listener(
        self, on_change: Callable[[Key], None], on_state: Callable[[], None]
    ) -> Callable[[], None]:
        """Call `on_state()` after each reading, on the core thread. It must return quickly.

        `on_change` is accepted for compatibility with informers and never called. Return a
        function that removes the listener. It may be called more than once.
        """
        name = object()
        with self._lock:
            self._listeners = {**self._listeners, name: on_state}

        def remove() -> None:
            with self._lock:
                self._listeners = {k: one for k, one in self._listeners.items() if k is not name}

        return remove

    async def wait(self, *, timeout: float, fresh: bool) -> None:  # noqa: ASYNC109
        """Wait at most `timeout` seconds for a reading. Return immediately if no readings are
        taken.

        With `fresh`, a reading older than `OLD` seconds does not count.
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

    # Core thread only.

    async def run(self) -> None:
        """Take readings until cancelled. The first use after a pause causes a reading within a
        second.
        """
        self._running = True
        while True:
            if self._clock.monotonic() - self._looked <= IDLE:
                await self.take()
                await self._clock.sleep(STEP)
            else:
                await self._clock.sleep(1.0)

    async def take(self) -> None:
        """Take one reading now. Never raises."""
        old = self._reading
        nodes, node_problem = await self._nodes_now()
        found, problem = await pod_usage(self._lister, self._namespaces)
        pods, missed = found.pods, self._missed()
        spaces = _by_namespace(pods)
        self._nodes = _longer(self._nodes, nodes, missed, failed=node_problem is not None)
        self._spaces = _longer(self._spaces, spaces, missed, failed=problem is not None)
        self.containers.append_gap(missed + (problem is not None))
        if problem is None:
            self.containers.append(found.containers)
        worked = problem is None or node_problem is None
        self._reading = UsageSample(
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

    def _missed(self) -> int:
        """Return the number of steps without a reading since the last reading, at most `KEPT`."""
        steps = (self._clock.monotonic() - self._taken) / STEP
        return 0 if math.isinf(steps) else max(0, min(KEPT, round(steps) - 1))

    async def _nodes_now(self) -> tuple[dict[str, ResourceUsage], UsageProblem | None]:
        if not self._whole:
            return {}, UsageProblem.FORBIDDEN
        found, problem = await node_usage(self._lister)
        return _with_total(found), problem


def _by_namespace(pods: Mapping[Key, ResourceUsage]) -> dict[str, ResourceUsage]:
    found: dict[str, ResourceUsage] = {}
    for key, used in pods.items():
        found[key.namespace] = found.get(key.namespace, ResourceUsage()).plus(used)
    return _with_total(found)


def _with_total(found: dict[str, ResourceUsage]) -> dict[str, ResourceUsage]:
    return {**found, TOTAL: reduce(ResourceUsage.plus, found.values(), ResourceUsage())}


def _longer(
    series: Mapping[str, UsageHistory],
    now: Mapping[str, ResourceUsage],
    missed: int,
    *,
    failed: bool,
) -> dict[str, UsageHistory]:
    """Append `missed` steps without values, and one step. Names that disappeared are dropped, unless
    the reading failed.
    """
    step = dict.fromkeys(series, ResourceUsage(math.nan, math.nan)) if failed else now
    gap = [math.nan] * missed
    return {
        name: UsageHistory(_and(old.cpu, gap, used.cpu), _and(old.memory, gap, used.memory))
        for name, used in step.items()
        for old in (series.get(name, UsageHistory()),)
    }


def _and(values: Sequence[float], gap: Sequence[float], value: float) -> Sequence[float]:
    if not values:
        return array("f", (value,))
    return array("f", (*values, *gap, value)[-KEPT:])


def _added_up(several: Sequence[Sequence[float]]) -> Sequence[float]:
    """Add series step by step, aligned at the end. A step is NaN only if it is missing in all
    series.
    """
    size = max(map(len, several), default=0)
    sums = [math.nan] * size
    for values in several:
        for at, value in enumerate(values, start=size - len(values)):
            if not math.isnan(value):
                sums[at] = value if math.isnan(sums[at]) else sums[at] + value
    return sums
