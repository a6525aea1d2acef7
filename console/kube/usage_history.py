"""Usage of the last hour: of one object, and of all containers in columns."""

import math
from array import array
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from threading import Lock
from typing import NamedTuple

from console.kube.metrics_server import ContainerKey, ResourceUsage

#: Number of readings kept: an hour.
KEPT = 120
#: Maximum containers with a history. Each takes about 1 KB.
MOST = 30_000
#: Readings without a container after which its history is dropped: longer than the delay between
#: two starts in a crash loop.
PATIENCE = 20


class UsageHistory(NamedTuple):
    """Values per step, oldest first, NaN for missing values."""

    cpu: Sequence[float] = ()
    memory: Sequence[float] = ()


class ContainerHistory:
    """The last `KEPT` readings of each container.

    A reading is a column with one value for each container, which takes a fraction of the memory of
    objects for each container. A column shorter than a container's index has no value for it. Any
    thread may call the methods.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._lock = Lock()
        # Guarded by the lock: the index of each container in the columns, the number of the last
        # reading with this container, and indexes that can be reused.
        self._indexes: dict[ContainerKey, int] = {}
        self._seen: dict[ContainerKey, int] = {}
        self._free: list[int] = []
        self._columns: deque[tuple[array[float], array[float]]] = deque(maxlen=KEPT)
        self._readings = 0

    def append(self, found: Mapping[ContainerKey, ResourceUsage]) -> None:
        """Append a reading."""
        with self._lock:
            self._readings += 1
            self._seen.update(dict.fromkeys(found, self._readings))
            self._release()
            self._assign(found)
            size = len(self._indexes) + len(self._free)
            cpu, memory = array("f", [math.nan]) * size, array("f", [math.nan]) * size
            for key, used in found.items():
                index = self._indexes.get(key)
                if index is not None:
                    cpu[index], memory[index] = used
            self._columns.append((cpu, memory))

    def append_gap(self, readings: int) -> None:
        """Append readings without values."""
        with self._lock:
            for _ in range(min(readings, KEPT)):
                self._columns.append((array("f"), array("f")))

    def now(self, key: ContainerKey) -> ResourceUsage | None:
        """Return the values of the last reading, or None if it has none."""
        with self._lock:
            index = self._indexes.get(key)
            if index is None or not self._columns:
                return None
            cpu, memory = self._columns[-1]
            if index >= len(cpu) or math.isnan(cpu[index]):
                return None
            return ResourceUsage(cpu[index], memory[index])

    def total(self, keys: Collection[ContainerKey]) -> UsageHistory:
        """Return the sum of several containers, from the first reading with one of them."""
        with self._lock:
            indexes = [index for key in keys if (index := self._indexes.get(key)) is not None]
            cpu = [_sum(column, indexes) for column, _memory in self._columns]
            memory = [_sum(column, indexes) for _cpu, column in self._columns]
        first = next((n for n, value in enumerate(cpu) if not math.isnan(value)), len(cpu))
        return UsageHistory(cpu[first:], memory[first:])

    def _release(self) -> None:
        """Drop containers that were missing in the last readings."""
        oldest = self._readings - PATIENCE
        for key in [key for key, seen in self._seen.items() if seen < oldest]:
            del self._seen[key]
            index = self._indexes.pop(key, None)
            if index is not None:
                self._free.append(index)
                # The next container with this index must not get the values.
                for cpu, memory in self._columns:
                    if index < len(cpu):
                        cpu[index] = memory[index] = math.nan

    def _assign(self, found: Collection[ContainerKey]) -> None:
        for key in found:
            if key in self._indexes:
                continue
            if self._free:
                self._indexes[key] = self._free.pop()
            elif len(self._indexes) < self._most:
                self._indexes[key] = len(self._indexes)


def _sum(column: Sequence[float], indexes: Collection[int]) -> float:
    """Return the sum of the known values of a column, or NaN if none is known."""
    size = len(column)
    known = [value for index in indexes if index < size and not math.isnan(value := column[index])]
    return sum(known) if known else math.nan
