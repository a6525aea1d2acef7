"""Objects with forms, editors, logs and terminals, in the tenant's project and in a project that no
tenant can change.
"""

from collections.abc import Iterator

from console.kube.gvr import GVR, Key
from console.ui.core.actions import EditSection, Link
from console.ui.core.links import bulk_url, edit_url, import_url, log_url, terminal_url
from console.ui.core.registry import kinds
from tests.accounts.kubesphere.objects import Manifest
from tests.accounts.kubesphere.world import World

TENANTS, NOBODYS = "shop", "vault"
_POD = {"containers": [{"name": "app", "image": "localhost/none"}]}
_LABELS = {"app": "web"}
_TEMPLATE = {"metadata": {"labels": _LABELS}, "spec": _POD}
_SELECTOR = {"matchLabels": _LABELS}
_JOB = {"template": {"spec": {**_POD, "restartPolicy": "Never"}}}
_PORTS = [{"name": "http", "port": 80}]
_BACKEND = {"service": {"name": "web", "port": {"number": 80}}}
_PATHS = {"paths": [{"path": "/", "pathType": "Prefix", "backend": _BACKEND}]}
_CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
#: One object named web of each type, with its content.
_OBJECTS: tuple[tuple[GVR, str, Manifest], ...] = (
    (GVR("", "v1", "pods"), "Pod", {"spec": _POD}),
    (GVR("", "v1", "services"), "Service", {"spec": {"selector": _LABELS, "ports": _PORTS}}),
    (GVR("", "v1", "configmaps"), "ConfigMap", {"data": {"a": "1"}}),
    (GVR("", "v1", "secrets"), "Secret", {"stringData": {"a": "1"}}),
    (GVR("", "v1", "serviceaccounts"), "ServiceAccount", {}),
    (GVR("", "v1", "persistentvolumeclaims"), "PersistentVolumeClaim", {"spec": _CLAIM}),
    (GVR("apps", "v1", "deployments"), "Deployment",
     {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}}),
    (GVR("apps", "v1", "statefulsets"), "StatefulSet",
     {"spec": {"serviceName": "web", "selector": _SELECTOR, "template": _TEMPLATE}}),
    (GVR("apps", "v1", "daemonsets"), "DaemonSet",
     {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}}),
    (GVR("batch", "v1", "jobs"), "Job", {"spec": _JOB}),
    (GVR("batch", "v1", "cronjobs"), "CronJob",
     {"spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": _JOB}}}),
    (GVR("networking.k8s.io", "v1", "ingresses"), "Ingress",
     {"spec": {"rules": [{"host": "web.example.com", "http": _PATHS}]}}),
    (GVR("rbac.authorization.k8s.io", "v1", "roles"), "Role", {"rules": []}),
)  # fmt: skip


def place(world: World) -> None:
    """Create the objects once. Changes by tests are kept."""
    if world.get(GVR("", "v1", "namespaces"), NOBODYS):
        return
    world.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NOBODYS}})
    for namespace in (TENANTS, NOBODYS):
        for gvr, kind, content in _OBJECTS:
            meta = {"name": "web", "namespace": namespace, "labels": _LABELS}
            item = {"apiVersion": gvr.group_version, "kind": kind, "metadata": meta, **content}
            answer = world.cluster.api.request("POST", gvr.path(namespace), item)
            assert answer.status == 201, answer.body


def meant(world: World, namespace: str) -> Manifest:
    """Return the user-defined content of the objects in the namespace, by kind."""
    found = {}
    for gvr, kind, _content in _OBJECTS:
        item = world.get(gvr, "web", namespace)
        meta = item.get("metadata", {})
        parts = {part: item.get(part) for part in ("spec", "data", "rules")}
        found[kind] = {**parts, "uid": meta.get("uid"), "labels": meta.get("labels")}
    return found


def pages_with_forms() -> Iterator[str]:
    """Yield the pages of each action and editor of the objects, and of bulk actions."""
    yield import_url("host")
    for gvr, _kind, _content in _OBJECTS:
        kind = next(one for one in kinds if one.gvr == gvr)
        yield bulk_url("delete", "host", kind.segment)
        for namespace in (TENANTS, NOBODYS):
            key = Key(namespace, "web")
            yield edit_url("host", kind.segment, key)
            for action in kind.actions:
                if not isinstance(action, Link) or isinstance(action, EditSection):
                    yield action.url("host", kind.segment, key)


def streams() -> Iterator[str]:
    """Yield the pages of logs and terminals. Their websockets have the same path below /ws."""
    for namespace in (TENANTS, NOBODYS):
        key = Key(namespace, "web")
        for url in (log_url("host", "pods", key), log_url("host", "deployments", key)):
            yield url.partition("#")[0]
        yield terminal_url("host", "pods", key)
