"""Garbage collector: deletes objects whose owners no longer exist.

https://kubernetes.io/docs/concepts/architecture/garbage-collection/
"""

from collections.abc import Iterable

from devcluster.controllers.base import Controller
from devcluster.objects import Obj, dicts, meta
from devcluster.store import Change, Record

# Separates collection and object key in a queue key.
_SEPARATOR = "\n"
_FOREGROUND = b'"foregroundDeletion"'


class GarbageCollector(Controller):
    """Collect objects with owners, and apply deletion policies.

    Keys have the form `collection\\nkey`.
    """

    name = "garbage"

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        # Owners that wait for their dependents (foreground deletion).
        former = change.old.owners if change.old else ()
        owners = (self.store.uids.get(uid) for uid in former)
        found = [_join(*owner) for owner in owners if owner and self._is_deleting(owner)]
        if change.kind == "DELETED":
            found += [_join(name, r.key) for name, r in self.store.dependents_of(change.new.uid)]
        elif change.new.owners or change.new.deleting:
            found.append(_join(collection, change.new.key))
        return found

    def _is_deleting(self, where: tuple[str, str]) -> bool:
        record = self.store.find(*where)
        return bool(record and record.deleting)

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
        solid = frozenset(uid for uid in present if not self._is_foreground(uid))
        if solid:
            if len(solid) < len(record.owners):
                self._keep_owners(collection, record, solid)
            return
        dependents = self.store.dependents_of(record.uid)
        if not present or not dependents:
            self.delete(collection, record)
            return
        if any(self._is_foreground(one.uid) for _, one in dependents):
            # Owners in a cycle would block each other.
            self.update(collection, record, _unblock)
        self.delete(collection, record, policy="Foreground")

    def _is_foreground(self, uid: str) -> bool:
        owner = self.store.find(*self.store.uids[uid])
        return bool(owner and owner.deleting and _FOREGROUND in owner.data)

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
        dependents = self.store.dependents_of(record.uid)
        if "orphan" in finalizers:
            for name, dependent in dependents:
                self._keep_owners(name, dependent, frozenset(dependent.owners) - {record.uid})
            self.drop_finalizer(collection, record, "orphan")
        elif "foregroundDeletion" in finalizers:
            blocking = [(name, r) for name, r in dependents if _blocks(r, record.uid)]
            for name, dependent in dependents:
                if not dependent.deleting:
                    self._collect(name, dependent)
            still = [r for name, r in blocking if self.store.find(name, r.key)]
            if not still:
                self.drop_finalizer(collection, record, "foregroundDeletion")


def _join(collection: str, key: str) -> str:
    return f"{collection}{_SEPARATOR}{key}"


def _unblock(obj: Obj) -> Obj:
    for owner in dicts(meta(obj).get("ownerReferences")):
        owner["blockOwnerDeletion"] = False
    return obj


def _blocks(record: Record, uid: str) -> bool:
    owners = dicts(meta(record.load()).get("ownerReferences"))
    return any(o.get("uid") == uid and o.get("blockOwnerDeletion") for o in owners)
