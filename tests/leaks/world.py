"""Two clusters that differ only in objects that some users cannot see, and these users.

The second cluster has a secret object of every registered kind, in a secret project. Each one is
owned by a visible object and refers to it, so that any code that follows relations or counts
objects would reach it.
"""

import asyncio
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from typing import Any

from console.kube.clock import SystemClock
from console.kube.custom_types import CustomTypes
from console.kube.gvr import (
    BUILT_IN_GROUPS,
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CUSTOM_RESOURCE_DEFINITIONS,
    EVENTS,
    GLOBAL_ROLE_BINDINGS,
    GVR,
    NAMESPACES,
    NODES,
    PODS,
    ROLE_BINDINGS,
    USERS,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACES,
    Key,
)
from console.kube.informer import Informer
from console.kube.projections.custom import decoder_of
from console.kube.projections.namespace import WORKSPACE_LABEL
from console.kube.usage import UsageReader
from console.ui.core.custom_kinds import GenericKind, generic_kind
from console.ui.core.kind import ResourceKind, Scope
from console.ui.core.registry import kinds
from console.ui.details.panels.standard import tabs_of
from tests.hostile.world import definition_of
from tests.kinds.custom_types import column, definition
from tests.kinds.world import LiveLists, Obj, encoded, fixture_of, informer_of
from tests.pages.overview.world import Measuring, node_usage, pod_usage
from tests.rbac.objects import admin_role, admins, native_binding, native_role, project, rule, user
from tests.support.informers import preloaded
from tests.support.staticruntime import StaticRuntime

ADMIN, BOB, CHARLIE = "leak-admin", "leak-viewer-bob", "leak-outsider-charlie"
#: A user who can list all cluster-scoped objects and the objects of one project.
SURVEYOR = "leak-surveyor"
#: Part of the name, namespace, and texts of every secret object.
CANARY = "canary-7f3"
SECRET_PROJECT = f"{CANARY}-project"
#: The workspace of the visible and the secret project.
WORKSPACE = "acme"
#: Custom types without a registered kind, one namespaced and one cluster-scoped.
CUSTOMS = (
    definition("widgets.leaks.org", column("Size"), kind="Widget"),
    definition("hulls.leaks.org", column("Size"), kind="Hull", scope="Cluster", uid="u2"),
)
CUSTOM_KINDS = tuple(
    generic_kind(custom) for custom in CustomTypes(preloaded(CUSTOM_RESOURCE_DEFINITIONS, CUSTOMS))
)
KINDS = (*kinds, *CUSTOM_KINDS)
#: Cluster-scoped types.
BESIDE = tuple(kind.gvr for kind in KINDS if kind.scope is Scope.CLUSTER)
Informers = Mapping[GVR, Informer[Any]]


def only(kind: ResourceKind) -> str:
    """Return the user who can only list objects of this kind."""
    return f"only-{kind.segment}"


def named(kind: ResourceKind) -> str:
    """Return the user who can only get and list one object of this kind by name."""
    return f"named-{kind.segment}"


def got(kind: ResourceKind) -> str:
    """Return the user who can only get one object of this kind by name, and cannot list it."""
    return f"got-{kind.segment}"


def objects_of(kind: ResourceKind) -> list[Obj]:
    """Return the objects that are not secret."""
    return [widget(kind)] if isinstance(kind, GenericKind) else fixture_of(kind)


def widget(kind: ResourceKind) -> Obj:
    place = {"namespace": "shop"} if kind.scope is Scope.NAMESPACED else {}
    condition = {"type": "Ready", "status": "False", "reason": "Broken", "message": "It is broken"}
    uid = f"uid-{kind.segment}"
    return {
        "metadata": {"name": "anchor", "uid": uid, "resourceVersion": "1", **place},
        "spec": {"x": "7"},
        "status": {"conditions": [condition]},
    }


def visible(kind: ResourceKind) -> Obj:
    """Return an object of this kind that every user with any permission can see."""
    return next(
        obj
        for obj in objects_of(kind)
        if kind.scope is Scope.CLUSTER or obj["metadata"]["namespace"] == "shop"
    )


