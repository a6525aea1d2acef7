"""Base class of the simulated controllers."""

from collections.abc import Iterable, Iterator

from devcluster.crud import Objects
from devcluster.errors import StatusError
from devcluster.objects import Obj, meta
from devcluster.store import Change, Record
from devcluster.write_options import Deletion, Mutation, Write


class Controller:
    """A level-triggered controller: `reconcile` compares the current state and moves it one step.

    `reconcile` runs on the cluster's event loop, must not block, and can be called at any time
    for any key. Changes in `collection` queue the changed object. Changes in `dependents` queue
    the owners of the changed object.
    """

    name = ""
    collection = ""
    dependents = ""

    def __init__(self, objects: Objects) -> None:
        self.objects, self.store = objects, objects.store

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        """Return the keys to reconcile after this change."""
        if collection == self.collection:
            return (change.new.key,)
        if collection != self.dependents:
            return ()
        places = (self.store.uids.get(uid) for uid in change.new.owners)
        return [place[1] for place in places if place and place[0] == self.collection]

    def all_keys(self) -> Iterable[str]:
        """Return the keys to reconcile when the cluster starts."""
        return list(self.store.collection(self.collection).keys)

    def reconcile(self, key: str) -> float | None:
        """Reconcile one object. Return the seconds until the next call, or None.

        Objects that are deleted or being deleted are skipped.
        """
        record = self.find(key)
        return None if record is None or record.deleting else self.reconcile_record(record)

    def reconcile_record(self, record: Record) -> float | None:
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
        """Write the status if it changed."""
        self.update(collection, record, lambda obj: {**obj, "status": status}, "status")

    def delete(
        self, collection: str, record: Record, grace: int | None = None, policy: str = ""
    ) -> None:
        """Delete the object. Ignore an object that was already deleted or replaced."""
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
        for _, record in self.store.dependents_of(uid, collection):
            yield record


def reference_to(record: Record, api_version: str, kind: str) -> Obj:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "namespace": record.namespace,
        "name": record.name,
        "uid": record.uid,
    }
