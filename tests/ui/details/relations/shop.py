"""A project `shop` with related objects of all kinds, and a second project with the same names."""

from collections.abc import Iterable, Mapping
from typing import Any

from console.kube import gvr as types
from console.kube.gvr import GVR, Key
from console.kube.informer import Informer
from console.ui.core.access import Access
from console.ui.core.kind import Target
from console.ui.core.registry import kinds
from console.ui.core.subject import Subject
from console.ui.details.panels import Panel
from console.ui.details.panels.standard import tabs_of
from console.ui.details.relations.references import other_targets, targets_of, uses_of
from tests.support.informers import preloaded
from tests.ui.support import FakeAccess, admin, owner_reference, pod

Obj = dict[str, Any]
World = Mapping[GVR, Informer[Any]]

#: The panels about related objects and history, by type.
PANELS = {
    kind.gvr: panels
    for kind in kinds
    if (
        panels := [
            panel
            for tab in tabs_of(kind)
            if tab.id in ("resources", "revisions")
            for panel in tab.panels
        ]
    )
}
#: All types that these panels read or are shown for.
TYPES = {
    gvr
    for kind in kinds
    for panel in PANELS.get(kind.gvr, ())
    for gvr in (kind.gvr, *panel.needs(kind))
} - {types.SECRETS}


def targets(gvr: GVR, item: Any) -> set[Target]:
    """Return the references of an object, computed from its projection only."""
    kind = kinds.by_type(gvr)
    return {*targets_of(uses_of(kind, item), item.namespace), *other_targets(kind, item)}


def world(objects: Mapping[GVR, list[Obj]]) -> World:
    return {gvr: preloaded(gvr, objects.get(gvr, [])) for gvr in TYPES}


def subject_of(
    informers: World,
    gvr: GVR,
    key: Key,
    access: Access | None = None,
    query: Mapping[str, str] | None = None,
) -> Subject:
    kind = kinds.by_type(gvr)
    entry = informers[gvr].store.get(key)
    assert kind is not None and entry is not None
    return Subject(kind, key, entry, access or admin(), informers, "host", query or {})


def drawn(subject: Subject, *panels: Panel) -> str:
    """Render all panels of the type, or the given ones."""
    chosen = panels or PANELS.get(subject.kind.gvr, ())
    return "\n".join(str(panel.html(subject)) for panel in chosen)


def panel(gvr: GVR, panel_id: str) -> Panel:
    """Return the first panel with this ID in any tab."""
    kind = kinds.by_type(gvr)
    assert kind is not None
    found = (panel for tab in tabs_of(kind) for panel in tab.panels)
    return next(panel for panel in found if panel.id == panel_id)


class PerType(FakeAccess):
    """A user who may list some types in some namespaces. None means all namespaces; other types are
    forbidden.
    """

    def __init__(self, rights: Mapping[GVR, Iterable[str] | None]) -> None:
        super().__init__("tenant", list_in=(), delete_in=())
        self._rights = rights

    def namespaces_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[str] | None:
        granted = self._rights.get(gvr, ()) if verb == "list" else ()
        return None if granted is None else frozenset(granted)


def named(
    name: str,
    namespace: str = "shop",
    owner: tuple[str, str] | None = None,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
) -> Obj:
    """Return metadata. `owner` is kind and name of the controlling owner in the same namespace."""
    meta: Obj = {
        "name": name,
        "namespace": namespace,
        "uid": f"uid-{namespace}-{name}",
        "resourceVersion": "1",
        "creationTimestamp": "2026-11-20T10:00:00Z",
        "labels": labels or {},
        "annotations": annotations or {},
    }
    if owner:
        uid = f"uid-{namespace}-{owner[1]}"
        meta["ownerReferences"] = [owner_reference(*owner, uid)]
    return {"metadata": meta}


def spec(image: str = "shop/web:2") -> Obj:
    """Return a pod spec with one reference of every kind."""
    return {
        "serviceAccountName": "web",
        "priorityClassName": "urgent",
        "imagePullSecrets": [{"name": "registry"}],
        "volumes": [
            {"name": "conf", "configMap": {"name": "web-conf"}},
            {"name": "tls", "secret": {"secretName": "web-tls"}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "web-data"}},
            {"name": "scratch", "ephemeral": {}},
            {
                "name": "both",
                "projected": {
                    "sources": [
                        {"secret": {"name": "web-token"}},
                        {"configMap": {"name": "web-ca", "optional": True}},
                        {"serviceAccountToken": {"path": "token"}},
                    ]
                },
            },
            {"name": "remote", "csi": {"driver": "d", "nodePublishSecretRef": {"name": "csi-key"}}},
        ],
        "initContainers": [
            {"name": "setup", "image": image, "envFrom": [{"configMapRef": {"name": "setup-conf"}}]}
        ],
        "containers": [
            {
                "name": "app",
                "image": image,
                "envFrom": [{"secretRef": {"name": "web-env"}}],
                "env": [
                    {"name": "A", "valueFrom": {"secretKeyRef": {"name": "web-tls", "key": "k"}}},
                    {
                        "name": "B",
                        "valueFrom": {"configMapKeyRef": {"name": "web-conf", "key": "k"}},
                    },
                    {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                    {"name": "D", "value": "plain"},
                ],
                "resources": {"requests": {"cpu": "250m", "memory": "128Mi"}},
            }
        ],
    }


