"""Find the requests that kube-apiserver refused because of a quota share, and decide which of them
still count.

Events report objects that could not be created. Conditions of ReplicaSets report the same,
because Kubernetes drops events when there are many. Both count while the workload has too few
pods.
"""

import heapq
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

import msgspec

from console.kube.clock import Clock
from console.kube.gvr import (
    DAEMON_SETS,
    EVENTS,
    GVR,
    JOBS,
    REPLICA_SETS,
    STATEFUL_SETS,
    Key,
)
from console.kube.indexes import Index
from console.kube.informer import Informer
from console.kube.projections.apps import ReplicaSet
from console.kube.projections.event import Event
from console.kube.quantity import Amounts
from console.kube.runtime import Runtime
from console.kube.store import Entry
from workspaces.quota_allocation import RefusedNeed
from workspaces.refused_requests import (
    MIN_VALIDITY,
    REASONS,
    Refusal,
    amounts_in,
    mentions_share,
    needs_of,
    quota_error_part,
)

Manifest = Mapping[str, Any]

WORKLOADS: Mapping[str, GVR] = MappingProxyType(
    {
        "ReplicaSet.apps": REPLICA_SETS,
        "StatefulSet.apps": STATEFUL_SETS,
        "DaemonSet.apps": DAEMON_SETS,
        "Job.batch": JOBS,
    }
)

#: Maximum number of events per project that are read, newest first. Every user who may create
#: events can create many.
_MOST = 200


class RefusedRequests:
    """Refused requests by project, updated from watches."""

    def __init__(self, runtime: Runtime) -> None:
        self._clock: Clock = runtime.clock
        self._informers: dict[GVR, Informer[Any]] = {
            gvr: runtime.informer(gvr) for gvr in (EVENTS, *WORKLOADS.values())
        }
        self._reporting = {
            gvr: Index(self._informers[gvr].store, projects_of)
            for gvr, projects_of in _PROJECTS_OF.items()
        }
        # The workloads whose refusals counted when a project was last checked, and the projects
        # that needed resources.
        self._waiting: dict[str, frozenset[tuple[GVR, str]]] = {}
        self._needy: set[str] = set()

    def needs(self, project: str, used: Amounts) -> Mapping[str, tuple[RefusedNeed, ...]]:
        """Return the amounts that the project was refused, in addition to its usage."""
        waiting: set[tuple[GVR, str]] = set()
        refusals = list(self._of(project, waiting))
        if waiting:
            self._waiting[project] = frozenset(waiting)
        else:
            self._waiting.pop(project, None)
        found = needs_of(refusals, used, self._clock.now().timestamp())
        if found:
            self._needy.add(project)
        else:
            self._needy.discard(project)
        return found

    def needs_resources(self, project: str) -> bool:
        """Return True if the project needed resources when it was last checked."""
        return project in self._needy

    def reports_refusal(self, gvr: GVR, key: Key) -> bool:
        """Return True if the object reports a refused request, or did so when it was last checked."""
        if (gvr, key.name) in self._waiting.get(key.namespace, ()):
            return True
        projects_of = _PROJECTS_OF.get(gvr)
        entry = self._informers[gvr].store.get(key)
        return projects_of is not None and entry is not None and bool(projects_of(entry))

    def _of(self, project: str, waiting: set[tuple[GVR, str]]) -> Iterator[Refusal]:
        now = self._clock.now().timestamp()
        for entry in heapq.nlargest(_MOST, self._reporting[EVENTS].get(project), key=_moment):
            event: Event = entry.projection
            kind, _, name = event.about.partition("/")
            gvr = WORKLOADS.get(kind)
            if gvr is not None:
                if not self._lacks_pods(kind, Key(project, name), event.about_uid):
                    continue
                waiting.add((gvr, name))
            requested, then = amounts_in(event.message)
            # The creation time is set by kube-apiserver. The other timestamps are set by the writer
            # of the event.
            first = min(_seconds(event.created, now), now)
            last = _seconds(event.last, first)
            # Clocks may differ by less than `MIN_VALIDITY`.
            last = min(last, now) if first <= last <= now + MIN_VALIDITY else first
            if gvr is not None:
                yield Refusal(event.about_uid or event.about, requested, None, first, last)
            else:
                # Events without a workload are about single user requests.
                yield Refusal(f"Event/{entry.key.name}", requested, then, first, last)
        for entry in self._reporting[REPLICA_SETS].get(project):
            if not self._lacks_pods("ReplicaSet.apps", entry.key, entry.projection.uid):
                continue
            waiting.add((REPLICA_SETS, entry.key.name))
            for condition in _conditions(entry):
                # The message is that of the first refusal. The pod size has not changed since.
                requested, _used = amounts_in(condition.message)
                first = _seconds(condition.lastTransitionTime, now)
                yield Refusal(entry.projection.uid, requested, None, first, None)

    def _lacks_pods(self, kind: str, key: Key, uid: str) -> bool:
        informer = self._informers[WORKLOADS[kind]]
        entry = informer.store.get(key)
        if entry is None:
            return not informer.freshness.synced
        return entry.projection.uid == uid and lacks_pods(kind, entry.original())


