"""Objects around a workload's pods: up to `OTHERS` objects of the most frequent kinds.

Like pods, they are derived from the workload's number. Owner references have no UID, because the
server assigns it. Objects are created in order, so the UID of each owner is available when it is
needed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench.podspec import REPLICAS, Pod, namespace_name, node_name
from bench.podstatus import status_of
from console.kube import gvr as types
from console.kube.gvr import GVR

Obj = dict[str, Any]

#: Maximum objects per workload, without its pods.
OTHERS = 3 * REPLICAS
#: Number of workloads with all related objects. This is enough to measure the pages of all other
#: kinds; more objects would only increase the loading time.
SURROUNDED = 2000
#: A custom resource with one object per workload.
BACKUPS = GVR("bench.example.com", "v1", "backups")

_RBAC = "rbac.authorization.k8s.io"
_KINDS: dict[GVR, str] = {
    types.CONFIG_MAPS: "ConfigMap",
    types.SECRETS: "Secret",
    types.SERVICE_ACCOUNTS: "ServiceAccount",
    types.RESOURCE_QUOTAS: "ResourceQuota",
    types.SERVICES: "Service",
    types.EVENTS: "Event",
    types.PERSISTENT_VOLUME_CLAIMS: "PersistentVolumeClaim",
    types.ENDPOINT_SLICES: "EndpointSlice",
    types.INGRESSES: "Ingress",
    types.NETWORK_POLICIES: "NetworkPolicy",
    types.POD_DISRUPTION_BUDGETS: "PodDisruptionBudget",
    types.HORIZONTAL_POD_AUTOSCALERS: "HorizontalPodAutoscaler",
    types.ROLE_BINDINGS: "RoleBinding",
    types.DEPLOYMENTS: "Deployment",
    types.REPLICA_SETS: "ReplicaSet",
    types.STATEFUL_SETS: "StatefulSet",
    types.DAEMON_SETS: "DaemonSet",
    types.CONTROLLER_REVISIONS: "ControllerRevision",
    types.CRON_JOBS: "CronJob",
    types.JOBS: "Job",
    BACKUPS: "Backup",
}


@dataclass(frozen=True, slots=True)
class RelatedObject:
    """An object to create. `status` is written after the object, if it is set."""

    gvr: GVR
    body: Obj
    status: Obj | None = None


def custom_type() -> Obj:
    """Return the CRD of `BACKUPS`."""
    column = {"name": "Schedule", "type": "string", "jsonPath": ".spec.schedule"}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": BACKUPS.version, "served": True, "storage": True}
    return {
        "apiVersion": types.CUSTOM_RESOURCE_DEFINITIONS.group_version,
        "kind": "CustomResourceDefinition",
        "metadata": {"name": BACKUPS.qualified},
        "spec": {
            "group": BACKUPS.group,
            "scope": "Namespaced",
            "names": {"plural": BACKUPS.resource, "singular": "backup", "kind": "Backup"},
            "versions": [
                {
                    **version,
                    "schema": {"openAPIV3Schema": schema},
                    "additionalPrinterColumns": [column],
                }
            ],
        },
    }


def around_namespace(number: int) -> Iterator[RelatedObject]:
    """Yield the objects that controllers create in every namespace, and a quota."""
    namespace = namespace_name(number)
    authority = {"data": {"ca.crt": "-----BEGIN CERTIFICATE-----\n" + "QmVuY2g" * 200}}
    yield _other(types.CONFIG_MAPS, namespace, "kube-root-ca.crt", authority)
    yield _other(types.SERVICE_ACCOUNTS, namespace, "default", {})
    hard = {"requests.cpu": "100", "requests.memory": "200Gi", "pods": "500"}
    used = {"requests.cpu": "9", "requests.memory": "8Gi", "pods": "50"}
    status = {"hard": hard, "used": used}
    yield _other(types.RESOURCE_QUOTAS, namespace, "whole", {"spec": {"hard": hard}}, status)


def around(workload: int) -> Iterator[RelatedObject]:
    """Yield the objects of a workload, owners first. Beyond `SURROUNDED` workloads, yield only the
    pods' owners.
    """
    pods = [Pod(workload * REPLICAS + at) for at in range(REPLICAS)]
    return iter(_Around(workload, pods).objects())


class _Around:
    def __init__(self, workload: int, pods: list[Pod]) -> None:
        self._number = workload
        self._pods = pods
        pod = pods[0].manifest()
        self._app, self._namespace = pods[0].app, pods[0].namespace
        self._labels: dict[str, str] = {
            key: value
            for key, value in pod["metadata"]["labels"].items()
            if key.startswith("app.") or key in ("tier", "team")
        }
        self._match = {"app.kubernetes.io/name": self._app}
        self._owner = pod["metadata"]["ownerReferences"][0]
        spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
        self._template = {"metadata": {"labels": self._labels}, "spec": spec}

    def objects(self) -> list[RelatedObject]:
        made = {
            "ReplicaSet": self._deployment,
            "StatefulSet": self._stateful_set,
            "DaemonSet": self._daemon_set,
            "Job": self._cron_job,
        }[self._owner["kind"]]()
        if self._number >= SURROUNDED:
            return list(made)
        return [*made, *self._network(), *self._configuration(), self._rule(), *self._events()]

    # The workload: four objects

    def _deployment(self) -> Iterator[RelatedObject]:
        number = {"replicas": REPLICAS, "selector": {"matchLabels": self._match}}
        counts = {"replicas": REPLICAS, "readyReplicas": REPLICAS, "availableReplicas": REPLICAS}
        status = {
            **counts,
            "updatedReplicas": REPLICAS,
            "observedGeneration": 1,
            "conditions": [
                _condition("Available", "MinimumReplicasAvailable"),
                _condition("Progressing", "NewReplicaSetAvailable"),
            ],
        }
        spec = {**number, "template": self._template}
        yield self._made(types.DEPLOYMENTS, self._app, {"spec": spec}, status)
        owner = _owner("Deployment", self._app)
        for revision in (3, 2, 1):
            name = self._owner["name"] if revision == 3 else f"{self._app}-before-{revision}"
            spec = {**spec, "replicas": REPLICAS if revision == 3 else 0}
            yield self._made(
                types.REPLICA_SETS,
                name,
                {"spec": spec},
                {**counts, "observedGeneration": 1} if revision == 3 else None,
                owner=owner,
                annotations={"deployment.kubernetes.io/revision": str(revision)},
            )

    def _stateful_set(self) -> Iterator[RelatedObject]:
        name = self._owner["name"]
        spec = {
            "replicas": REPLICAS,
            "serviceName": self._app,
            "selector": {"matchLabels": self._match},
            "template": self._template,
        }
        status = {"replicas": REPLICAS, "readyReplicas": REPLICAS, "observedGeneration": 1}
        yield self._made(types.STATEFUL_SETS, name, {"spec": spec}, status)
        for at in range(3):
            claim = {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "standard",
                "volumeName": f"pv-{self._number}-{at}",
                "resources": {"requests": {"storage": "10Gi"}},
            }
            bound = {"phase": "Bound", "capacity": {"storage": "10Gi"}}
            claimed = f"data-{name}-{at}"
            yield self._made(types.PERSISTENT_VOLUME_CLAIMS, claimed, {"spec": claim}, bound)

    def _daemon_set(self) -> Iterator[RelatedObject]:
        name = self._owner["name"]
        spec = {"selector": {"matchLabels": self._match}, "template": self._template}
        status = {
            "desiredNumberScheduled": REPLICAS,
            "currentNumberScheduled": REPLICAS,
            "numberReady": REPLICAS,
            "numberAvailable": REPLICAS,
            "numberMisscheduled": 0,
            "observedGeneration": 1,
        }
        yield self._made(types.DAEMON_SETS, name, {"spec": spec}, status)
        owner = _owner("DaemonSet", name)
        for revision in (1, 2, 3):
            body = {"revision": revision, "data": {"spec": {"template": self._template}}}
            kept = f"{name}-{revision}"
            yield self._made(types.CONTROLLER_REVISIONS, kept, body, owner=owner)

    def _cron_job(self) -> Iterator[RelatedObject]:
        # A Job template must have the restart policy Never or OnFailure.
        template = {**self._template, "spec": {**self._template["spec"], "restartPolicy": "Never"}}
        spec = {"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": template}}}
        yield self._made(types.CRON_JOBS, self._app, {"spec": spec})
        owner = _owner("CronJob", self._app)
        for run in range(3):
            name = self._owner["name"] if run == 2 else f"{self._app}-{run}"
            yield self._made(
                types.JOBS, name, {"spec": {"template": template}}, {"active": 1}, owner=owner
            )

    # Related objects: eleven

    def _network(self) -> Iterator[RelatedObject]:
        port = {"name": "http", "port": 80, "targetPort": 8080}
        service = {"selector": self._match, "ports": [port]}
        yield self._made(types.SERVICES, self._app, {"spec": service})
        endpoints = [
            {
                "addresses": [status_of(pod)["podIP"]],
                "conditions": {"ready": True},
                "nodeName": node_name(pod.node),
                "targetRef": {"kind": "Pod", "name": pod.name, "namespace": pod.namespace},
            }
            for pod in self._pods
        ]
        slice_ = {
            "addressType": "IPv4",
            "ports": [{"name": "http", "port": 8080}],
            "endpoints": endpoints,
        }
        yield self._made(
            types.ENDPOINT_SLICES,
            f"{self._app}-x7k2p",
            slice_,
            owner=_owner("Service", self._app),
            labels={"kubernetes.io/service-name": self._app},
        )

    def _configuration(self) -> Iterator[RelatedObject]:
        settings = {"app.yaml": f"shard: {self._number}\n" + "setting: value\n" * 60}
        yield self._made(types.CONFIG_MAPS, f"{self._app}-config", {"data": settings})
        yield self._made(types.CONFIG_MAPS, f"{self._app}-flags", {"data": {"flags": "a=1,b=2"}})
        yield self._made(types.SECRETS, self._app, {"stringData": {"password": "p" * 40}})
        yield self._made(types.SERVICE_ACCOUNTS, self._app, {})
        role = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "view"}
        subject = {"kind": "ServiceAccount", "name": self._app, "namespace": self._namespace}
        binding = {"roleRef": role, "subjects": [subject]}
        yield self._made(types.ROLE_BINDINGS, f"{self._app}-view", binding)
        backup = {"spec": {"schedule": "0 3 * * *", "of": self._app, "keep": 7}}
        yield self._made(BACKUPS, self._app, backup)

    def _rule(self) -> RelatedObject:
        """Return one of four kinds of objects, in turn."""
        selector = {"matchLabels": self._match}
        backend = {"service": {"name": self._app, "port": {"name": "http"}}}
        path = {"path": "/", "pathType": "Prefix", "backend": backend}
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": self._app}
        host = f"{self._app}.{self._namespace}.example.com"
        gvr, spec = (
            (types.POD_DISRUPTION_BUDGETS, {"minAvailable": 1, "selector": selector}),
            (types.INGRESSES, {"rules": [{"host": host, "http": {"paths": [path]}}]}),
            (types.NETWORK_POLICIES, {"podSelector": selector, "policyTypes": ["Ingress"]}),
            (types.HORIZONTAL_POD_AUTOSCALERS, {"scaleTargetRef": target, "maxReplicas": 9}),
        )[self._number % 4]
        return self._made(gvr, self._app, {"spec": spec})

    def _events(self) -> Iterator[RelatedObject]:
        about = ((self._pods[0], "BackOff", "Warning"), (self._pods[1], "Started", "Normal"))
        for pod, reason, kind in about:
            involved = {"apiVersion": "v1", "kind": "Pod", "name": pod.name}
            event = {
                "involvedObject": {**involved, "namespace": pod.namespace},
                "reason": reason,
                "message": f"{reason}: container app of {pod.name}",
                "type": kind,
                "count": 1 + self._number % 30,
                "firstTimestamp": "2026-05-11T08:15:00Z",
                "lastTimestamp": "2026-05-11T09:15:00Z",
                "source": {"component": "kubelet", "host": node_name(pod.node)},
            }
            yield _other(types.EVENTS, self._namespace, f"{pod.name}.{reason.lower()}", event)

    def _made(
        self,
        gvr: GVR,
        name: str,
        body: Obj,
        status: Obj | None = None,
        *,
        owner: Obj | None = None,
        **meta: dict[str, str],
    ) -> RelatedObject:
        made = _other(gvr, self._namespace, name, body, status)
        metadata = made.body["metadata"]
        metadata |= {**meta, "labels": {**self._labels, **meta.get("labels", {})}}
        metadata |= {"ownerReferences": [owner]} if owner else {}
        return made


def _other(
    gvr: GVR, namespace: str, name: str, body: Obj, status: Obj | None = None
) -> RelatedObject:
    metadata = {"name": name, "namespace": namespace}
    head = {"apiVersion": gvr.group_version, "kind": _KINDS[gvr], "metadata": metadata}
    return RelatedObject(gvr, {**head, **body}, status)


def _owner(kind: str, name: str) -> Obj:
    group = {"CronJob": "batch/v1", "Service": "v1"}.get(kind, "apps/v1")
    return {"apiVersion": group, "kind": kind, "name": name, "controller": True}


def _condition(kind: str, reason: str) -> Obj:
    when = "2026-05-11T08:16:00Z"
    return {
        "type": kind,
        "status": "True",
        "reason": reason,
        "message": "",
        "lastUpdateTime": when,
        "lastTransitionTime": when,
    }
