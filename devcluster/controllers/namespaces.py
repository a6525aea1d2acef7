"""A namespace that is deleted is emptied first."""

from collections.abc import Iterable

from devcluster.controllers.base import Base
from devcluster.objects import Obj
from devcluster.store import Change


class NamespaceController(Base):
    name, collection = "namespace", "namespaces"

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        if collection == self.collection:
            return (change.new.key,) if change.new.deleting else ()
        # Something is gone from a namespace: perhaps it was the last thing.
        if change.kind == "DELETED" and change.new.namespace:
            namespace = self.find(change.new.namespace)
            if namespace and namespace.deleting:
                return (namespace.key,)
        return ()

    def reconcile(self, key: str) -> float | None:
        record = self.find(key)
        if record is None or not record.deleting:
            return None
        left = False
        for declared in self.objects.registry:
            if not declared.namespaced or declared.virtual:
                continue
            for content in self.store.collection(declared.storage).records_in(key):
                if not content.deleting:
                    self.delete(declared.qualified, content)
                left = left or self.store.find(declared.storage, content.key) is not None
        if not left:
            self.update(self.collection, record, _finalized, "finalize")
        return None


def _finalized(namespace: Obj) -> Obj:
    namespace["spec"]["finalizers"] = []
    return namespace
