"""Controllers for the default content of namespaces and for the deletion of their content."""

from collections.abc import Iterable

from devcluster.controllers.base import Controller
from devcluster.crud import Objects
from devcluster.objects import Obj
from devcluster.store import Change, Record


class NamespaceController(Controller):
    name, collection = "namespace", "namespaces"

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        if collection == self.collection:
            return (change.new.key,) if change.new.deleting else ()
        # The deleted object may have been the last one in a terminating namespace.
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


_CERTIFICATE = "kube-root-ca.crt"
_NOTE = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
    "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
    "guaranteed across distributions of Kubernetes clusters."
)


class NamespaceContentController(Controller):
    """Create the default service account and a ConfigMap with the CA certificate (PEM)."""

    name, collection = "serviceaccount", "namespaces"

    def __init__(self, objects: Objects, certificate: str) -> None:
        super().__init__(objects)
        self._certificate = certificate

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        lost = change.kind == "DELETED" and change.new.name in ("default", _CERTIFICATE)
        if lost and collection in ("serviceaccounts", "configmaps"):
            return (change.new.namespace,)
        return super().keys_of(collection, change)

    def reconcile_record(self, record: Record) -> float | None:
        if self.find(f"{record.name}/default", "serviceaccounts") is None:
            self.create("serviceaccounts", record.name, {"metadata": {"name": "default"}})
        if self.find(f"{record.name}/{_CERTIFICATE}", "configmaps") is None:
            about = {"name": _CERTIFICATE, "annotations": {"kubernetes.io/description": _NOTE}}
            data = {"ca.crt": self._certificate}
            self.create("configmaps", record.name, {"metadata": about, "data": data})
        return None
