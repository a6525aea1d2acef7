"""In-memory store of all objects with a recent change history, persisted to a database.

- The resourceVersion increases with every write and never repeats, even across restarts.
- An object is encoded once, when it is written. Lists and watches join the encoded bytes.
- A `Record` is immutable.
- Listeners are called in write order, after the write is persisted.
- All methods run on the cluster's event loop, so each call is one atomic step.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from devcluster.database import Database
from devcluster.objects import Obj, decode, encode, meta
from devcluster.records import Change, Collection, Event, Record


class Store:
    """All collections. `fields_of` returns the selectable fields of a collection."""

    def __init__(self, database: Database, fields_of: Callable[[str], tuple[str, ...]]) -> None:
        self.database = database
        self._fields_of = fields_of
        self.rv = max(1, database.resource_version())
        self.collections: dict[str, Collection] = {}
        #: Dependents by owner UID, as (collection, key).
        self.dependents: dict[str, set[tuple[str, str]]] = {}
        #: Objects by UID, as (collection, key).
        self.uids: dict[str, tuple[str, str]] = {}
        self._changed_event = asyncio.Event()
        #: Callbacks called after each change in any collection.
        self.observers: list[Callable[[str, Change], None]] = []
        for name, key, data in database.load():
            collection = self.collection(name)
            record = Record(key, decode(data), data, collection.fields)
            collection.records[key] = record
            collection.keys.append(key)
            self._add_owner_index(name, record)
        for collection in self.collections.values():
            collection.keys.sort()

    def collection(self, name: str) -> Collection:
        found = self.collections.get(name)
        if found is None:
            found = Collection(name, self._fields_of(name), self.rv)
            self.collections[name] = found
        return found

    def find(self, name: str, key: str) -> Record | None:
        return self.collection(name).records.get(key)

    def put(self, name: str, obj: Obj) -> Record:
        """Store the object with the next resourceVersion."""
        collection = self.collection(name)
        key = key_of(meta(obj).get("namespace", ""), meta(obj)["name"])
        old = collection.records.get(key)
        return self._write(collection, "MODIFIED" if old else "ADDED", key, obj, old)

    def remove(self, name: str, key: str) -> Record:
        """Remove the object. Return its last state with a new resourceVersion."""
        collection = self.collection(name)
        old = collection.records[key]
        return self._write(collection, "DELETED", key, old.load(), old)

    def _write(
        self, collection: Collection, kind: Event, key: str, obj: Obj, old: Record | None
    ) -> Record:
        rv = self.rv + 1
        meta(obj)["resourceVersion"] = str(rv)
        data = encode(obj)
        self.database.write(collection.name, key, None if kind == "DELETED" else data, rv)
        self.rv = rv
        record = Record(key, obj, data, collection.fields)
        change = Change(kind, record, old)
        collection.apply(change)
        self._remove_owner_index(collection.name, old)
        if kind != "DELETED":
            self._add_owner_index(collection.name, record)
        self._notify(collection, change)
        return record

    def _notify(self, collection: Collection, change: Change) -> None:
        for listener in tuple(collection.listeners):
            listener(change)
        for observer in self.observers:
            observer(collection.name, change)
        self._changed_event.set()
        self._changed_event = asyncio.Event()

    def _add_owner_index(self, name: str, record: Record) -> None:
        self.uids[record.uid] = (name, record.key)
        for uid in record.owners:
            self.dependents.setdefault(uid, set()).add((name, record.key))

    def _remove_owner_index(self, name: str, record: Record | None) -> None:
        if record is None:
            return
        self.uids.pop(record.uid, None)
        for uid in record.owners:
            held = self.dependents.get(uid, set())
            held.discard((name, record.key))
            if not held:
                self.dependents.pop(uid, None)

    def dependents_of(self, uid: str, name: str = "") -> list[tuple[str, Record]]:
        """Return the dependents of an owner with their collection, optionally of one collection
        only.
        """
        found = sorted(self.dependents.get(uid, ()))
        return [(c, self.collections[c].records[key]) for c, key in found if name in ("", c)]

    def index(self, name: str, fields: tuple[str, ...]) -> None:
        """Set the selectable fields of a collection and index the stored objects again."""
        collection = self.collection(name)
        if collection.fields != fields:
            collection.fields = fields
            for key, held in collection.records.items():
                collection.records[key] = Record(key, held.load(), held.data, fields)

    def drop(self, name: str) -> None:
        """Remove an empty collection whose type was removed."""
        collection = self.collections.pop(name, None)
        for close in tuple(collection.close_callbacks if collection else ()):
            close()

    def compact(self) -> None:
        """Discard the change history of all collections, as after a long time."""
        for collection in self.collections.values():
            collection.history.clear()
            collection.oldest = self.rv

    async def wait_for(self, resource_version: int, timeout: float) -> bool:  # noqa: ASYNC109
        """Wait until the store reaches the resourceVersion. Return False after `timeout` seconds."""
        try:
            async with asyncio.timeout(timeout):
                while self.rv < resource_version:
                    await self._changed_event.wait()
        except TimeoutError:
            return False
        return True

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Combine the writes inside the context into one database transaction."""
        self.database.begin()
        try:
            yield
        finally:
            self.database.commit()


def key_of(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


__all__ = ["Change", "Collection", "Event", "Record", "Store", "key_of"]
