"""DaemonSet controller: one pod on each matching node."""

from collections.abc import Iterable

from devcluster.controllers.base import Controller
from devcluster.controllers.pods import count_ready, is_active, is_ready, new_pod, template_hash
from devcluster.controllers.revisions import sync_revisions
from devcluster.controllers.scheduling import tolerates
from devcluster.objects import Obj, dig, meta
from devcluster.store import Change, Record

_HASH = "controller-revision-hash"


class DaemonSetController(Controller):
    name, collection, dependents = "daemonset", "daemonsets.apps", "pods"

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        if collection == "nodes" and change.kind != "MODIFIED":
            return self.all_keys()
        return super().keys_of(collection, change)

    def reconcile_record(self, record: Record) -> float | None:
        daemon_set = record.load()
        digest = template_hash(daemon_set["spec"]["template"])
        nodes = [n for n in self.store.collection("nodes").records_in() if _fits(daemon_set, n)]
        pods = list(self.owned(record.uid, "pods"))
        used = {pod.labels.get(_HASH, "") for pod in pods}
        sync_revisions(self, "DaemonSet", daemon_set, digest, label=_HASH, used=used)
        held: dict[str, Record] = {}
        for pod in pods:
            if is_active(pod):
                held[pod.fields["spec.nodeName"]] = pod
            elif not pod.deleting:
                self.delete("pods", pod)
        for node in nodes:
            if node.name not in held:
                self._make(daemon_set, node.name, digest)
        names = {node.name for node in nodes}
        for name, pod in held.items():
            if name not in names:
                self.delete("pods", pod)
        self._roll(daemon_set, list(held.values()), len(nodes), digest)
        self._report(record, daemon_set, len(nodes), digest)
        return None

    def _make(self, daemon_set: Obj, node: str, digest: str) -> None:
        pod = new_pod("apps/v1", "DaemonSet", daemon_set, labels={_HASH: digest})
        field = {"key": "metadata.name", "operator": "In", "values": [node]}
        terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
        pod["spec"]["affinity"] = {"nodeAffinity": required}
        # Bind the pod directly, because the node is already determined.
        pod["spec"]["nodeName"] = node
        self.create("pods", meta(daemon_set)["namespace"], pod)

    def _roll(self, daemon_set: Obj, pods: list[Record], nodes: int, digest: str) -> None:
        if dig(daemon_set, "spec.updateStrategy.type") == "OnDelete" or len(pods) < nodes:
            return
        stale = [pod for pod in pods if pod.labels.get(_HASH) != digest]
        # Replace pods that are not ready first, because that reduces no availability.
        broken = [pod for pod in stale if not is_ready(pod.load())]
        all_ready = all(is_ready(pod.load()) for pod in pods)
        for pod in broken or (stale[:1] if all_ready else ()):
            self.delete("pods", pod)

    def _report(self, record: Record, daemon_set: Obj, nodes: int, digest: str) -> None:
        pods = [pod for pod in self.owned(record.uid, "pods") if is_active(pod)]
        ready = count_ready(pods)
        status: Obj = {
            "currentNumberScheduled": len(pods),
            "numberMisscheduled": 0,
            "desiredNumberScheduled": nodes,
            "numberReady": ready,
            "numberAvailable": ready,
            "numberUnavailable": nodes - ready,
            "updatedNumberScheduled": sum(p.labels.get(_HASH) == digest for p in pods),
            "observedGeneration": meta(daemon_set).get("generation", 1),
        }
        if not status["numberUnavailable"]:
            del status["numberUnavailable"]
        self.set_status(self.collection, record, status)


def _fits(daemon_set: Obj, record: Record) -> bool:
    spec = dig(daemon_set, "spec.template.spec") or {}
    wanted = spec.get("nodeSelector") or {}
    if not wanted.items() <= record.labels.items():
        return False
    taints = dig(record.load(), "spec.taints") or ()
    # DaemonSet pods tolerate the taints of cordoned and unhealthy nodes.
    lasting = [t for t in taints if not t["key"].startswith("node.kubernetes.io/")]
    return all(tolerates(spec, taint) for taint in lasting)
