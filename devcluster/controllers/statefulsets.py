"""StatefulSet controller: ordered pods with stable names and their own volumes."""

from devcluster.controllers.base import Controller
from devcluster.controllers.pods import count_ready, is_ready, new_pod, phase, template_hash
from devcluster.controllers.replicasets import BURST
from devcluster.controllers.revisions import sync_revisions
from devcluster.objects import Obj, clone, dicts, dig, meta
from devcluster.store import Record

_HASH, _OWN_HASH = "controller-revision-hash", "controller.kubernetes.io/hash"


class StatefulSetController(Controller):
    name, collection, dependents = "statefulset", "statefulsets.apps", "pods"

    def reconcile_record(self, record: Record) -> float | None:
        stateful_set = record.load()
        digest = template_hash(stateful_set["spec"]["template"])
        revision = f"{record.name}-{digest}"
        pods = {pod.name: pod for pod in self.owned(record.uid, "pods")}
        used = {pod.labels.get(_HASH, "").rpartition("-")[2] for pod in pods.values()}
        sync_revisions(self, "StatefulSet", stateful_set, digest, label=_OWN_HASH, used=used)
        if not self._replace_ended(pods):
            self._move(stateful_set, pods, revision)
        self._report(record, stateful_set, revision)
        return None

    def _replace_ended(self, pods: dict[str, Record]) -> bool:
        ended = [p for p in pods.values() if phase(p) in ("Failed", "Succeeded") and not p.deleting]
        for pod in ended:
            self.delete("pods", pod)
        return bool(ended)

    def _move(self, stateful_set: Obj, pods: dict[str, Record], revision: str) -> None:
        """Perform one step: create the first missing pod, or delete the last surplus pod."""
        spec, about = stateful_set["spec"], meta(stateful_set)
        ordered = spec.get("podManagementPolicy") != "Parallel"
        names, made = set(), 0
        for index in range(int(spec.get("replicas", 1))):
            name = f"{about['name']}-{index}"
            names.add(name)
            pod = pods.get(name)
            if pod is None:
                if made == BURST:
                    return
                self._make(stateful_set, name, revision)
                made += 1
            if ordered and (pod is None or pod.deleting or not is_ready(pod.load())):
                return
        extra = sorted((p for n, p in pods.items() if n not in names), key=_ordinal)
        if extra:
            if not extra[-1].deleting:
                self.delete("pods", extra[-1])
            return
        self._roll(stateful_set, [pods[name] for name in names if name in pods], revision)

    def _make(self, stateful_set: Obj, name: str, revision: str) -> None:
        spec, about = stateful_set["spec"], meta(stateful_set)
        labels = {
            _HASH: revision,
            "statefulset.kubernetes.io/pod-name": name,
            "apps.kubernetes.io/pod-index": name.rpartition("-")[2],
        }
        pod = new_pod("apps/v1", "StatefulSet", stateful_set, name=name, labels=labels)
        pod["spec"]["hostname"] = name
        pod["spec"]["subdomain"] = spec.get("serviceName", "")
        for claim in dicts(spec.get("volumeClaimTemplates")):
            self._claim(about["namespace"], claim, name, pod)
        self.create("pods", about["namespace"], pod)

    def _claim(self, namespace: str, template: Obj, pod_name: str, pod: Obj) -> None:
        volume = meta(template)["name"]
        claim_name = f"{volume}-{pod_name}"
        if self.find(f"{namespace}/{claim_name}", "persistentvolumeclaims") is None:
            claim = clone(template)
            for field in ("kind", "apiVersion", "status"):
                claim.pop(field, None)
            meta(claim).update(name=claim_name, labels=dict(meta(pod)["labels"]))
            self.create("persistentvolumeclaims", namespace, claim)
        source = {"name": volume, "persistentVolumeClaim": {"claimName": claim_name}}
        pod["spec"].setdefault("volumes", []).append(source)

    def _roll(self, stateful_set: Obj, pods: list[Record], revision: str) -> None:
        """Update one pod at a time, from the last to the first. All pods must be ready before each
        step.
        """
        if dig(stateful_set, "spec.updateStrategy.type") == "OnDelete":
            return
        if any(pod.deleting or not is_ready(pod.load()) for pod in pods):
            return
        for pod in sorted(pods, key=_ordinal, reverse=True):
            if pod.labels.get(_HASH) != revision:
                self.delete("pods", pod)
                return

    def _report(self, record: Record, stateful_set: Obj, revision: str) -> None:
        pods = [pod for pod in self.owned(record.uid, "pods") if not pod.deleting]
        current = [pod for pod in pods if pod.labels.get(_HASH) == revision]
        held = dig(stateful_set, "status.currentRevision")
        ready = count_ready(pods)
        done = len(current) == len(pods)
        status: Obj = {
            "observedGeneration": meta(stateful_set).get("generation", 1),
            "replicas": len(pods),
            "readyReplicas": ready,
            "availableReplicas": ready,
            "currentReplicas": len(current) if done else len(pods) - len(current),
            "updatedReplicas": len(current),
            "currentRevision": revision if done or not held else held,
            "updateRevision": revision,
            "collisionCount": 0,
        }
        self.set_status(self.collection, record, status)


def _ordinal(record: Record) -> int:
    number = record.name.rpartition("-")[2]
    return int(number) if number.isdigit() else 0