class _Condition(msgspec.Struct):
    message: str = ""
    lastTransitionTime: datetime | None = None


def _conditions(entry: Entry[Any]) -> list[_Condition]:
    """Return the full conditions. The messages in the projection are truncated."""
    status = entry.original().get("status") or {}
    try:
        return msgspec.convert(status.get("conditions") or [], list[_Condition])
    except msgspec.ValidationError:
        return []


def _moment(entry: Entry[Event]) -> float:
    return _seconds(entry.projection.last, 0.0)


def _seconds(moment: datetime | None, otherwise: float) -> float:
    return moment.timestamp() if moment is not None else otherwise


def _project_of_event(entry: Entry[Event]) -> tuple[str, ...]:
    event = entry.projection
    return (event.namespace,) if event.reason in REASONS and quota_error_part(event.message) else ()


def _project_of_replica_set(entry: Entry[ReplicaSet]) -> tuple[str, ...]:
    return (entry.projection.namespace,) if mentions_share(entry.projection.status.reason) else ()


_PROJECTS_OF: Mapping[GVR, Callable[[Entry[Any]], tuple[str, ...]]] = MappingProxyType(
    {EVENTS: _project_of_event, REPLICA_SETS: _project_of_replica_set}
)


def lacks_pods(kind: str, manifest: Manifest) -> bool:
    """Return True if the workload has fewer pods than desired according to its status. Return True
    for unknown kinds.
    """
    if manifest["metadata"].get("deletionTimestamp"):
        return False
    lacks = _LACKS.get(kind)
    return lacks is None or lacks(manifest.get("spec") or {}, manifest.get("status") or {})


def _replicas(spec: Manifest, status: Manifest) -> bool:
    return _number(status, "replicas", 0) < _number(spec, "replicas", 1)


def _nodes(spec: Manifest, status: Manifest) -> bool:
    wanted = _number(status, "desiredNumberScheduled", 0)
    return _number(status, "currentNumberScheduled", 0) < wanted


def _job(spec: Manifest, status: Manifest) -> bool:
    if spec.get("suspend") or any(
        condition.get("type") in ("Complete", "Failed") and condition.get("status") == "True"
        for condition in status.get("conditions") or ()
    ):
        return False
    return _number(status, "active", 0) < _number(spec, "parallelism", 1)


def _number(part: Manifest, name: str, default: int) -> int:
    value = part.get(name)
    return value if isinstance(value, int) else default


_LACKS: Mapping[str, Callable[[Manifest, Manifest], bool]] = MappingProxyType(
    {
        "ReplicaSet.apps": _replicas,
        "StatefulSet.apps": _replicas,
        "DaemonSet.apps": _nodes,
        "Job.batch": _job,
    }
)
