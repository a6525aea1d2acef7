"""A cluster of hostile tenants: objects of every kind, with a trap in every text.

They are written directly to the embedded cluster's store. kube-apiserver would reject some of
these texts in some fields; the console must not depend on that.
"""

from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime
from functools import cache
from typing import Any

from console.kube.gvr import EVENTS, GVR, LOGIN_RECORDS, NAMESPACES, WORKSPACES
from console.kube.projections.namespace import WORKSPACE_LABEL
from console.kube.projections.roles import ALIAS_ANNOTATION, DESCRIPTION_ANNOTATION
from console.kube.projections.tenancy import USER_LABEL
from console.ui.core.kind import ResourceKind, Scope
from console.ui.core.registry import kinds
from devcluster.cluster import Cluster
from devcluster.custom_types import CRDS
from devcluster.rbac import CLUSTER_ROLES
from tests.hostile.texts import EVERYTHING, NAME, SHORT, TEXTS
from tests.kinds.custom_types import HOSTILE, definition
from tests.kinds.world import Obj, at, fixture_of, is_time, leaves

#: Maps with user-defined keys.
MAPPINGS = {
    "allocatable",
    "annotations",
    "capacity",
    "data",
    "hard",
    "labels",
    "matchLabels",
    "nodeSelector",
    "parameters",
    "selector",
    "used",
}
#: The turn of `spoiled` that uses only short texts.
BRIEFLY = -1
#: Names of the object that changes during a visit and of the one that is added.
CHANGING, COMING = f"{NAME} changing", f"{NAME} coming"
CUSTOM = (
    definition("widgets.zqx.org", *HOSTILE, kind="Widget"),
    definition("hulls.zqx.org", *HOSTILE, kind="Hull", scope="Cluster", uid="u2"),
)


def spoiled(kind: ResourceKind, name: str, turn: int) -> Obj:
    """Return an object in which all texts are traps. With turn 0 each text contains all traps, with
    `BRIEFLY` a short one, and with other numbers each field has a different one.
    """
    found = deepcopy(fixture_of(kind)[0])
    _spoil_leaves(found, turn)
    for path in list(leaves(found)):
        held = at(found, path)
        if path[-1] in MAPPINGS and isinstance(held, dict):
            held[_text(turn, len(path)) or "zqx"] = _text(turn, len(path) + 1)
    found["metadata"] |= _metadata(kind, name, turn)
    return just_now(kind, found)


@cache
def names() -> frozenset[str]:
    return frozenset(obj["metadata"]["name"] for kind in kinds for obj in fixture_of(kind))


def renamed(kind: ResourceKind) -> Iterator[Obj]:
    """Yield the fixture's objects with trap names and trap texts in all fields with free text
    (texts with a space), so that their states and causes stay the same.
    """
    for number, obj in enumerate(fixture_of(kind)):
        found = deepcopy(obj)
        for path in list(leaves(found)):
            value = at(found, path)
            if not isinstance(value, str) or path == ("metadata", "namespace"):
                continue
            if value in names():
                at(found, path[:-1])[path[-1]] = trap(value)
            elif " " in value:
                at(found, path[:-1])[path[-1]] = EVERYTHING
        meta = found["metadata"]
        meta |= {"uid": f"renamed-{kind.segment}-{number}"}
        # Some values have a meaning, for example the role that another role includes.
        meta["annotations"] = {EVERYTHING: EVERYTHING, **(meta.get("annotations") or {})}
        yield just_now(kind, found)


def trap(name: str) -> str:
    """Return the name that `renamed` gives to the objects of this name."""
    return f"{name} {NAME}"


def just_now(kind: ResourceKind, obj: Obj) -> Obj:
    """Set the time of an Event to now, because events older than an hour are not shown."""
    if kind.gvr == EVENTS:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        obj |= {"lastTimestamp": now, "eventTime": None, "series": None}
    return obj


