"""Realistic pods: about 10 KB of JSON each, similar within a workload and otherwise varied.

Everything about pod number `i` is derived from `i` (and its status from a generation), so
several processes create the same pods without communication.
"""

import hashlib
from dataclasses import dataclass
from random import Random
from typing import Any

NAMESPACES = 200
#: Pods per workload, with consecutive numbers.
REPLICAS = 5
PODS_PER_NODE = 50

_APPS = (
    "checkout", "catalog", "gateway", "ledger", "search", "session", "mailer", "invoice", "basket",
    "profile", "pricing", "stock", "shipping", "reviews", "uploads", "metrics", "archive", "audit",
)  # fmt: skip
_TIERS = ("frontend", "backend", "batch", "data")
_TEAMS = ("payments", "platform", "growth", "search", "logistics")
_SIDECARS = ("proxy",)
_OWNERS = ("ReplicaSet", "ReplicaSet", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod of the benchmark, derived from its number."""

    number: int

    @property
    def workload(self) -> int:
        return self.number // REPLICAS

    @property
    def namespace(self) -> str:
        return namespace_name(self.workload % NAMESPACES)

    @property
    def app(self) -> str:
        return f"{_APPS[self.workload % len(_APPS)]}-{self.workload // NAMESPACES}"

    @property
    def name(self) -> str:
        return f"{self.app}-{_digest('rs', self.workload)[:9]}-{_digest('pod', self.number)[:5]}"

    @property
    def part(self) -> int:
        """Part 0 to 9, used to select tenths of the pods."""
        return self.workload % 10

    @property
    def node(self) -> int:
        """Node number from 1. The pods of a workload are on different nodes."""
        return self.number * 7919 % max(1, self.number // PODS_PER_NODE + 1) + 1

    def manifest(self) -> dict[str, Any]:
        """Return the manifest that a controller would create, bound to a node."""
        random = Random(self.workload)  # noqa: S311
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": self._metadata(random),
            "spec": self._spec(random),
        }

    def containers(self) -> list[str]:
        """Names of the containers in manifest order."""
        return ["app", *_SIDECARS[: self.workload % 3 % 2]]

    @property
    def migrates(self) -> bool:
        """True if the pod has an init container."""
        return self.workload % 4 == 0

    def _metadata(self, random: Random) -> dict[str, Any]:
        owner = random.choice(_OWNERS)
        digest = _digest("rs", self.workload)
        own = {"statefulset.kubernetes.io/pod-name": self.name} if owner == "StatefulSet" else {}
        return {
            "name": self.name,
            "namespace": self.namespace,
            "labels": {
                "app.kubernetes.io/name": self.app,
                "app.kubernetes.io/instance": f"{self.app}-{self.workload % 7}",
                "app.kubernetes.io/version": f"1.{self.workload % 23}.{self.workload % 5}",
                "app.kubernetes.io/managed-by": "Helm",
                "tier": random.choice(_TIERS),
                "team": random.choice(_TEAMS),
                "pod-template-hash": digest[:9],
                "part": str(self.part),
                **own,
            },
            "annotations": {
                "checksum/config": _digest("config", self.workload),
                "checksum/secret": _digest("secret", self.workload),
                "prometheus.io/scrape": "true",
                "prometheus.io/port": "9090",
                "kubectl.kubernetes.io/restartedAt": "2026-05-11T08:15:00Z",
            },
            "ownerReferences": [
                {
                    "apiVersion": "batch/v1" if owner == "Job" else "apps/v1",
                    "kind": owner,
                    "name": f"{self.app}-{digest[:9]}",
                    "uid": uuid_of("owner", self.workload),
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        }

    def _spec(self, random: Random) -> dict[str, Any]:
        return {
            "nodeName": node_name(self.node),
            "serviceAccountName": "default",
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "priority": 0,
            "securityContext": {"runAsNonRoot": True, "runAsUser": 10001, "fsGroup": 10001},
            "initContainers": [_init_container(self)] if self.migrates else [],
            "containers": [
                _container(self, name, index, random)
                for index, name in enumerate(self.containers())
            ],
            "volumes": _volumes(self),
            "affinity": _affinity(self),
            "tolerations": [
                {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute",
                 "tolerationSeconds": 300}
                for key in ("not-ready", "unreachable")
            ],
        }  # fmt: skip


def namespace_name(number: int) -> str:
    return f"team-{number:03}"


def node_name(number: int) -> str:
    """Return the name that the control plane's fixture gives to node `number`."""
    return f"node-{number:04}"


def uuid_of(*parts: object) -> str:
    text = _digest(*parts)
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:32]}"


def image_of(pod: Pod, container: str) -> str:
    name = pod.app if container == "app" else container
    return f"registry.example.com/shop/{name}:1.{pod.workload % 23}.{pod.workload % 5}"


def _digest(*parts: object) -> str:
    return hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()


def _mounts() -> list[dict[str, Any]]:
    return [
        {"name": "config", "mountPath": "/etc/app", "readOnly": True},
        {"name": "cache", "mountPath": "/var/cache/app"},
        {"name": "kube-api-access", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
         "readOnly": True},
    ]  # fmt: skip


def _init_container(pod: Pod) -> dict[str, Any]:
    return {
        "name": "migrate",
        "image": image_of(pod, "app"),
        "command": ["/bin/app", "migrate", "--wait", "--timeout=60s"],
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}},
        "volumeMounts": _mounts(),
    }


def _container(pod: Pod, name: str, index: int, random: Random) -> dict[str, Any]:
    port = 8080 + index
    return {
        "name": name,
        "image": image_of(pod, name),
        "args": [f"--listen=:{port}", "--log-format=json", f"--shard={pod.workload % 16}"],
        "ports": [{"name": f"http-{index}", "containerPort": port, "protocol": "TCP"}],
        "env": _environment(pod, random),
        "resources": {
            "requests": {"cpu": f"{random.choice((50, 100, 250))}m", "memory": "128Mi"},
            "limits": {"cpu": "1", "memory": f"{random.choice((256, 512, 1024))}Mi"},
        },
        "livenessProbe": _probe("/livez", port),
        "readinessProbe": _probe("/readyz", port),
        "volumeMounts": _mounts(),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }


def _environment(pod: Pod, random: Random) -> list[dict[str, Any]]:
    plain = [
        {"name": f"{key}_{suffix}", "value": f"{key.lower()}.{pod.namespace}.svc:{port}"}
        for key, port in (("DATABASE", 5432), ("QUEUE", 5672), ("CACHE", 6379))
        for suffix in ("ADDRESS", "FALLBACK")[: random.choice((1, 2))]
    ]
    return [
        *plain,
        {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": pod.app, "key": "password"}}},
    ]


def _probe(path: str, port: int) -> dict[str, Any]:
    return {
        "httpGet": {"path": path, "port": port, "scheme": "HTTP"},
        "initialDelaySeconds": 5,
        "periodSeconds": 10,
        "timeoutSeconds": 2,
    }


def _volumes(pod: Pod) -> list[dict[str, Any]]:
    token = {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}
    authority = {
        "configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
    }
    return [
        {"name": "config", "configMap": {"name": f"{pod.app}-config"}},
        {"name": "cache", "emptyDir": {"sizeLimit": "1Gi"}},
        {"name": "kube-api-access", "projected": {"sources": [token, authority]}},
    ]


def _affinity(pod: Pod) -> dict[str, Any]:
    term = {
        "labelSelector": {"matchLabels": {"app.kubernetes.io/name": pod.app}},
        "topologyKey": "kubernetes.io/hostname",
    }
    preferred = [{"weight": 100, "podAffinityTerm": term}]
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
