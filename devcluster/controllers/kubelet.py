"""Simulated kubelet of all nodes: moves pods through their lifecycle with the statuses of a real
one.

`behaviour.py` determines the behavior of a pod. Each reconciliation performs one step and
returns the time until the next one. All state is in the pod's status, so that the kubelet
continues after a restart.
"""

import ipaddress
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from math import inf

from devcluster.controllers.base import Controller
from devcluster.controllers.behaviour import Behaviour, behaviour_of
from devcluster.controllers.events import Recorder
from devcluster.controllers.pod_lifecycle import (
    crashed_status,
    debug_started_status,
    ended_status,
    pull_failure_status,
    ready_status,
    restarted_status,
    running_status,
    stuck_init_status,
    waiting_status,
    with_completed_init_containers,
)
from devcluster.controllers.pods import is_ready, phase
from devcluster.crud import Objects
from devcluster.objects import Obj, dicts, dig, meta, parse_time, timestamp
from devcluster.store import Change, Record, Store

# Minimum and maximum duration of a step, in seconds.
_QUICK = (0.2, 0.6)
_FALLBACK = "10.244.255.0/24"


class PodAddresses:
    """Allocate unique pod IPs from the range of the pod's node."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._used: set[str] = set()
        pods = store.collection("pods")
        for record in pods.records.values():
            self._used.add(record.fields["status.podIP"])
        pods.listeners.add(self._changed)

    def _changed(self, change: Change) -> None:
        if change.kind == "DELETED":
            self._used.discard(change.new.fields["status.podIP"])
        else:
            self._used.add(change.new.fields["status.podIP"])

    def next(self, record: Record) -> str:
        """Return a free address from the node's range, or from the cluster's range if it is
        exhausted.
        """
        node = self._store.find("nodes", record.fields["spec.nodeName"])
        text = (dig(node.load(), "spec.podCIDR") if node else "") or _FALLBACK
        for network in (ipaddress.ip_network(text), ipaddress.ip_network("10.244.0.0/16")):
            hosts = network.hosts()
            # The first address belongs to the bridge.
            next(hosts)
            for host in hosts:
                if str(host) not in self._used:
                    return str(host)
        return ""


class Kubelet(Controller):
    """Pod lifecycle controller.

    With `fast_forward`, short steps run immediately. It is used to create the sample data.
    """

    name, collection = "kubelet", "pods"

    def __init__(self, objects: Objects) -> None:
        super().__init__(objects)
        self._recorder = Recorder(objects)
        self._addresses = PodAddresses(self.store)
        self._due: dict[str, float] = {}
        self.fast_forward = False

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        if collection != self.collection:
            return ()
        if change.kind == "DELETED":
            self._due.pop(change.new.uid, None)
            return ()
        # Status writes by the kubelet are ignored, because the next step is already scheduled.
        placed = change.old is None or not change.old.fields["spec.nodeName"]
        ending = change.new.deleting and not (change.old and change.old.deleting)
        debugged = b'"ephemeralContainers"' in change.new.data
        return (change.new.key,) if placed or ending or debugged else ()

    def reconcile(self, key: str) -> float | None:
        record = self.find(key)
        if record is None or not record.fields["spec.nodeName"]:
            return None
        node = self.find(record.fields["spec.nodeName"], "nodes")
        if node is None:
            return None
        pod = record.load()
        if record.deleting:
            return self._terminate(record, pod)
        fresh = debug_started_status(pod, timestamp())
        if fresh is not None:
            self._put(record, fresh)
            return 0.0
        now = time.monotonic()
        due = self._due.get(record.uid, 0.0)
        if now < due and not self.fast_forward:
            return due - now
        after = self._step(record, pod, node.load())
        if after is None:
            self._due.pop(record.uid, None)
            return None
        self._due[record.uid] = now + after
        return after

    def _terminate(self, record: Record, pod: Obj) -> float | None:
        """Stop the containers after a short delay, then remove the pod."""
        marked = f"{record.uid}/end"
        if behaviour_of(pod).never_ends or meta(pod).get("finalizers"):
            return None
        if marked not in self._due and not self.fast_forward:
            grace = float(meta(pod).get("deletionGracePeriodSeconds") or 0)
            after = min(grace, _spread(record.uid, 0.4, 1.2))
            self._due[marked] = time.monotonic() + after
            self._event(pod, "Normal", "Killing", f"Stopping container {_first(pod)}")
            return after
        left = self._due.get(marked, 0.0) - time.monotonic()
        if left > 0 and not self.fast_forward:
            return left
        self._due.pop(marked, None)
        self.delete("pods", record, 0)
        return None

    def _step(self, record: Record, pod: Obj, node: Obj) -> float | None:
        """Perform one lifecycle step. Return the seconds until the next step, or None."""
        if phase(record) in ("Succeeded", "Failed"):
            return None
        behaviour = behaviour_of(pod)
        if not dig(pod, "status.startTime"):
            return self._admit(record, pod, node)
        if behaviour.stuck_init:
            if (stuck := stuck_init_status(pod)) != pod.get("status"):
                self._put(record, stuck)
            return None
        if behaviour.pull_fails:
            return self._fail_pull(record, pod)
        states = dig(pod, "status.containerStatuses") or []
        started = all(dig(one, "state.running") for one in states)
        if not started and not any(one.get("lastState") for one in states):
            return self._run(record, pod)
        return self._live(record, pod, behaviour, started=started)

    def _admit(self, record: Record, pod: Obj, node: Obj) -> float:
        now = timestamp()
        status = waiting_status(pod, now)
        held = dicts(dig(node, "status.addresses"))
        address = next((a["address"] for a in held if a["type"] == "InternalIP"), "")
        status |= {"hostIP": address, "hostIPs": [{"ip": address}], "startTime": now}
        self._put(record, status)
        image = pod["spec"]["containers"][0]["image"]
        text = f'Pulling image "{image}"'
        self._event(pod, "Normal", "Pulling", text, _first(pod))
        return _spread(record.uid, *_QUICK)

    def _run(self, record: Record, pod: Obj) -> float:
        host = bool(pod["spec"].get("hostNetwork"))
        address = dig(pod, "status.podIP") or (
            dig(pod, "status.hostIP") if host else self._addresses.next(record)
        )
        status = running_status(with_completed_init_containers(pod), timestamp())
        status |= {"podIP": address, "podIPs": [{"ip": address}]}
        self._put(record, status)
        self._event(pod, "Normal", "Started", f"Started container {_first(pod)}", _first(pod))
        return _spread(record.uid, *_QUICK)

    def _live(
        self, record: Record, pod: Obj, behaviour: Behaviour, *, started: bool
    ) -> float | None:
        """Handle a started pod: make it ready, terminate it, or crash and restart it."""
        if behaviour.crashes:
            return self._crash_or_restart(record, pod, behaviour, started=started)
        if behaviour.never_ready:
            text = "Readiness probe failed: HTTP probe failed with statuscode: 503"
            self._event(pod, "Warning", "Unhealthy", text, _first(pod))
            return 60.0
        if behaviour.runs_for is not None and is_ready(pod):
            self._put(record, ended_status(pod, behaviour.exit_code, timestamp()))
            return None
        if not started:
            self._put(record, restarted_status(pod, timestamp()))
            return _spread(record.uid, *_QUICK)
        if not is_ready(pod):
            self._put(record, ready_status(pod, timestamp()))
            return 0.0 if self.fast_forward and behaviour.runs_for else behaviour.runs_for
        return None

    def _crash_or_restart(
        self, record: Record, pod: Obj, behaviour: Behaviour, *, started: bool
    ) -> float:
        counts = [int(s.get("restartCount", 0)) for s in dig(pod, "status.containerStatuses")]
        count = max(counts, default=0)
        if started:
            self._put(record, crashed_status(pod, behaviour, timestamp()))
            container = _first(pod)
            text = f"Back-off restarting failed container {container} in pod {record.name}"
            self._event(pod, "Warning", "BackOff", text, container)
            return _back_off(count)
        if (left := _back_off(count) - _since_end(pod)) > 0:
            return left
        self._put(record, restarted_status(pod, timestamp()))
        return _spread(record.uid, 4.0, 12.0)

    def _fail_pull(self, record: Record, pod: Obj) -> float:
        container = pod["spec"]["containers"][0]
        image = container["image"]
        self._put(record, pull_failure_status(pod, image))
        text = f'Failed to pull image "{image}": not found'
        self._event(pod, "Warning", "Failed", text, container["name"])
        return 120.0

    def kill_container(self, record: Record) -> None:
        """Kill one container of a running pod and restart it, as after a failed liveness probe."""
        pod = record.load()
        behaviour = Behaviour(crashes=True, exit_code=137, reason="Error")
        self._put(record, crashed_status(pod, behaviour, timestamp(), backing_off=False))
        self._due[record.uid] = time.monotonic() + 1.0

    def _put(self, record: Record, status: Obj) -> None:
        held = self.find(record.key)
        if held and held.uid == record.uid:
            status["observedGeneration"] = meta(held.load()).get("generation", 1)
            self.set_status(self.collection, held, status)

    def _event(self, pod: Obj, kind: str, reason: str, text: str, container: str = "") -> None:
        if self.fast_forward:
            return
        self._recorder.record(
            "v1",
            "Pod",
            pod,
            kind,
            reason,
            text,
            "kubelet",
            field_path=f"spec.containers{{{container}}}" if container else "",
            host=pod["spec"].get("nodeName", ""),
        )


def _first(pod: Obj) -> str:
    return str(pod["spec"]["containers"][0]["name"])


def _back_off(restarts: int) -> float:
    """Return the restart delay in seconds, as in a real kubelet: 10, doubled each time, up to 300."""
    return float(min(300, 10 << min(restarts, 5)))


def _since_end(pod: Obj) -> float:
    """Return the seconds since the last container terminated."""
    states = dicts(dig(pod, "status.containerStatuses"))
    ends = [str(end) for one in states if (end := dig(one, "lastState.terminated.finishedAt"))]
    return (datetime.now(UTC) - max(map(parse_time, ends))).total_seconds() if ends else inf


def _spread(uid: str, low: float, high: float) -> float:
    """Return a duration between `low` and `high` that depends only on the pod's UID."""
    return low + (high - low) * (int(uid[:4], 16) / 0xFFFF)
