"""Garbage collection: what lost its owners goes too.

https://kubernetes.io/docs/concepts/architecture/garbage-collection/
"""

from collections.abc import Iterable

from devcluster.controllers.base import Base
from devcluster.objects import Obj, dicts, meta
from devcluster.store import Change, Record

# An object in any collection, as one text.
_SEPARATOR = "\n"


class GarbageCollector(Base):
    """Keys are `collection\\nkey` of objects with owners, or with a deletion policy to carry out."""

    name = "garbage"

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        found = []
        if change.kind == "DELETED":
            found += [_join(name, r.key) for name, r in self.store.owned_by(change.new.uid)]
            # Owners that wait for their dependents in the foreground.
            owners = (self.store.uids.get(uid) for uid in change.new.owners)
            found += [_join(*owner) for owner in owners if owner]
        elif change.new.owners or change.new.deleting:
            found.append(_join(collection, change.new.key))
        return found

    def all_keys(self) -> Iterable[str]:
        return [
            _join(name, record.key)
            for name, collection in self.store.collections.items()
            for record in collection.records.values()
            if record.owners or record.deleting
        ]

    def reconcile(self, key: str) -> float | None:
        collection, _, name = key.partition(_SEPARATOR)
        record = self.store.find(collection, name)
        if record is None:
            return None
        if record.deleting:
            self._carry_out(collection, record)
        elif record.owners:
            self._collect(collection, record)
        return None

    def _collect(self, collection: str, record: Record) -> None:
        present = [uid for uid in record.owners if uid in self.store.uids]
        if not present:
            self.delete(collection, record)
        elif len(present) < len(record.owners):
            self._keep_owners(collection, record, frozenset(present))
        elif all(self._is_foreground(uid) for uid in present):
            self.delete(collection, record)

    def _is_foreground(self, uid: str) -> bool:
        owner = self.store.find(*self.store.uids[uid])
        return bool(owner and owner.deleting and b'"foregroundDeletion"' in owner.data)

    def _keep_owners(self, collection: str, record: Record, kept: frozenset[str]) -> None:
        def mutate(obj: Obj) -> Obj:
            owners = [o for o in dicts(meta(obj).get("ownerReferences")) if o.get("uid") in kept]
            meta(obj)["ownerReferences"] = owners
            if not owners:
                del meta(obj)["ownerReferences"]
            return obj

        self.update(collection, record, mutate)

    def _carry_out(self, collection: str, record: Record) -> None:
        finalizers = meta(record.load()).get("finalizers") or ()
        dependents = self.store.owned_by(record.uid)
        if "orphan" in finalizers:
            for name, dependent in dependents:
                self._keep_owners(name, dependent, frozenset(dependent.owners) - {record.uid})
            self._drop_finalizer(collection, record, "orphan")
        elif "foregroundDeletion" in finalizers:
            blocking = [(name, r) for name, r in dependents if _blocks(r, record.uid)]
            for name, dependent in dependents:
                if not dependent.deleting:
                    self._collect(name, dependent)
            still = [r for name, r in blocking if self.store.find(name, r.key)]
            if not still:
                self._drop_finalizer(collection, record, "foregroundDeletion")

    def _drop_finalizer(self, collection: str, record: Record, finalizer: str) -> None:
        def mutate(obj: Obj) -> Obj:
            meta(obj)["finalizers"] = [f for f in meta(obj)["finalizers"] if f != finalizer]
            return obj

        self.update(collection, record, mutate)


def _join(collection: str, key: str) -> str:
    return f"{collection}{_SEPARATOR}{key}"


def _blocks(record: Record, uid: str) -> bool:
    owners = dicts(meta(record.load()).get("ownerReferences"))
    return any(o.get("uid") == uid and o.get("blockOwnerDeletion") for o in owners)