def secret(kind: ResourceKind) -> Obj:
    """Return the secret twin of the visible object. It has the same references, names the visible
    object as its owner, and is unhealthy.
    """
    found = deepcopy(visible(kind))
    like = visible(kind)["metadata"]
    meta = found["metadata"] | {
        "name": f"{CANARY}-{kind.segment}",
        "uid": f"{CANARY}-{kind.segment}",
        "resourceVersion": "1",
        "annotations": {CANARY: CANARY},
    }
    if kind.scope is Scope.NAMESPACED:
        meta["namespace"] = SECRET_PROJECT
    if kind.gvr == NAMESPACES:
        meta |= {"name": SECRET_PROJECT, "labels": {WORKSPACE_LABEL: WORKSPACE}}
    if kind.gvr in (GLOBAL_ROLE_BINDINGS, WORKSPACE_ROLE_BINDINGS):
        found["subjects"] = [*found["subjects"], {"kind": "User", "name": CANARY}]
    if kind.gvr == PODS:
        waiting = {"reason": "CrashLoopBackOff"}
        found["status"]["containerStatuses"] = [{"name": "app", "state": {"waiting": waiting}}]
    meta["ownerReferences"] = [
        {"kind": kind.api_kind, "name": like["name"], "uid": like["uid"], "controller": True}
    ]
    return {**found, "metadata": meta}


def first_tab(kind: ResourceKind, key: Key) -> str:
    """Return the ID of the object's first tab, or "" unless the URL without a tab leads to another
    page.
    """
    return tabs_of(kind)[0].id if kind.page_url("host", key) else ""


def key_of(obj: Obj) -> Key:
    return Key(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])


def report(kind: ResourceKind) -> Obj:
    """Return an Event in the secret project about the visible object."""
    about = visible(kind)["metadata"]
    return {
        "metadata": {
            "name": f"{CANARY}-{kind.segment}-event",
            "namespace": SECRET_PROJECT,
            "uid": f"{CANARY}-{kind.segment}-event",
            "resourceVersion": "1",
        },
        "involvedObject": {
            "kind": kind.api_kind,
            "name": about["name"],
            "namespace": about.get("namespace", ""),
            "uid": about["uid"],
        },
        "type": "Warning",
        "reason": CANARY,
        "message": CANARY,
        "lastTimestamp": "2026-11-20T10:00:00Z",
    }


def _rights() -> dict[GVR, list[Obj]]:
    people = [
        ADMIN,
        BOB,
        CHARLIE,
        SURVEYOR,
        *(who(kind) for kind in KINDS for who in (only, named, got)),
    ]
    read = "get list watch"
    roles = [admin_role(), native_role("leak-shop-viewer", rule(read, "*", "*"))]
    viewers = (f"User {BOB}", f"User {SURVEYOR}")
    bindings, within = (
        admins(ADMIN),
        [native_binding("leak-viewers", "leak-shop-viewer", *viewers, namespace="shop")],
    )
    surveyed = (rule(read, gvr.resource, gvr.group or "core") for gvr in BESIDE)
    roles.append(native_role(SURVEYOR, *surveyed))
    bindings.append(native_binding(SURVEYOR, SURVEYOR, f"User {SURVEYOR}"))
    for kind in KINDS:
        type_ = (kind.gvr.resource, kind.gvr.group or "core")
        one = visible(kind)["metadata"]
        roles += [
            native_role(only(kind), rule(read, *type_)),
            native_role(named(kind), rule(read, *type_, names=one["name"])),
            native_role(got(kind), rule("get", *type_, names=one["name"])),
        ]
        bindings.append(native_binding(only(kind), only(kind), f"User {only(kind)}"))
        for who in (named(kind), got(kind)):
            subject = (who, who, f"User {who}")
            if kind.scope is Scope.NAMESPACED:
                within.append(native_binding(*subject, namespace="shop"))
            else:
                bindings.append(native_binding(*subject))
    return {
        USERS: [user(name) for name in people],
        CLUSTER_ROLES: roles,
        CLUSTER_ROLE_BINDINGS: bindings,
        ROLE_BINDINGS: within,
        NAMESPACES: [project("shop", WORKSPACE), project("team-a"), project("team-b")],
    }


