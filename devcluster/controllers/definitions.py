"""Controller that deletes the objects of a removed custom type."""

from collections.abc import Iterable

from devcluster.controllers.base import Controller
from devcluster.custom_types import CLEANUP, CRDS
from devcluster.objects import holds, meta
from devcluster.store import Change


class DefinitionController(Controller):
    name, collection = "customresourcedefinition", CRDS

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        if collection == self.collection:
            if change.kind == "DELETED":
                # The deletion may have released names that another definition waits for.
                return self.all_keys()
            return (change.new.key,) if change.new.deleting else ()
        if change.kind == "DELETED":
            definition = self.find(collection)
            if definition and definition.deleting:
                return (definition.key,)
        return ()

    def reconcile(self, key: str) -> float | None:
        record = self.find(key)
        if record is None:
            return None
        if not record.deleting:
            if not holds(record.load(), "Established"):
                self.update(self.collection, record, lambda crd: crd, "names")
            return None
        plural, _, group = key.partition(".")
        declared = self.objects.registry.find(group, plural)
        if declared:
            for content in self.store.collection(key).records_in():
                if not content.deleting:
                    self.delete(declared.qualified, content)
        held = meta(record.load()).get("finalizers") or ()
        if CLEANUP in held and not self.store.collection(key).records:
            self.drop_finalizer(self.collection, record, CLEANUP)
        return None
