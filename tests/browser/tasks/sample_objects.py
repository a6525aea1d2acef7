"""Objects for the task tests on either cluster.

The embedded cluster has them in its sample data. On the real cluster the same names are created:
its controllers create ReplicaSets and revisions, and this module writes what only a kubelet or
scheduler would write.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

from tests.browser.console import Console
from tests.controlplane.waiting import eventually

PAYMENTS, DATA, WEB = "payments", "data", "web"
_MESSAGE = (
    "0/12 nodes are available: 8 Insufficient memory, 3 node(s) had untolerated taint "
    "{node-role.kubernetes.io/control-plane: }, 1 node(s) were unschedulable."
)
_LIMIT = {"limits": {"memory": "512Mi"}}
_CRASHED: dict[str, Any] = {
    "phase": "Running",
    "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}],
    "containerStatuses": [
        {
            "name": "fraud-scorer", "ready": False, "restartCount": 14, "image": "i", "imageID": "i",
            "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}},
            "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
        }
    ],
}  # fmt: skip
_PENDING: dict[str, Any] = {
    "phase": "Pending",
    "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": _MESSAGE}
    ],
}


@dataclass(frozen=True)
class Scene:
    """The objects of the task tests. Keys are "namespace/name"."""

    console: Console
    crashing: str
    pending: str
    secret: str = f"{PAYMENTS}/registry"
    uses_secret: str = f"{PAYMENTS}/ledger"
    revised: str = f"{WEB}/image-resizer"
    numbers: Iterator[int] = field(default_factory=count)

    def kubectl(self, *arguments: str, input: Any = None) -> str:
        return self.console.kubectl(*arguments, input=json.dumps(input) if input else None)

    @contextmanager
    def new_type(self) -> Iterator[str]:
        """Define a custom type with one object named `anchor`. Yield the qualified plural of the
        type.
        """
        kind = f"Buoy{next(self.numbers)}"
        group, plural = "harbour.example", f"{kind.lower()}s"
        self.kubectl("create", "-f", "-", input=_definition(group, kind, plural))
        try:
            self.kubectl("wait", "--for=condition=Established", f"crd/{plural}.{group}")
            obj = {"apiVersion": f"{group}/v1", "kind": kind, "spec": {"depth": 12}}
            place = {"name": "anchor", "namespace": WEB}
            self.kubectl("create", "-f", "-", input={**obj, "metadata": place})
            yield f"{plural}.{group}"
        finally:
            self.kubectl("delete", "crd", f"{plural}.{group}", "--wait=false")


def _definition(group: str, kind: str, plural: str) -> dict[str, Any]:
    depth = {"type": "object", "properties": {"depth": {"type": "integer"}}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": depth}}},
        "additionalPrinterColumns": [
            {"name": "Depth", "type": "integer", "jsonPath": ".spec.depth"}
        ],
    }
    names = {"plural": plural, "singular": kind.lower(), "kind": kind}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }


def found(console: Console) -> Scene:
    """Return the scene of the sample data."""

    def first(namespace: str, app: str) -> str:
        label = f"app.kubernetes.io/name={app}"
        names = console.kubectl("get", "pods", "-n", namespace, "-l", label, "-o", "name").split()
        return f"{namespace}/{names[0].removeprefix('pod/')}"

    return Scene(console, first(PAYMENTS, "fraud-scorer"), first(DATA, "recommender"))


def made(console: Console) -> Scene:
    """Create the scene in an empty cluster with running controllers."""
    scene = Scene(console, f"{PAYMENTS}/fraud-scorer-1", f"{DATA}/recommender-1")
    for name in (PAYMENTS, DATA, WEB):
        scene.kubectl("create", "namespace", name)
    for key, status in ((scene.crashing, _CRASHED), (scene.pending, _PENDING)):
        namespace, name = key.split("/")
        container = {"name": name[:-2], "image": "example/image:1", "resources": _LIMIT}
        # No scheduler has this name, so only this module writes the status.
        spec = {"schedulerName": "nobody", "containers": [container]}
        eventually(partial(_has_account, scene, namespace), "pods may be created")
        meta = {"name": name, "ownerReferences": [_owner(scene, namespace, name[:-2])]}
        manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
        scene.kubectl("create", "-n", namespace, "-f", "-", input=manifest)
        console.set_status(name, status, namespace)
    scene.kubectl("create", "secret", "generic", "registry", "-n", PAYMENTS, "--from-literal=a=b")
    for key in (scene.uses_secret, scene.revised):
        namespace, name = key.split("/")
        scene.kubectl("create", "-n", namespace, "-f", "-", input=_deployment(name))
        eventually(partial(_replica_sets, scene, namespace), "it has a revision")
    scene.kubectl("set", "image", "deployment/image-resizer", "*=example/image:2", "-n", WEB)
    eventually(lambda: _replica_sets(scene, WEB) == 2, "it has two revisions")
    return scene


def _owner(scene: Scene, namespace: str, name: str) -> dict[str, Any]:
    """Create a Deployment without pods and return an owner reference to it."""
    uid = scene.kubectl(
        *("create", "-n", namespace, "-f", "-", "-o", "jsonpath={.metadata.uid}"),
        input=_deployment(name),
    )
    return {
        **{"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
        **{"uid": uid, "controller": True},
    }


def _has_account(scene: Scene, namespace: str) -> bool:
    return "/default" in scene.kubectl("get", "serviceaccounts", "-n", namespace, "-o", "name")


def _replica_sets(scene: Scene, namespace: str) -> int:
    return len(scene.kubectl("get", "replicasets", "-n", namespace, "-o", "name").split())


def _deployment(name: str) -> dict[str, Any]:
    labels = {"app": name}
    pod = {
        "imagePullSecrets": [{"name": "registry"}],
        "containers": [{"name": name, "image": "example/image:1"}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
