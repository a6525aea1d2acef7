"""Data derived from a store's objects and updated incrementally.

- The reader updates it when it is read. The writer never waits, and unread data costs nothing.
- Within `current` it matches one version of the store. Any thread may enter, one at a time.
- A change costs as much as its object. Everything is recomputed only on first use and after more
  changes than the store remembers.

Subclasses must not keep the mapping passed to `_rebuild`. While holding its lock, a subclass may
read an index of the same store but no other derived data. Indexes read nothing else, so
deadlocks are impossible.
"""

import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Generic

from console.kube.gvr import Key
from console.kube.store import Entry, P, Store

_NEVER = -1


class Derived(ABC, Generic[P]):
    """Base class of data derived from a store.

    `version` and `resource_version` identify the store state it matches. Read them only within
    `current`.
    """

    def __init__(self, store: Store[P]) -> None:
        self._store_ref = weakref.ref(store)
        self._lock = Lock()
        self.version = _NEVER
        self.resource_version = ""
        #: Number of full recomputations.
        self.rebuilds = 0

    @property
    def _store(self) -> Store[P]:
        """Return the store. It is referenced weakly so that the stores of unused kinds can be
        freed.
        """
        store = self._store_ref()
        if store is None:
            raise ReferenceError("the store no longer exists")
        return store

    @property
    def pending_changes(self) -> int:
        """Return the approximate number of objects to process before the next read."""
        return len(self._store) if self.version < 0 else self._store.version - self.version

    def catch_up(self) -> None:
        with self.current():
            pass

    @contextmanager
    def current(self) -> Iterator[None]:
        """Update the derived data and hold the lock, so that it does not change meanwhile."""
        with self._lock:
            try:
                self._catch_up()
            except BaseException:
                # A change may be half applied. Recompute everything next time.
                self.version = _NEVER
                raise
            yield

    @abstractmethod
    def _rebuild(self, entries: Mapping[Key, Entry[P]]) -> None:
        """Recompute everything from these objects."""

    @abstractmethod
    def _apply(self, key: Key, entry: Entry[P] | None) -> None:
        """Apply one change. `entry` is None for a deleted object. Applying a change twice must be
        harmless.
        """

    def _catch_up(self) -> None:
        # Read before the changes: a bookmark in between then makes this version too old, never too
        # new.
        resource_version = self._store.resource_version
        found = self._store.changes_since(self.version)
        if found is None:
            snapshot = self._store.snapshot()
            self._rebuild(snapshot.entries)
            self.rebuilds += 1
            self.version = snapshot.version
            resource_version = snapshot.resource_version
            found = self._store.changes_since(snapshot.version)
            if found is None:
                # Too much has changed meanwhile. The next read recomputes everything.
                self.resource_version = resource_version
                return
        self.version, changes = found
        for key, entry in changes:
            self._apply(key, entry)
        self.resource_version = resource_version
