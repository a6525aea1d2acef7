"""What every namespace has: the default service account and the authority's certificate."""

from collections.abc import Iterable

from devcluster.controllers.base import Base
from devcluster.crud import Objects
from devcluster.store import Change, Record

_CERTIFICATE = "kube-root-ca.crt"
_NOTE = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
    "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
    "guaranteed across distributions of Kubernetes clusters."
)


class NamespaceContentController(Base):
    """`certificate` is the PEM text of the cluster's authority."""

    name, collection = "serviceaccount", "namespaces"

    def __init__(self, objects: Objects, certificate: str) -> None:
        super().__init__(objects)
        self._certificate = certificate

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        lost = change.kind == "DELETED" and change.new.name in ("default", _CERTIFICATE)
        if lost and collection in ("serviceaccounts", "configmaps"):
            return (change.new.namespace,)
        return super().keys_of(collection, change)

    def look(self, record: Record) -> float | None:
        if self.find(f"{record.name}/default", "serviceaccounts") is None:
            self.create("serviceaccounts", record.name, {"metadata": {"name": "default"}})
        if self.find(f"{record.name}/{_CERTIFICATE}", "configmaps") is None:
            about = {"name": _CERTIFICATE, "annotations": {"kubernetes.io/description": _NOTE}}
            data = {"ca.crt": self._certificate}
            self.create("configmaps", record.name, {"metadata": about, "data": data})
        return None
