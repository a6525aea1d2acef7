"""What is worked out from a store's objects, and kept up to date change by change.

Promises:
- Brought up to date when it is read, by the reader: the writer never waits, and what nobody reads
  costs nothing.
- Within `current` it is the state of one version of the store. Any thread may enter; one at a time.
- A change costs what its object costs. Everything is worked out anew only at first, and after so many
  changes at once that the store does not remember them.

Subclasses must not keep what `_rebuild` is given. While one holds its lock it may read an index of the
same store, and nothing else that is derived: indexes read nothing in turn, so no two wait for each other.
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
    """`version` and `resource_version` say up to where; they are for use within `current`."""

    def __init__(self, store: Store[P]) -> None:
        self._store_ref = weakref.ref(store)
        self._lock = Lock()
        self.version = _NEVER
        self.resource_version = ""
        #: How often everything was worked out anew.
        self.rebuilds = 0

    @property
    def _store(self) -> Store[P]:
        """Held by whoever uses it, not by what was derived from it: kinds that nobody looks at end."""
        store = self._store_ref()
        if store is None:
            raise ReferenceError("the store is gone")
        return store

    @property
    def behind(self) -> int:
        """About how many objects must be looked at before this can be read."""
        return len(self._store) if self.version < 0 else self._store.version - self.version

    def catch_up(self) -> None:
        with self.current():
            pass

    @contextmanager
    def current(self) -> Iterator[None]:
        """Holds the lock while what was derived is true and does not change."""
        with self._lock:
            try:
                self._catch_up()
            except BaseException:
                # Half of a change may have been taken in: next time everything is worked out anew.
                self.version = _NEVER
                raise
            yield

    @abstractmethod
    def _rebuild(self, entries: Mapping[Key, Entry[P]]) -> None:
        """Starts over with these objects."""

    @abstractmethod
    def _apply(self, key: Key, entry: Entry[P] | None) -> None:
        """Takes in one change; None: the object is gone. What is known already changes nothing."""

    def _catch_up(self) -> None:
        # Before the changes: a bookmark in between then makes this say less than it knows.
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
                # So much has changed meanwhile that it must be done again, at the next reading.
                self.resource_version = resource_version
                return
        self.version, changes = found
        for key, entry in changes:
            self._apply(key, entry)
        self.resource_version = resource_version