def projects() -> Iterator[Obj]:
    """Yield `shop`, a project of a workspace with many members."""
    workspaces = next(kind for kind in kinds if kind.gvr == WORKSPACES)
    owner = next(renamed(workspaces))["metadata"]
    reference = {"apiVersion": "v1", "kind": "Workspace", "controller": True}
    labels = {WORKSPACE_LABEL: owner["name"], "kubernetes.io/metadata.name": "shop"}
    yield {
        "metadata": {
            "name": "shop",
            "uid": "the-shop",
            "labels": labels,
            "annotations": {ALIAS_ANNOTATION: EVERYTHING, DESCRIPTION_ANNOTATION: EVERYTHING},
            "ownerReferences": [{**reference, "name": owner["name"], "uid": owner["uid"]}],
        },
        "status": {"phase": "Active"},
    }


def logins(user: str) -> Iterator[Obj]:
    """Yield login records of clients with trap user agents."""
    for number, text in enumerate(TEXTS):
        spec = {"type": text, "provider": text, "sourceIP": text, "userAgent": text}
        yield {
            "metadata": {
                "name": f"login-{number}",
                "uid": f"login-{number}",
                "creationTimestamp": "2026-11-20T10:00:00Z",
                "labels": {USER_LABEL: user},
            },
            "spec": {**spec, "success": bool(number % 2), "reason": text},
        }


def event(kind: ResourceKind, about: Obj, number: int) -> Obj:
    """Return an Event about the object."""
    meta = about["metadata"]
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {
        "metadata": {
            "name": f"{kind.segment}.{number}",
            "namespace": meta.get("namespace", "default"),
            "uid": f"event-{kind.segment}-{number}",
            "creationTimestamp": "2026-11-20T10:00:00Z",
        },
        "involvedObject": {
            "kind": kind.api_kind,
            "name": meta["name"],
            "namespace": meta.get("namespace", ""),
            "uid": meta["uid"],
            "fieldPath": EVERYTHING,
        },
        "type": "Warning" if number % 2 else EVERYTHING,
        "reason": EVERYTHING,
        "message": EVERYTHING,
        "source": {"component": EVERYTHING, "host": EVERYTHING},
        "count": 7,
        "lastTimestamp": now,
    }


def define(cluster: Cluster) -> None:
    """Define the types that the cluster does not have, and custom types without a registered kind."""
    for kind in kinds:
        if not any(one.qualified == kind.gvr.qualified for one in cluster.registry):
            cluster.store.put(CRDS, definition_of(kind))
    for crd in CUSTOM:
        found = deepcopy(crd)
        for version in found["spec"]["versions"]:
            version["schema"]["openAPIV3Schema"] |= {"description": EVERYTHING}
        found["spec"]["names"] |= {"categories": list(TEXTS[:4]), "shortNames": list(TEXTS[4:8])}
        found["metadata"]["annotations"] = {EVERYTHING: EVERYTHING}
        cluster.store.put(CRDS, found)


def fill(cluster: Cluster) -> None:
    for name in ("shop", "team-a", "team-b"):
        cluster.ensure("namespaces", {"metadata": {"name": name}})
    # Disable controllers and aggregation, so that the objects stay unchanged.
    cluster.store.observers.clear()
    cluster.store.collection(CLUSTER_ROLES).listeners.discard(cluster.aggregation._changed)
    with cluster.store.batch():
        for kind in kinds:
            made = [spoiled(kind, CHANGING, 0), spoiled(kind, f"{NAME} 1", 1), *renamed(kind)]
            for number, obj in enumerate(made):
                write(cluster, kind.gvr, obj)
                write(cluster, EVENTS, event(kind, obj, number))
        for gvr, obj in custom_objects(1):
            write(cluster, gvr, obj)
        for obj in projects():
            write(cluster, NAMESPACES, obj)
        for obj in logins("admin"):
            write(cluster, LOGIN_RECORDS, obj)


