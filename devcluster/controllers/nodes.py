"""Node heartbeats, and cleanup of terminating pods without a node."""

from collections.abc import Iterable
from datetime import UTC, datetime

from devcluster.controllers.base import Controller
from devcluster.objects import (
    Obj,
    condition_of,
    dicts,
    meta,
    micro_timestamp,
    parse_time,
    timestamp,
)
from devcluster.store import Change

_LEASES = "leases.coordination.k8s.io"
_NAMESPACE = "kube-node-lease"
_BEAT = 10.0
# Lease renewals per status update. Like a real kubelet, nodes report an unchanged status less
# often.
_STATUS_BEATS = 30


class NodeController(Controller):
    """Renew the lease of every node, except nodes that are simulated as unreachable."""

    name, collection = "node", "nodes"

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        if collection == self.collection and change.kind == "ADDED":
            return (change.new.key,)
        return ()

    def reconcile(self, key: str) -> float | None:
        record = self.find(key)
        ready = condition_of(record.load(), "Ready") if record else None
        # A node with Ready status Unknown is unreachable and does not renew its lease.
        if record is None or ready is None or ready.get("status") == "Unknown":
            return None
        lease = self.find(f"{_NAMESPACE}/{key}", _LEASES)
        now = micro_timestamp()
        if lease is None:
            owner = {"apiVersion": "v1", "kind": "Node", "name": key, "uid": record.uid}
            about = {"name": key, "ownerReferences": [owner]}
            spec = {"holderIdentity": key, "leaseDurationSeconds": 40, "renewTime": now}
            self.create(_LEASES, _NAMESPACE, {"metadata": about, "spec": spec})
            return _BEAT
        renewed = {"renewTime": now}
        self.update(_LEASES, lease, lambda held: {**held, "spec": held["spec"] | renewed})
        if lease.rv % _STATUS_BEATS == 0:
            self.update(self.collection, record, _beaten, "status")
        return _BEAT


def _beaten(node: Obj) -> Obj:
    for condition in dicts((node.get("status") or {}).get("conditions")):
        condition["lastHeartbeatTime"] = timestamp()
    return node


class PodCleaner(Controller):
    """Remove terminating pods without an existing node when their grace period ends."""

    name, collection = "pod-cleaner", "pods"

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        if collection == self.collection and change.new.deleting:
            return (change.new.key,)
        if collection == "nodes" and change.kind == "DELETED":
            return [
                record.key
                for record in self.store.collection("pods").records_in()
                if record.fields["spec.nodeName"] == change.new.name
            ]
        return ()

    def reconcile(self, key: str) -> float | None:
        record = self.find(key)
        if record is None:
            return None
        node = record.fields["spec.nodeName"]
        if node and self.find(node, "nodes"):
            return None
        about = meta(record.load())
        if not record.deleting or about.get("finalizers"):
            return None
        left = (parse_time(about["deletionTimestamp"]) - datetime.now(UTC)).total_seconds()
        if left > 0:
            return left
        self.delete("pods", record, 0)
        return None
