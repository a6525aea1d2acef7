"""Scheduler: binds pods to nodes, or reports why no node is suitable."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from devcluster.controllers.base import Controller
from devcluster.controllers.events import Recorder
from devcluster.controllers.pods import conditions_with, phase
from devcluster.crud import Objects
from devcluster.objects import Obj, dicts, dig, timestamp
from devcluster.quantities import parse_quantity
from devcluster.store import Change, Record
from devcluster.subresources import bind, bind_pod

_RETRY = 5.0
_EVENT_INTERVAL = 300.0


@dataclass(frozen=True, slots=True)
class Resources:
    """CPU cores, bytes of memory and number of pods."""

    cpu: float = 0.0
    memory: float = 0.0
    pods: int = 0

    def __add__(self, other: "Resources") -> "Resources":
        cpu, memory = self.cpu + other.cpu, self.memory + other.memory
        return Resources(cpu, memory, self.pods + other.pods)

    def __sub__(self, other: "Resources") -> "Resources":
        cpu, memory = self.cpu - other.cpu, self.memory - other.memory
        return Resources(cpu, memory, self.pods - other.pods)


def requested(pod: Obj) -> Resources:
    containers = list(dicts(dig(pod, "spec.containers")))
    requests = [dig(container, "resources.requests") or {} for container in containers]
    cpu = sum(parse_quantity(one.get("cpu", 0)) for one in requests)
    return Resources(cpu, sum(parse_quantity(one.get("memory", 0)) for one in requests), 1)


def tolerates(spec: Obj, taint: Obj) -> bool:
    """Return True if pods with this spec tolerate the taint."""
    if taint.get("effect") == "PreferNoSchedule":
        return True
    for one in dicts(spec.get("tolerations")):
        key_fits = one.get("key") in (None, "", taint["key"])
        effect_fits = one.get("effect") in (None, "", taint.get("effect"))
        exists = one.get("operator") == "Exists"
        value_fits = exists or one.get("value", "") == taint.get("value", "")
        if key_fits and effect_fits and value_fits and (exists or one.get("key")):
            return True
    return False


class Scheduler(Controller):
    """Schedule pods. The total requests per node are cached, so that a pod is compared once per
    node.
    """

    name, collection = "scheduler", "pods"

    def __init__(self, objects: Objects) -> None:
        super().__init__(objects)
        self._recorder = Recorder(objects)
        self._used: dict[str, Resources] = {}
        self._next_event: dict[str, float] = {}
        self._placed: dict[str, tuple[str, Resources]] = {}
        for record in self.store.collection("pods").records_in():
            self._count(record)

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        if collection != "pods":
            return ()
        if change.kind == "DELETED":
            self._forget(change.new.key)
            self._next_event.pop(change.new.uid, None)
            return ()
        self._count(change.new)
        waiting = not change.new.fields["spec.nodeName"] and not change.new.deleting
        # The scheduler's own status update must not trigger another attempt.
        return (change.new.key,) if waiting and change.kind == "ADDED" else ()

    def _count(self, record: Record) -> None:
        node = record.fields["spec.nodeName"]
        ended = phase(record) in ("Succeeded", "Failed")
        held = self._placed.get(record.key)
        if node and not ended:
            if held is None:
                amount = requested(record.load())
                self._placed[record.key] = (node, amount)
                self._used[node] = self._used.get(node, Resources()) + amount
        elif held:
            self._forget(record.key)

    def _forget(self, key: str) -> None:
        held = self._placed.pop(key, None)
        if held:
            self._used[held[0]] = self._used[held[0]] - held[1]

    def reconcile(self, key: str) -> float | None:
        record = self.find(key)
        nodes = self.store.collection("nodes").records_in()
        if record is None or record.deleting or record.fields["spec.nodeName"] or not nodes:
            return _RETRY if record and not nodes and not record.deleting else None
        pod = record.load()
        if dig(pod, "spec.schedulingGates"):
            return _RETRY
        fitting: list[tuple[float, str]] = []
        reasons: Counter[str] = Counter()
        wanted = requested(pod)
        for node in nodes:
            reason, load = self._evaluate(node, pod, wanted)
            if reason:
                reasons[reason] += 1
            else:
                fitting.append((load, node.name))
        if not fitting:
            self._report(record, pod, reasons, len(nodes))
            return _RETRY
        self._bind(record, pod, min(fitting)[1])
        return None

    def _evaluate(self, record: Record, pod: Obj, wanted: Resources) -> tuple[str, float]:
        """Return the reason why the pod does not fit (or an empty string), and the resulting load
        of the node.
        """
        node, spec = record.load(), pod["spec"]
        selector = spec.get("nodeSelector") or {}
        if not selector.items() <= record.labels.items():
            return "node(s) didn't match Pod's node affinity/selector", 0.0
        if dig(node, "spec.unschedulable"):
            return "node(s) were unschedulable", 0.0
        for taint in dicts(dig(node, "spec.taints")):
            if not tolerates(spec, taint):
                value = taint.get("value", "")
                return f"node(s) had untolerated taint {{{taint['key']}: {value}}}", 0.0
        room = dig(node, "status.allocatable") or {}
        after = self._used.get(record.name, Resources()) + wanted
        cpu, memory = parse_quantity(room.get("cpu", 4)), parse_quantity(room.get("memory", "16Gi"))
        if after.pods > parse_quantity(room.get("pods", 110)):
            return "Too many pods", 0.0
        if after.cpu > cpu:
            return "Insufficient cpu", 0.0
        if after.memory > memory:
            return "Insufficient memory", 0.0
        # Pods without requests are spread by the number of pods.
        return "", after.cpu / cpu + after.memory / memory + after.pods / 110

    def _bind(self, record: Record, pod: Obj, node: str) -> None:
        def mutate(found: Obj) -> Obj:
            bind_pod(found, node)
            return found

        bind(self.objects, record.namespace, record.name, mutate)
        text = f"Successfully assigned {record.key} to {node}"
        self._recorder.record("v1", "Pod", pod, "Normal", "Scheduled", text, "default-scheduler")

    def _report(self, record: Record, pod: Obj, reasons: Counter[str], nodes: int) -> None:
        listed = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
        text = (
            f"0/{nodes} nodes are available: {listed}. preemption: 0/{nodes} nodes are available: "
            f"{nodes} Preemption is not helpful for scheduling."
        )
        one = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": text,
        }
        status = {**(pod.get("status") or {})}
        status["conditions"] = conditions_with(status.get("conditions"), timestamp(), one)
        self.set_status("pods", record, status)
        # Scheduling is retried often, but the event is recorded only every few minutes.
        if time.monotonic() < self._next_event.get(record.uid, 0.0):
            return
        self._next_event[record.uid] = time.monotonic() + _EVENT_INTERVAL
        self._recorder.record(
            "v1", "Pod", pod, "Warning", "FailedScheduling", text, "default-scheduler"
        )
