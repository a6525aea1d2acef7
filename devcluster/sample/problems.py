"""Problems of the sample data besides broken workloads: an unreachable node, an exhausted quota, a
claim without a storage class, an autoscaler at its maximum and a failed job.
"""

from collections.abc import Iterator

from devcluster.cluster import Cluster
from devcluster.controllers.behaviour import ANNOTATION
from devcluster.controllers.events import Recorder
from devcluster.controllers.pods import phase
from devcluster.controllers.scheduling import requested
from devcluster.objects import Obj, dicts, meta, timestamp

UNREACHABLE_NODE = "worker-7"
#: The project with an exhausted quota.
FULL_PROJECT = "checkout"
_QUOTAS = "resourcequotas"
_GI = 2**30


def objects() -> Iterator[tuple[str, Obj]]:
    """Yield the collection and object of each manifest."""
    claim = {
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "archive",
        "resources": {"requests": {"storage": "2Ti"}},
    }
    about = {"name": "cold-storage", "namespace": "data"}
    yield "persistentvolumeclaims", {"metadata": about, "spec": claim}
    container = {
        "name": "backfill",
        "image": "registry.shop.example/shipping/address-backfill:0.2.0",
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}},
    }
    template = {
        "metadata": {"annotations": {ANNOTATION: "fails 1"}},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
    about = {"name": "address-backfill", "namespace": "shipping"}
    yield "jobs.batch", {"metadata": about, "spec": {"template": template, "backoffLimit": 2}}
    for namespace, name, least, most in (
        ("web", "storefront", 3, 6),
        ("checkout", "cart-api", 2, 10),
    ):
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
        resource = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}
        spec = {
            "scaleTargetRef": target,
            "minReplicas": least,
            "maxReplicas": most,
            "metrics": [{"type": "Resource", "resource": resource}],
        }
        about = {"name": name, "namespace": namespace}
        yield "horizontalpodautoscalers.autoscaling", {"metadata": about, "spec": spec}


def report(cluster: Cluster) -> None:
    """Write the statuses that no simulated controller maintains."""
    recorder = Recorder(cluster.objects)
    _silence(cluster, recorder)
    _scale(cluster)
    _fill_quotas(cluster)
    record = cluster.store.find("persistentvolumeclaims", "data/cold-storage")
    if record:
        claim = {**record.load(), "status": {"phase": "Pending"}}
        cluster.store.put("persistentvolumeclaims", claim)
        text = 'storageclass.storage.k8s.io "archive" not found'
        recorder.record(
            "v1",
            "PersistentVolumeClaim",
            claim,
            "Warning",
            "ProvisioningFailed",
            text,
            "persistentvolume-controller",
        )


def _silence(cluster: Cluster, recorder: Recorder) -> None:
    record = cluster.store.find("nodes", UNREACHABLE_NODE)
    if record is None:
        return
    node = record.load()
    for condition in dicts(node["status"]["conditions"]):
        condition |= {
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.",
            "lastTransitionTime": timestamp(),
        }
    taint = {"key": "node.kubernetes.io/unreachable", "timeAdded": timestamp()}
    effects = ("NoSchedule", "NoExecute")
    node["spec"]["taints"] += [{**taint, "effect": effect} for effect in effects]
    cluster.store.put("nodes", node)
    text = f"Node {UNREACHABLE_NODE} status is now: NodeNotReady"
    recorder.record("v1", "Node", node, "Normal", "NodeNotReady", text, "node-controller")


def _scale(cluster: Cluster) -> None:
    collection = "horizontalpodautoscalers.autoscaling"
    for record in cluster.store.collection(collection).records_in():
        found = record.load()
        most = found["spec"]["maxReplicas"]
        deployment = cluster.store.find("deployments.apps", record.key)
        now = int(deployment.load()["spec"]["replicas"]) if deployment else 0
        full = now >= most
        use = 94 if full else 58
        resource = {"name": "cpu", "current": {"averageUtilization": use, "averageValue": "188m"}}
        limited = {
            "type": "ScalingLimited",
            "status": str(full),
            "reason": "TooManyReplicas" if full else "DesiredWithinRange",
            "message": "the desired replica count is more than the maximum replica count"
            if full
            else "the desired count is within the acceptable range",
        }
        able = {"type": "AbleToScale", "status": "True", "reason": "ReadyForNewScale"}
        active = {"type": "ScalingActive", "status": "True", "reason": "ValidMetricFound"}
        stamped = [{**one, "lastTransitionTime": timestamp()} for one in (able, active, limited)]
        found["status"] = {
            "currentReplicas": now,
            "desiredReplicas": now,
            "currentMetrics": [{"type": "Resource", "resource": resource}],
            "conditions": stamped,
        }
        cluster.store.put(collection, found)


def _fill_quotas(cluster: Cluster) -> None:
    """Set the usage of quotas, and limit the pods of one project to the existing ones."""
    for record in cluster.store.collection(_QUOTAS).records_in():
        pods = [
            requested(pod.load())
            for pod in cluster.store.collection("pods").records_in(record.namespace)
            if phase(pod) not in ("Succeeded", "Failed")
        ]
        used = {
            "pods": str(sum(pod.pods for pod in pods)),
            "requests.cpu": f"{round(sum(pod.cpu for pod in pods) * 1000)}m",
            "requests.memory": f"{round(sum(pod.memory for pod in pods) / _GI * 1024)}Mi",
        }
        quota = record.load()
        if meta(quota)["namespace"] == FULL_PROJECT:
            quota["spec"]["hard"]["pods"] = used["pods"]
        quota["status"] = {"hard": quota["spec"]["hard"], "used": used}
        cluster.store.put(_QUOTAS, quota)
