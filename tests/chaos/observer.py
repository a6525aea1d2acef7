"""A runtime of the console as in production, and listeners that record what they receive."""

import asyncio
import logging
import threading
from collections.abc import Mapping
from typing import Any

from console.kube.gvr import GVR, Key
from console.kube.indexes import indexes_of
from console.kube.informer import Informer
from console.kube.runtime import Runtime
from console.kube.store import Entry, Store
from tests.chaos.history import History
from tests.chaos.targets import TARGETS
from tests.chaos.world import World
from tests.controlplane.waiting import eventually

__all__ = ["Observer"]

_SYNC_SECONDS = 30.0


class Replica:
    """A copy of a store, updated from another thread by the store's changes."""

    def __init__(self, store: Store[Any]) -> None:
        self._store = store
        self._version = -1
        self.entries: dict[Key, Entry[Any]] = {}

    def catch_up(self) -> None:
        found = self._store.changes_since(self._version)
        if found is None:
            snapshot = self._store.snapshot()
            self._version, self.entries = snapshot.version, dict(snapshot.entries)
            return
        self._version, changes = found
        for key, entry in changes:
            if entry is None:
                self.entries.pop(key, None)
            else:
                self.entries[key] = entry


class Errors(logging.Handler):
    """Collects error log records, including unretrieved task exceptions."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(logging.Formatter().format(record))


class Observer:
    """Runs the runtime behind the fault-injecting proxy. Use it as a context manager."""

    def __init__(self, world: World, history: History) -> None:
        self._world = world
        self._runtime = Runtime(kubeconfig=str(world.kubeconfig))
        self._history = history
        self._errors = Errors()
        self._stop = threading.Event()
        self._reader = threading.Thread(target=self._read)
        self.informers: Mapping[GVR, Informer[Any]] = {}
        self.replicas: Mapping[GVR, Replica] = {}

    def __enter__(self) -> "Observer":
        logging.getLogger().addHandler(self._errors)
        mark = len(self._world.proxy.seen)
        self._runtime.start()
        self.informers = {t.gvr: self._runtime.informer(t.gvr) for t in TARGETS}
        self.replicas = {gvr: Replica(one.store) for gvr, one in self.informers.items()}
        for informer in self.informers.values():
            self._listen(informer)
        self._reader.start()
        eventually(lambda: all(map(fresh, self._all)), "all synced", timeout=_SYNC_SECONDS)
        # Wait for the first watch. The caches are already fresh after the list, but a fault must
        # not hit the first watch request: the HTTP client retries it immediately when its
        # connection closes before the response.
        wanted = {gvr.resource for gvr in self.informers}
        eventually(lambda: wanted <= self._watched(mark), "all are watched", timeout=_SYNC_SECONDS)
        return self

    def _watched(self, mark: int) -> set[str]:
        """Return the resources for which a watch was started since `mark`."""
        seen = self._world.proxy.seen[mark:]
        return {one.resource for one in seen if one.verb == "watch" and one.status == 200}

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._reader.join()
        self._runtime.stop()
        logging.getLogger().removeHandler(self._errors)

    @property
    def errors(self) -> list[str]:
        """Return the errors logged so far."""
        return list(self._errors.found)

    @property
    def _all(self) -> list[Informer[Any]]:
        return list(self.informers.values())

    def tasks(self) -> int:
        """Return the number of tasks in the core's event loop."""

        async def count() -> int:
            return len(asyncio.all_tasks())

        return self._runtime.spawn(count()).result(10)

    def _listen(self, informer: Informer[Any]) -> None:
        resource, store, note = informer.gvr.qualified, informer.store, self._history.note

        def changed(key: Key) -> None:
            entry = store.get(key)
            uid, version = ("", "") if entry is None else (entry.projection.uid, _version(entry))
            note("seen", resource=resource, key=f"{key[0]}/{key[1]}", uid=uid, version=version)

        def stated() -> None:
            freshness = informer.freshness
            since = freshness.stale_since and freshness.stale_since.isoformat()
            note("state", resource=resource, stale=since, problem=freshness.problem)

        informer.add_listener(changed, stated)

    def _read(self) -> None:
        """Continuously read the data that readers keep up to date."""
        while not self._stop.wait(0.03):
            for gvr, replica in self.replicas.items():
                replica.catch_up()
                indexes_of(self.informers[gvr].store).by_namespace.values()


def _version(entry: Entry[Any]) -> str:
    return entry.resource_version


def fresh(informer: Informer[Any]) -> bool:
    """Return True if the informer is synced and not stale."""
    return informer.freshness.synced and informer.freshness.stale_since is None