def _objects(kind: ResourceKind, rights: Mapping[GVR, list[Obj]]) -> Iterator[Obj]:
    seen = set()
    for obj in (*rights.get(kind.gvr, ()), *objects_of(kind)):
        key = (obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
        if key not in seen:
            seen.add(key)
            yield obj


def _secret_workspace() -> str:
    name: str = next(secret(kind)["metadata"]["name"] for kind in kinds if kind.gvr == WORKSPACES)
    return name


def quota(workspace: str) -> Obj:
    """Return the quota of all projects of a workspace."""
    return {
        "metadata": {"name": workspace, "uid": f"quota-{workspace}", "resourceVersion": "1"},
        "spec": {
            "selector": {WORKSPACE_LABEL: workspace},
            "quota": {"hard": {"limits.cpu": "4"}},
        },
    }


def custom_informer(kind: GenericKind, objects: list[Obj]) -> Informer[Any]:
    decode = decoder_of(kind.custom.columns, has_state=kind.custom.has_state)
    informer: Informer[Any] = Informer(kind.gvr, decode)
    informer.replace([encoded(obj) for obj in objects], "1")
    informer.connected()
    return informer


class Clusters:
    """The informers `without` and `within` the secret objects. They are shared by all tests, so
    tests may change only secret objects.
    """

    def __init__(self) -> None:
        self._rights = _rights()
        self.without = self._informers(False)
        self.within = self._informers(True)
        self._usage = {secrets: usage(secrets) for secrets in (False, True)}

    def _informers(self, secrets: bool) -> dict[GVR, Informer[Any]]:
        found = {kind.gvr: self._informer(kind, secrets) for kind in KINDS}
        # The only type without a kind that pages read.
        quotas = [quota(WORKSPACE), *([quota(_secret_workspace())] if secrets else [])]
        return {**found, WORKSPACE_QUOTAS: preloaded(WORKSPACE_QUOTAS, quotas)}

    def _informer(self, kind: ResourceKind, secrets: bool) -> Informer[Any]:
        found = list(_objects(kind, self._rights))
        if kind.gvr == CUSTOM_RESOURCE_DEFINITIONS:
            # Without their definitions the custom types would not exist, whatever objects there
            # are.
            found += CUSTOMS
            custom = (one for one in kinds if one.gvr.group not in BUILT_IN_GROUPS)
            known = {obj["metadata"]["name"] for obj in found}
            made = [definition_of(one) for one in custom if one.gvr.qualified not in known]
            found += made
        if secrets:
            found.append(secret(kind))
            found += [report(one) for one in KINDS if kind.gvr == EVENTS]
        return (
            custom_informer(kind, found)
            if isinstance(kind, GenericKind)
            else informer_of(kind, found)
        )

    def runtime(
        self, secrets: bool, but: Collection[GVR] = (), anew: ResourceKind | None = None
    ) -> StaticRuntime:
        """Return a runtime. `but` lists types whose secret objects exist in both clusters, because
        the viewer can see them. `anew` is the kind whose objects the caller changes.
        """
        held = dict(self.within if secrets else self.without)
        held |= {gvr: self.within[gvr] for gvr in but}
        if anew is not None:
            held[anew.gvr] = self._informer(anew, secrets or anew.gvr in but)
        [private] = [held.pop(gvr) for gvr in list(held) if _is_private(gvr)]
        runtime = StaticRuntime(held, live_lists=LiveLists(private))
        runtime.usage = self._usage[secrets]
        return runtime


def usage(secrets: bool) -> UsageReader:
    """Return the usage that metrics-server measured for the objects."""
    pods, nodes = (kind for gvr in (PODS, NODES) if (kind := kinds.by_type(gvr)))
    make = (visible, secret) if secrets else (visible,)
    used = ("1234m", "77Mi")
    measuring = Measuring(
        nodes=[node_usage(one(nodes)["metadata"]["name"], *used) for one in make],
        pods=[pod_usage(*key_of(one(pods)), used) for one in make],
    )
    found = UsageReader(measuring, SystemClock())
    # An event loop may be running in the thread where tests create their clusters.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, found.take()).result()
    return found


def _is_private(gvr: GVR) -> bool:
    kind = kinds.by_type(gvr)
    return kind is not None and kind.private
