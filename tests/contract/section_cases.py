"""Sections of edit forms, with input and the expected change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from console.kube import gvr as types
from console.kube.gvr import GVR
from tests.contract.action_cases import READY
from tests.contract.client import Obj
from tests.contract.objects import deployment
from tests.contract.workloads import cron_job, daemon_set, stateful_set

GONE: Any = object()
Values = Mapping[str, str]


@dataclass(frozen=True)
class SectionCase:
    """A section of the form that edits `body`.

    - `acts`: buttons to press before, with the fields that are filled in first. `typed`: further
      fields. `expected`: the changed values by path. The first one can also be changed to `rival`.
    - `wrong`: a field, a wrong value and the message.
    - `command`: start of the kubectl command.
    """

    gvr: GVR
    section: str
    body: Obj
    typed: Values
    expected: Mapping[str, Any]
    rival: Any
    wrong: tuple[str, str, str]
    acts: Sequence[tuple[str, Values]] = ()
    command: str = "kubectl patch"

    def __str__(self) -> str:
        return f"{self.gvr.resource}-{self.section}"


NAME = {"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}
HEADERS = [{"name": "X-Probe", "value": "yes"}]
SECRET = {"secretKeyRef": {"name": "db", "key": "password", "optional": True}}
#: Contains fields that no form shows, which must be kept.
PODS = {
    "volumes": [
        {"name": "config", "configMap": {"name": "look", "defaultMode": 256}},
        {"name": "data", "emptyDir": {}},
        {"name": "info", "downwardAPI": {"items": [NAME]}},
    ],
    "containers": [
        {
            "name": "app",
            "image": "example/a:1",
            "ports": [{"containerPort": 80, "name": "web"}],
            "env": [
                {"name": "MODE", "value": "fast"},
                {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
                {"name": "PASSWORD", "valueFrom": SECRET},
                {"name": "TEXT", "value": " two\n lines $(MODE) "},
                {"name": "BELL", "value": "a\u0007b"},
            ],
            "resources": {
                "limits": {"memory": "128Mi", "example.com/gpu": "1"},
                "requests": {"cpu": "100m", "memory": "64Mi", "example.com/gpu": "1"},
            },
            "readinessProbe": {"httpGet": {"path": "/ready", "port": "web", "httpHeaders": HEADERS}},
            "volumeMounts": [
                {"name": "config", "mountPath": "/etc/app", "readOnly": True},
                {"name": "data", "mountPath": "/data", "mountPropagation": "None"},
            ],
        },
        {"name": "log", "image": "example/b:1"},
    ],
    "initContainers": [{"name": "init", "image": "example/c:1"}],
}  # fmt: skip


def _with_pods(body: Obj) -> Obj:
    spec = body["spec"]
    job = spec.get("jobTemplate", {}).get("spec", spec)
    job["template"]["spec"] |= PODS
    return body


WEB = _with_pods(deployment("web", "example/zero:1"))
P = "spec.template.spec"
SET_IMAGE = SectionCase(
    types.DEPLOYMENTS,
    "set-image",
    WEB,
    {"containers.0.image": "example/a:2;it's", "initContainers.0.image": "example/c:2"},
    {f"{P}.containers.0.image": "example/a:2;it's", f"{P}.initContainers.0.image": "example/c:2"},
    "example/a:3",
    ("containers.0.image", "a b", "An image contains no spaces."),
    command="kubectl set image",
)
ENVIRONMENT = SectionCase(
    types.DEPLOYMENTS,
    "environment",
    WEB,
    {
        "containers.0.env.0.source.value.value": "it's\r\nslow",
        "containers.0.env.2.source.secret.key": "other",
        "containers.1.env.0.name": "LEVEL",
        "containers.1.env.0.source.value.value": "debug",
    },
    {
        f"{P}.containers.0.env.0.value": "it's\nslow",
        f"{P}.containers.0.env.2.valueFrom.secretKeyRef.key": "other",
        f"{P}.containers.1.env": [{"name": "LEVEL", "value": "debug"}],
    },
    "slower",
    ("containers.0.env.0.name", "NODE", "Another variable has this name."),
    acts=[("act.containers.1.env.add", {})],
)
SET = _with_pods(stateful_set("web"))
SERVICE = {
    "spec": {
        "selector": {"app": "web"},
        "ports": [
            {"name": "web", "port": 80, "targetPort": "http"},
            {"name": "dns", "port": 53, "protocol": "UDP"},
        ],
    }
}


def lead(service: str, path: str = "/") -> Obj:
    backend = {"service": {"name": service, "port": {"number": 80}}}
    return {"path": path, "pathType": "Prefix", "backend": backend}


BUCKET = {"resource": {"apiGroup": "example.com", "kind": "Bucket", "name": "static"}}
RULES = [
    {"host": "shop.example.com", "http": {"paths": [lead("web"), lead("api", "/api")]}},
    {"http": {"paths": [{"path": "/s", "pathType": "Prefix", "backend": BUCKET}]}},
]
SCALER = {
    "spec": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "minReplicas": 2,
        "maxReplicas": 5,
        "metrics": [
            {
                "type": "External",
                "external": {
                    "metric": {"name": "queue"},
                    "target": {"type": "Value", "value": "3"},
                },
            },
            {
                "type": "Resource",
                "resource": {
                    "name": "cpu",
                    "target": {"type": "Utilization", "averageUtilization": 80},
                },
            },
        ],
    }
}
TAINT = {"key": "example.com/old", "value": "yes", "effect": "PreferNoSchedule"}
CASES = (
    SET_IMAGE,
    replace(SET_IMAGE, gvr=types.STATEFUL_SETS, body=SET),
    replace(SET_IMAGE, gvr=types.DAEMON_SETS, body=_with_pods(daemon_set("web"))),
    SectionCase(
        types.DEPLOYMENTS,
        "set-resources",
        WEB,
        {
            "containers.0.memory-limit": "1Gi",
            "containers.0.cpu-request": "",
            "containers.1.cpu-limit": "500m",
        },
        {
            f"{P}.containers.0.resources.limits.memory": "1Gi",
            f"{P}.containers.0.resources.requests.cpu": GONE,
            f"{P}.containers.1.resources": {"limits": {"cpu": "500m"}},
        },
        "2Gi",
        ("containers.0.memory-limit", "1", "The limit must be at least the request."),
    ),
    ENVIRONMENT,
    replace(
        ENVIRONMENT,
        gvr=types.CRON_JOBS,
        body=_with_pods(cron_job("often")),
        expected={
            path.replace("spec", "spec.jobTemplate.spec", 1): value
            for path, value in ENVIRONMENT.expected.items()
        },
    ),
    SectionCase(
        types.DEPLOYMENTS,
        "probes",
        WEB,
        {
            "containers.0.readinessProbe.httpGet.path": "/up",
            "containers.0.readinessProbe.periodSeconds": "5",
            "containers.1.livenessProbe.exec.command": "cat 'a b'",
        },
        {
            f"{P}.containers.0.readinessProbe.httpGet.path": "/up",
            f"{P}.containers.0.readinessProbe.periodSeconds": 5,
            f"{P}.containers.1.livenessProbe": {
                "exec": {"command": ["cat", "a b"]},
                "timeoutSeconds": 1,
                "periodSeconds": 10,
                "successThreshold": 1,
                "failureThreshold": 3,
            },
        },
        "/other",
        ("containers.0.readinessProbe.httpGet.port", "0", "Enter a port number up to 65535"),
        acts=[("act.containers.1.livenessProbe.show", {"containers.1.livenessProbe": "exec"})],
    ),
    SectionCase(
        types.DEPLOYMENTS,
        "volumes",
        WEB,
        {
            "volumes.0.source.configMap.name": "style",
            "volumes.3.name": "keys",
            "volumes.3.source.secret.name": "keys",
            "containers.1.volumeMounts.0.name": "keys",
            "containers.1.volumeMounts.0.mountPath": "/etc/keys",
            "containers.1.volumeMounts.0.readOnly": "on",
        },
        {
            f"{P}.volumes.0.configMap.name": "style",
            f"{P}.volumes.3": {"name": "keys", "secret": {"secretName": "keys", "defaultMode": 420}},
            f"{P}.containers.1.volumeMounts": [
                {"name": "keys", "mountPath": "/etc/keys", "readOnly": True}
            ],
        },
        "other",
        ("volumes.0.name", "data", "Another volume has this name."),
        acts=[
            ("act.volumes.add", {}),
            ("act.volumes.3.source.show", {"volumes.3.source": "secret"}),
            ("act.containers.1.volumeMounts.add", {}),
        ],
    ),
    SectionCase(
        types.DEPLOYMENTS,
        "strategy",
        WEB,
        {"strategy.rolling.maxSurge": "50%", "minReadySeconds": "5"},
        {"spec.strategy.rollingUpdate.maxSurge": "50%", "spec.minReadySeconds": 5},
        2,
        ("strategy.rolling.maxSurge", "many", "Enter a number of pods or a percentage"),
    ),
    SectionCase(
        types.STATEFUL_SETS,
        "strategy",
        SET,
        {"strategy.rolling.partition": "2"},
        {"spec.updateStrategy.rollingUpdate.partition": 2},
        1,
        ("strategy.rolling.partition", "x", "Use a whole number"),
    ),
    SectionCase(
        types.SERVICES,
        "service",
        SERVICE,
        {
            "kind.cluster.podLabels": "app=shop\r\ntier=front",
            "kind.cluster.ports.0.port": "8080",
            "affinity": "client",
        },
        {
            "spec.selector.app": "shop",
            "spec.selector.tier": "front",
            "spec.ports.0.port": 8080,
            "spec.sessionAffinity": "ClientIP",
            "spec.sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}},
        },
        "theirs",
        ("kind.cluster.ports.1.name", "web", "Another port has this name."),
    ),
    SectionCase(
        types.INGRESSES,
        "rules",
        {"spec": {"rules": RULES, "tls": [{"hosts": ["shop.example.com"]}]}},
        {
            "rules.0.paths.0.service": "web2",
            "rules.0.paths.0.port": "http",
            "rules.2.host": "new.example.com",
            "rules.2.paths.0.service": "new",
            "tls.0.secretName": "shop-tls",
        },
        {
            "spec.rules.0.http.paths.0.backend.service": {"name": "web2", "port": {"name": "http"}},
            "spec.rules.2": {"host": "new.example.com", "http": {"paths": [lead("new")]}},
            "spec.tls.0.secretName": "shop-tls",
        },
        {"name": "other", "port": {"number": 1}},
        ("rules.0.paths.0.path", "a", "Start with /."),
        acts=[("act.rules.add", {})],
    ),
    SectionCase(
        types.HORIZONTAL_POD_AUTOSCALERS,
        "limits",
        SCALER,
        {"maxReplicas": "9", "metrics.1.target.utilization.averageUtilization": "70"},
        {
            "spec.maxReplicas": 9,
            "spec.metrics.1.resource.target.averageUtilization": 70,
        },
        7,
        ("maxReplicas", "0", "Use a whole number from 1"),
    ),
    SectionCase(
        types.NODES,
        "taints",
        {**READY, "spec": {"taints": [TAINT]}},
        {"taints.0.value": "no", "taints.1.key": "gpu"},
        {"spec.taints.0.value": "no", "spec.taints.1": {"key": "gpu", "effect": "NoSchedule"}},
        "other",
        ("taints.0.key", "a b", "Enter a key, such as gpu"),
        acts=[("act.taints.add", {})],
        command="kubectl taint nodes",
    ),
)  # fmt: skip
