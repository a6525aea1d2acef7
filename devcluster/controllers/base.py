"""What a simulated controller is."""

from collections.abc import Iterable, Iterator

from devcluster.crud import Objects
from devcluster.objects import Obj, meta
from devcluster.statuses import StatusError
from devcluster.store import Change, Record
from devcluster.writes import Deletion, Mutation, Write


class Base:
    """Level-triggered: `reconcile` looks at the world as it is and moves it one step.

    It runs on the cluster's event loop, must be quick, and may be called at any time for any key. Changes
    of its own collection lead to their own keys, and those of `dependents` to the keys of their owners.
    """

    name = ""
    collection = ""
    dependents = ""

    def __init__(self, objects: Objects) -> None:
        self.objects, self.store = objects, objects.store

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        """The keys to look at because of this change."""
        if collection == self.collection:
            return (change.new.key,)
        if collection != self.dependents:
            return ()
        places = (self.store.uids.get(uid) for uid in change.new.owners)
        return [place[1] for place in places if place and place[0] == self.collection]

    def all_keys(self) -> Iterable[str]:
        """The keys to look at when the cluster starts."""
        return list(self.store.collection(self.collection).keys)

    def reconcile(self, key: str) -> float | None:
        """Seconds after which to look again, or None. What is gone or about to go needs no look."""
        record = self.find(key)
        return None if record is None or record.deleting else self.look(record)

    def look(self, record: Record) -> float | None:
        raise NotImplementedError

    def find(self, key: str, collection: str = "") -> Record | None:
        return self.store.find(collection or self.collection, key)

    def create(self, collection: str, namespace: str, obj: Obj) -> Obj:
        declared = self.objects.registry.get(collection)
        version = declared.versions[0].name
        return self.objects.create(declared, version, namespace, obj, Write())

    def update(self, collection: str, record: Record, mutate: Mutation, part: str = "") -> Obj:
        declared = self.objects.registry.get(collection)
        version = declared.versions[0].name
        write = Write(subresource=part)
        return self.objects.update(declared, version, record.namespace, record.name, mutate, write)

    def set_status(self, collection: str, record: Record, status: Obj) -> None:
        """Writes the status if it is another one."""
        self.update(collection, record, lambda obj: {**obj, "status": status}, "status")

    def delete(
        self, collection: str, record: Record, grace: int | None = None, policy: str = ""
    ) -> None:
        """Deletes the object; it may be gone already."""
        declared = self.objects.registry.get(collection)
        how = Deletion(uid=record.uid, grace=grace, policy=policy)
        try:
            self.objects.delete(declared, record.namespace, record.name, how)
        except StatusError as error:
            if error.code not in (404, 409):
                raise

    def drop_finalizer(self, collection: str, record: Record, finalizer: str) -> None:
        def mutate(obj: Obj) -> Obj:
            meta(obj)["finalizers"] = [f for f in meta(obj)["finalizers"] if f != finalizer]
            return obj

        self.update(collection, record, mutate)

    def owned(self, uid: str, collection: str) -> Iterator[Record]:
        for _, record in self.store.owned_by(uid, collection):
            yield record


def reference_to(record: Record, api_version: str, kind: str) -> Obj:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "namespace": record.namespace,
        "name": record.name,
        "uid": record.uid,
    }
