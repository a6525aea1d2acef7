"""Small objects and their paths."""

import json
import secrets
from collections.abc import Mapping
from typing import Any

from tests.contract.client import Client, Obj
from tests.controlplane.waiting import eventually

NAMESPACES = "/api/v1/namespaces"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def path(namespace: str, plural: str, name: str = "", *, group: str = "") -> str:
    """Return the path of a collection or object in a namespace. `group` is like `apps/v1`, or empty
    for `v1`.
    """
    root = f"/apis/{group}" if group else "/api/v1"
    found = f"{root}/namespaces/{namespace}/{plural}"
    return f"{found}/{name}" if name else found


def unique(stem: str) -> str:
    """Return a unique name, because the clusters are shared between tests."""
    return f"{stem}-{secrets.token_hex(4)}"


def version_of(obj: Obj) -> str:
    return str(obj["metadata"]["resourceVersion"])


def secret(name: str, labels: Mapping[str, str] | None = None, **text: str) -> Obj:
    """Return a Secret. Tests of lists use Secrets because no controller adds one to a new
    namespace.
    """
    about: Obj = {"name": name, "labels": dict(labels or {})}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": about, "stringData": text}


def config_map(name: str, **data: str) -> Obj:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def pod(name: str, labels: Mapping[str, str] | None = None, **spec: Any) -> Obj:
    """Return a pod that no scheduler assigns to a node, so that only the test changes its state."""
    about = {"name": name, "labels": dict(labels or {})}
    body = {
        "schedulerName": "nobody",
        "containers": [{"name": "main", "image": "example/main:1"}],
        **spec,
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": body}


def deployment(name: str, *images: str, replicas: int = 0) -> Obj:
    """Return a Deployment with containers `c0`, `c1`, … that run these images."""
    containers = [{"name": f"c{n}", "image": image} for n, image in enumerate(images)]
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
        },
    }


def create_pod(client: Client, namespace: str, body: Obj) -> Obj:
    """Create the pod as soon as the namespace has the service account that admission requires."""
    where = path(namespace, "pods")
    created = eventually(
        lambda: (answer := client.post(where, body)).status != 403 and answer,
        f"pods are admitted in {namespace}",
    )
    assert created
    found: Obj = created.ok()
    return found


def dump(obj: Any) -> str:
    return json.dumps(obj)


#: No provisioner has this name: the tests bind the volumes themselves.
NOBODY = "example.com/nobody"
