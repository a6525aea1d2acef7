"""EndpointSlice controller: one EndpointSlice per service."""

from collections.abc import Iterable

from devcluster.controllers.base import Controller
from devcluster.controllers.pods import is_active, is_ready, owner_reference
from devcluster.objects import Obj, dicts, dig, meta
from devcluster.store import Change, Record

_SLICES = "endpointslices.discovery.k8s.io"


class EndpointController(Controller):
    name, collection = "endpoint", "services"

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        if collection != "pods":
            return super().keys_of(collection, change)
        found = []
        for record in self.store.collection("services").records_in(change.new.namespace):
            selector = dig(record.load(), "spec.selector")
            if selector and selector.items() <= change.new.labels.items():
                found.append(record.key)
        return found

    def reconcile_record(self, record: Record) -> float | None:
        service = record.load()
        selector = dig(service, "spec.selector")
        if not selector:
            return None
        pods = [
            pod
            for pod in self.store.collection("pods").records_in(record.namespace)
            if selector.items() <= pod.labels.items()
            and is_active(pod)
            and pod.fields["status.podIP"]
        ]
        self._write(record, service, pods)
        return None

    def _write(self, record: Record, service: Obj, pods: list[Record]) -> None:
        body = {
            "addressType": "IPv4",
            "endpoints": [_endpoint(pod) for pod in pods] or None,
            "ports": [
                {name: port[name] for name in ("name", "port", "protocol") if name in port}
                for port in dicts(dig(service, "spec.ports"))
            ],
        }
        held = next(self.owned(record.uid, _SLICES), None)
        if held:
            if any(held.load().get(name) != value for name, value in body.items()):
                self.update(_SLICES, held, lambda found: {**found, **body})
            return
        about: Obj = {
            "name": f"{record.name}-{record.uid[:5]}",
            "generateName": f"{record.name}-",
            "labels": {
                **(meta(service).get("labels") or {}),
                "kubernetes.io/service-name": record.name,
                "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
            },
            "ownerReferences": [owner_reference("v1", "Service", service)],
        }
        self.create(_SLICES, record.namespace, {"metadata": about, **body})


def _endpoint(record: Record) -> Obj:
    ready = is_ready(record.load())
    return {
        "addresses": [record.fields["status.podIP"]],
        "conditions": {"ready": ready, "serving": ready, "terminating": False},
        "nodeName": record.fields["spec.nodeName"],
        "targetRef": {
            "kind": "Pod",
            "namespace": record.namespace,
            "name": record.name,
            "uid": record.uid,
        },
    }