def custom_objects(turn: int) -> Iterator[tuple[GVR, Obj]]:
    for crd in CUSTOM:
        plural, _dot, group = crd["metadata"]["name"].partition(".")
        place = {"namespace": "shop"} if crd["spec"]["scope"] == "Namespaced" else {}
        for number, text in enumerate((EVERYTHING, *TEXTS)):
            condition = {"type": text, "status": "False", "reason": text, "message": text}
            yield (
                GVR(group, "v1", plural),
                {
                    "metadata": {
                        "name": f"{NAME} {number}",
                        "uid": f"{plural}-{number}",
                        "labels": {text: text},
                        **place,
                    },
                    "spec": {"x": [text, turn], "size": text, text: {text: text}},
                    "status": {"conditions": [condition, {**condition, "type": "Ready"}]},
                },
            )


def config_map(name: str, data: Obj, **metadata: Any) -> Obj:
    """Return a ConfigMap that a cluster would accept with any values."""
    about = {"name": name, "namespace": "shop", "uid": f"uid-{name}", **metadata}
    return {"metadata": about, "data": data}


def held(mine: str) -> Obj:
    """Return a ConfigMap whose values are traps and whose field manager has a trap name."""
    data = {"mine": mine, **{f"k{at}": text for at, text in enumerate(TEXTS)}}
    notes = {"example.com/note": EVERYTHING}
    return config_map("held", data, annotations=notes, managedFields=managed(SHORT, *data))


def managed(name: str, *keys: str) -> list[Obj]:
    """Return managed fields for the keys of a ConfigMap, and some for fields that do not exist."""
    fields: Obj = {".": {}, **{f"f:{key}": {} for key in keys}}
    others: Obj = {f"f:{name}": {}, f'k:{{"{name}": 1}}': {}}
    about = {"apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": fields, **others}}
    return [{"manager": name, "operation": "Update", "subresource": name, **about}]


def write(cluster: Cluster, gvr: GVR, obj: Obj) -> None:
    stored = {name: value for name, value in obj.items() if name not in ("kind", "apiVersion")}
    stored["metadata"] = dict(stored["metadata"])
    cluster.store.put(cluster.registry.get(gvr.qualified).storage, stored)


def _text(turn: int, number: int) -> str:
    if turn == BRIEFLY:
        return SHORT
    return TEXTS[(turn * 7 + number) % len(TEXTS)] if turn else EVERYTHING


def _spoil_leaves(obj: Obj, turn: int) -> None:
    for number, path in enumerate(list(leaves(obj))):
        value = at(obj, path)
        if isinstance(value, str) and not is_time(value):
            at(obj, path[:-1])[path[-1]] = _text(turn, number)


def _metadata(kind: ResourceKind, name: str, turn: int) -> Obj:
    text = _text(turn, 3)
    found: Obj = {
        "name": name,
        "uid": f"{kind.segment}-{name}",
        "creationTimestamp": "2026-11-20T10:00:00Z",
        "generateName": text,
        "labels": {text: text, "app": text},
        "annotations": {text: text, "kubesphere.io/description": text},
        "finalizers": [text],
        "ownerReferences": [
            {"apiVersion": text, "kind": text, "name": text, "uid": text, "controller": True}
        ],
        "managedFields": [{"manager": text, "operation": text, "fieldsV1": {text: {}}}],
    }
    if kind.scope is Scope.NAMESPACED:
        found["namespace"] = "shop"
    return found


def definition_of(kind: ResourceKind) -> dict[str, Any]:
    """Return the definition of a type that is not built in."""
    scope = "Namespaced" if kind.scope is Scope.NAMESPACED else "Cluster"
    found = definition(kind.gvr.qualified, kind=kind.api_kind, scope=scope, uid=kind.segment)
    for version in found["spec"]["versions"]:
        version["name"] = kind.gvr.version
        version["schema"] = {
            "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        }
    return found
