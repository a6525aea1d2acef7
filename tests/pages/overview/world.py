"""A small cluster with one example of each problem, and a configurable metrics-server."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from console.kube.gvr import (
    CRON_JOBS,
    CUSTOM_RESOURCE_DEFINITIONS,
    DAEMON_SETS,
    DEPLOYMENTS,
    EVENTS,
    GVR,
    HORIZONTAL_POD_AUTOSCALERS,
    INGRESSES,
    JOBS,
    NAMESPACES,
    NODE_METRICS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    RESOURCE_QUOTAS,
    SERVICES,
    STATEFUL_SETS,
    STORAGE_CLASSES,
)
from console.kube.throttledreader import Chunks
from tests.support.informers import preloaded
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import NAMESPACE_NAMES, namespace, pod

Obj = dict[str, Any]
EVIL = "<script>alert(1)</script>\u202egnp"


def meta(name: str, namespace: str = "", **more: Any) -> Obj:
    found = {"name": name, "uid": f"u-{namespace}-{name}", "resourceVersion": "1", **more}
    found.setdefault("creationTimestamp", "2026-01-01T00:00:00Z")
    return {**found, "namespace": namespace} if namespace else found


def sized(item: Obj, cpu: str, memory: str, /, **limits: str) -> Obj:
    """Add requests and limits to the pod's only container."""
    requests = {"cpu": cpu, "memory": memory}
    item["spec"]["containers"][0]["resources"] = {"requests": requests, "limits": limits}
    return item


def node(name: str, *, cpu: str = "4", memory: str = "8Gi", ready: str = "True") -> Obj:
    conditions = [{"type": "Ready", "status": ready, "reason": "KubeletNotReady"}]
    amounts = {"cpu": cpu, "memory": memory, "pods": "110"}
    return {
        "metadata": meta(name),
        "spec": {},
        "status": {"conditions": conditions, "allocatable": amounts},
    }


def claim(name: str, namespace: str) -> Obj:
    """Return a claim with a storage class that does not exist."""
    return {
        "metadata": meta(name, namespace),
        "spec": {"storageClassName": "gone"},
        "status": {"phase": "Pending"},
    }


def pods() -> list[Obj]:
    """Return pods that request 1.5 cores and 1.5Gi in shop, 250m and 64Mi in team-a, and nothing
    counted in team-b.
    """
    ended = sized(pod("done", "team-b"), "4", "4Gi")
    ended["status"]["phase"] = "Succeeded"
    return [
        sized(pod("web-1", "shop", node="node-1"), "1", "1Gi", cpu="2", memory="2Gi"),
        sized(pod("web-2", "shop", node="node-2", waiting="CrashLoopBackOff"), "500m", "512Mi"),
        sized(pod("api-1", "team-a", node="node-1", waiting="ImagePullBackOff"), "250m", "64Mi"),
        pod("plain", "team-b", node="node-3"),
        ended,
    ]


def deployment(name: str, namespace: str, *, stuck: bool = False, created: str = "") -> Obj:
    reason = "ProgressDeadlineExceeded" if stuck else "NewReplicaSetAvailable"
    about = meta(name, namespace, **({"creationTimestamp": created} if created else {}))
    return {
        "metadata": about,
        "spec": {"replicas": 1},
        "status": {
            "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
            "conditions": [{"type": "Progressing", "status": str(not stuck), "reason": reason}],
        },
    }  # fmt: skip


def warning(name: str, namespace: str, last: str, *, about: str = "web-2") -> Obj:
    return {
        "metadata": meta(name, namespace),
        "type": "Warning",
        "reason": "BackOff",
        "message": f"Back-off restarting {EVIL}",
        "count": 12,
        "lastTimestamp": last,
        "involvedObject": {"kind": "Pod", "namespace": namespace, "name": about},
    }


def objects(now: str) -> dict[GVR, list[Obj]]:
    """Return the cluster's objects. `now` is the RFC 3339 time of the newest events."""
    failed = {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}
    quota = {"hard": {"requests.cpu": "10", "pods": "20"}, "used": {"requests.cpu": "9.5"}}
    return {
        PODS: pods(),
        NODES: [node("node-1"), node("node-2"), node("node-3", ready="False")],
        NAMESPACES: [namespace(name) for name in NAMESPACE_NAMES],
        DEPLOYMENTS: [
            deployment("web", "shop", stuck=True),
            deployment("api", "team-a", created=now),
        ],
        STATEFUL_SETS: [],
        DAEMON_SETS: [],
        CRON_JOBS: [],
        JOBS: [
            {"metadata": meta("import", "team-a"), "spec": {}, "status": {"conditions": [failed]}}
        ],
        SERVICES: [],
        INGRESSES: [],
        HORIZONTAL_POD_AUTOSCALERS: [],
        PERSISTENT_VOLUME_CLAIMS: [claim("data", "shop")],
        STORAGE_CLASSES: [],
        RESOURCE_QUOTAS: [{"metadata": meta("team", "team-a"), "status": quota}],
        EVENTS: [warning("w1", "shop", now), warning("w2", "team-b", now, about="plain")],
        CUSTOM_RESOURCE_DEFINITIONS: [],
    }


class Measuring:
    """A metrics-server. `answers` maps the plural of a type to objects, a response body, or an
    exception to raise.
    """

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.asked: list[str] = []

    @asynccontextmanager
    async def stream(
        self, gvr: GVR, namespace: str, params: Sequence[tuple[str, str]], *, read_timeout: float
    ) -> AsyncGenerator[Chunks, None]:
        self.asked.append(gvr.resource)
        answer = self.answers.get(gvr.resource, [])
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, list):
            kind = "NodeMetricsList" if gvr == NODE_METRICS else "PodMetricsList"
            answer = msgspec.json.encode({"kind": kind, "metadata": {}, "items": answer})
        yield _Content(answer)


class _Content:
    def __init__(self, body: bytes) -> None:
        self._body = body

    async def iter_any(self) -> AsyncIterator[bytes]:
        half = len(self._body) // 2
        for part in (self._body[:half], self._body[half:]):
            yield part


def node_usage(name: str, cpu: str, memory: str) -> Obj:
    return {"metadata": {"name": name}, "usage": {"cpu": cpu, "memory": memory}}


def pod_usage(namespace: str, name: str, *containers: tuple[str, str]) -> Obj:
    return {
        "metadata": {"name": name, "namespace": namespace},
        "containers": [
            {"name": f"c{at}", "usage": {"cpu": cpu, "memory": memory}}
            for at, (cpu, memory) in enumerate(containers)
        ],
    }


def measured() -> Measuring:
    """Return usage readings: nodes use 1.25 cores and 3Gi, pods 800m and 1088Mi."""
    return Measuring(
        nodes=[
            node_usage("node-1", "1000m", "2Gi"),
            node_usage("node-2", "250000000n", "1048576Ki"),
        ],
        pods=[
            pod_usage("shop", "web-1", ("500m", "512Mi"), ("100m", "512Mi")),
            pod_usage("team-a", "api-1", ("200m", "64Mi")),
        ],
    )


def make_runtime(now: str, metrics: Measuring | None = None) -> StaticRuntime:
    informers = {gvr: preloaded(gvr, found) for gvr, found in objects(now).items()}
    return StaticRuntime(informers, metrics=metrics)
