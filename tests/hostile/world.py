"""A cluster whose tenants are hostile: objects of every kind, with a trap in every text.

Written straight into the embedded cluster's store. kube-apiserver would refuse some of these texts in
some of these fields; the console must not depend on which.
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
from console.ui.kind import ResourceKind, Scope
from console.ui.registry import kinds
from devcluster.cluster import Cluster
from devcluster.customs import CRDS
from devcluster.rbac import CLUSTER_ROLES
from tests.hostile.texts import EVERYTHING, NAME, SHORT, TEXTS
from tests.kinds.test_custom_kinds import HOSTILE, definition
from tests.kinds.world import Obj, at, fixture_of, is_time, leaves

#: Mappings whose keys are anybody's, too.
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
#: The turn of `spoiled` that keeps all texts short.
BRIEFLY = -1
#: Of the object that changes while somebody looks, and of the one that comes.
CHANGING, COMING = f"{NAME} changing", f"{NAME} coming"
CUSTOM = (
    definition("widgets.zqx.org", *HOSTILE, kind="Widget"),
    definition("hulls.zqx.org", *HOSTILE, kind="Hull", scope="Cluster", uid="u2"),
)


def spoiled(kind: ResourceKind, name: str, turn: int) -> Obj:
    """An object all of whose texts are traps. With turn 0 each text is all traps at once and with
    `BRIEFLY` a short one, with another number every field has another one."""
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
    """The fixture as it is, so that states and causes stay what they are, with names that are traps
    wherever they are told; so is all free text, which is what has a space in it."""
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
        # Some mean something, above all that a role is in another.
        meta["annotations"] = {EVERYTHING: EVERYTHING, **(meta.get("annotations") or {})}
        yield just_now(kind, found)


def trap(name: str) -> str:
    """What `renamed` calls the objects of this name."""
    return f"{name} {NAME}"


def just_now(kind: ResourceKind, obj: Obj) -> Obj:
    """Events of which nobody heard for an hour are not shown."""
    if kind.gvr == EVENTS:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        obj |= {"lastTimestamp": now, "eventTime": None, "series": None}
    return obj


def projects() -> Iterator[Obj]:
    """`shop`, a project of a workspace with many members."""
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
    """What is written about those who try to sign in, with a program that calls itself anything."""
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
    """What somebody reports of an object."""
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
    """Types that the cluster does not know of itself, and custom ones that nobody declared."""
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
    # Nobody brings these objects to life or sums them up, so that they stay what they are.
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
    """One that a cluster would take, whatever its values are."""
    about = {"name": name, "namespace": "shop", "uid": f"uid-{name}", **metadata}
    return {"metadata": about, "data": data}


def held(mine: str) -> Obj:
    """One whose values are traps, and whose fields are somebody's who is called like that, too."""
    data = {"mine": mine, **{f"k{at}": text for at, text in enumerate(TEXTS)}}
    notes = {"example.com/note": EVERYTHING}
    return config_map("held", data, annotations=notes, managedFields=managed(SHORT, *data))


def managed(name: str, *keys: str) -> list[Obj]:
    """Fields of a ConfigMap, and some that nothing has."""
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
    """Of a type that no cluster has of itself."""
    scope = "Namespaced" if kind.scope is Scope.NAMESPACED else "Cluster"
    found = definition(kind.gvr.qualified, kind=kind.api_kind, scope=scope, uid=kind.segment)
    for version in found["spec"]["versions"]:
        version["name"] = kind.gvr.version
        version["schema"] = {
            "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        }
    return found
