"""ReplicaSet controller: maintains the number of replicas."""

from devcluster.controllers.base import Controller
from devcluster.controllers.events import Recorder
from devcluster.controllers.pods import count_ready, is_active, is_ready, new_pod
from devcluster.errors import StatusError
from devcluster.objects import Obj, dig, meta
from devcluster.store import Record

# Maximum number of pods created in one step, as in Kubernetes. Each created pod triggers the next
# step.
BURST = 500
_FAILED = "FailedCreate"


class ReplicaSetController(Controller):
    name, collection, dependents = "replicaset", "replicasets.apps", "pods"

    def reconcile_record(self, record: Record) -> float | None:
        replica_set = record.load()
        pods = [pod for pod in self.owned(record.uid, "pods") if is_active(pod)]
        wanted = int(replica_set["spec"].get("replicas", 1))
        problem = ""
        if len(pods) < wanted:
            problem = self._add(replica_set, wanted - len(pods))
        if problem and not dig(replica_set, "status.conditions"):
            Recorder(self.objects).record(
                *("apps/v1", "ReplicaSet", replica_set, "Warning", _FAILED),
                f"Error creating: {problem}",
                "replicaset-controller",
            )
        for pod in _deletion_order(pods)[: max(0, len(pods) - wanted)]:
            self.delete("pods", pod)
        self._report(record, replica_set, problem)
        return 5.0 if problem else None

    def _add(self, replica_set: Obj, number: int) -> str:
        """Create pods. Return the error message if a pod could not be created."""
        namespace = meta(replica_set)["namespace"]
        for _ in range(min(number, BURST)):
            try:
                self.create("pods", namespace, new_pod("apps/v1", "ReplicaSet", replica_set))
            except StatusError as error:
                return error.message
        return ""

    def _report(self, record: Record, replica_set: Obj, problem: str) -> None:
        pods = [pod for pod in self.owned(record.uid, "pods") if is_active(pod)]
        ready = count_ready(pods)
        status: Obj = {
            "replicas": len(pods),
            "fullyLabeledReplicas": len(pods),
            "readyReplicas": ready,
            "availableReplicas": ready,
            "observedGeneration": meta(replica_set).get("generation", 1),
        }
        status = {name: value for name, value in status.items() if value or name == "replicas"}
        if problem:
            told = {"type": "ReplicaFailure", "status": "True", "reason": _FAILED}
            # As in Kubernetes, the first message is kept, because each message names another pod.
            held = dig(replica_set, "status.conditions")
            status["conditions"] = held or [{**told, "message": problem}]
        self.set_status(self.collection, record, status)


def _deletion_order(pods: list[Record]) -> list[Record]:
    """Sort pods in deletion order: unscheduled pods, pods that are not ready, then the newest pods."""

    def order(record: Record) -> tuple[bool, bool, int]:
        pod = record.load()
        return bool(pod["spec"].get("nodeName")), is_ready(pod), -record.rv

    return sorted(pods, key=order)