def a_pod(name: str, namespace: str = "shop", owner: str = "web-2", **kwargs: Any) -> Obj:
    found = pod(name, namespace, labels={"app": "web"}, **kwargs)
    meta = named(name, namespace, ("ReplicaSet", owner), {"app": "web"})["metadata"]
    found["metadata"] |= {**meta, "resourceVersion": found["metadata"]["resourceVersion"]}
    debugger = {"name": "debug", "envFrom": [{"secretRef": {"name": "debug-env"}}]}
    node = found["spec"]["nodeName"]
    found["spec"] = {**spec(), "nodeName": node, "ephemeralContainers": [debugger]}
    return found


def template(image: str = "shop/web:2") -> Obj:
    return {"metadata": {"labels": {"app": "web"}}, "spec": spec(image)}


def replica_set(number: int, namespace: str = "shop", replicas: int = 0) -> Obj:
    note = {
        "deployment.kubernetes.io/revision": str(number),
        "kubernetes.io/change-cause": f"release {number}",
    }
    return {
        **named(f"web-{number}", namespace, ("Deployment", "web"), {"app": "web"}, note),
        "spec": {"replicas": replicas, "template": template(f"shop/web:{number}")},
        "status": {"replicas": replicas, "readyReplicas": replicas},
    }


def project(namespace: str) -> dict[GVR, list[Obj]]:
    selector = {"matchLabels": {"app": "web"}}
    return {
        types.DEPLOYMENTS: [
            {
                **named("web", namespace),
                "spec": {"replicas": 2, "selector": selector, "template": template()},
            }
        ],
        types.REPLICA_SETS: [
            replica_set(1, namespace),
            replica_set(2, namespace, replicas=2),
        ],
        types.PODS: [
            a_pod("web-2-aaaaa", namespace),
            a_pod("web-2-bbbbb", namespace, waiting="CrashLoopBackOff"),
        ],
        types.SERVICES: [{**named("web", namespace), "spec": {"selector": {"app": "web"}}}],
        types.ENDPOINT_SLICES: [
            {
                **named(
                    "web-x", namespace, ("Service", "web"), {"kubernetes.io/service-name": "web"}
                ),
                "ports": [{"port": 8080}],
                "endpoints": [
                    {
                        "addresses": ["10.0.0.7"],
                        "conditions": {"ready": True},
                        "nodeName": "node-1",
                        "targetRef": {"kind": "Pod", "name": "web-2-aaaaa", "namespace": namespace},
                    },
                    {
                        "addresses": ["10.0.0.8"],
                        "conditions": {"ready": False},
                        "targetRef": {"kind": "Pod", "name": "web-2-bbbbb", "namespace": namespace},
                    },
                ],
            }
        ],
        types.INGRESSES: [
            {
                **named("front", namespace),
                "spec": {
                    "ingressClassName": "nginx",
                    "tls": [{"secretName": "front-tls"}],
                    "rules": [{"http": {"paths": [{"backend": {"service": {"name": "web"}}}]}}],
                },
            }
        ],
        types.CONFIG_MAPS: [named("web-conf", namespace), named("setup-conf", namespace)],
        types.SERVICE_ACCOUNTS: [{**named("web", namespace), "secrets": [{"name": "web-token"}]}],
        types.PERSISTENT_VOLUME_CLAIMS: [
            {
                **named("web-data", namespace),
                "spec": {"volumeName": "pv-1", "storageClassName": "fast"},
            }
        ],
        types.POD_DISRUPTION_BUDGETS: [
            {**named("keep", namespace), "spec": {"selector": selector}}
        ],
        types.NETWORK_POLICIES: [{**named("close", namespace), "spec": {"podSelector": {}}}],
        types.HORIZONTAL_POD_AUTOSCALERS: [
            {
                **named("web-hpa", namespace),
                "spec": {
                    "scaleTargetRef": {
                        "apiVersion": "apps/v1",
                        "kind": "Deployment",
                        "name": "web",
                    },
                    "maxReplicas": 5,
                },
            }
        ],
        types.ROLE_BINDINGS: [
            {
                **named("view-web", namespace),
                "roleRef": {"kind": "Role", "name": "viewer"},
                "subjects": [
                    {"kind": "ServiceAccount", "name": "web", "namespace": namespace},
                    {"kind": "User", "name": "alice"},
                ],
            }
        ],
        types.ROLES: [named("viewer", namespace)],
    }


def everything() -> dict[GVR, list[Obj]]:
    """Return the objects of two identical projects, `shop` and `team-b`, and cluster-scoped
    objects.
    """
    first, second = project("shop"), project("team-b")
    found = {gvr: [*first[gvr], *second[gvr]] for gvr in first}
    allocatable = {"cpu": "2", "memory": "1Gi", "pods": "110"}
    found[types.NODES] = [{**named("node-1", ""), "status": {"allocatable": allocatable}}]
    found[types.PERSISTENT_VOLUMES] = [
        {**named("pv-1", ""), "spec": {"claimRef": {"namespace": "shop", "name": "web-data"}}}
    ]
    found[types.STORAGE_CLASSES] = [named("fast", "")]
    found[types.PRIORITY_CLASSES] = [named("urgent", "")]
    found[types.INGRESS_CLASSES] = [named("nginx", "")]
    return found


WEB = Key("shop", "web")
