"""In-memory cluster for workspace controllers, with finalizers, garbage collection, namespace
deletion and quota status.
"""

import copy
from random import Random
from typing import Any, cast

from console.kube.controller import GroupingReconciler, Request
from console.kube.errors import Conflict
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GROUP_BINDINGS,
    GROUPS,
    GVR,
    LIMIT_RANGES,
    NAMESPACES,
    RESOURCE_QUOTAS,
    ROLE_BINDINGS,
    USERS,
    WORKSPACE_QUOTAS,
    WORKSPACE_TEMPLATES,
    Key,
)
from console.kube.informer import Informer
from console.kube.runtime import Runtime
from rbac.controllers import FACTORIES as PROJECTION
from tests.rbac.fakes import FakeConsole, Manifest, MovableClock, place_of
from tests.support.controllers import Controllers
from tests.support.informers import preloaded, take_away
from tests.support.staticruntime import StaticRuntime
from workspaces.controllers import FACTORIES, SOURCES

TYPES = tuple(
    dict.fromkeys(
        (
            *SOURCES,
            CLUSTER_ROLES,
            GLOBAL_ROLES,
            GLOBAL_ROLE_BINDINGS,
            CLUSTER_ROLE_BINDINGS,
            ROLE_BINDINGS,
            GROUPS,
            GROUP_BINDINGS,
            USERS,
            LIMIT_RANGES,
        )
    )
)
#: Rounds after which a cluster that still changes is considered unstable.
_ROUNDS = 40


class Crash(BaseException):
    """The process is killed."""


class TenantConsole(FakeConsole):
    """In-memory client that can simulate a crash.

    `crash_after` is the number of writes until the process dies, directly after the last write.
    """

    def __init__(self, informers: dict[GVR, Informer[Any]]) -> None:
        super().__init__(informers)
        self.status_subresource = True
        self.crash_after: int | None = None
        self.writes = 0

    async def create(
        self, gvr: GVR, body: Manifest, *, namespace: str = "", audit_id: str = ""
    ) -> Manifest:
        self._check_alive()
        made = await super().create(gvr, body, namespace=namespace, audit_id=audit_id)
        self._wrote()
        return made

    async def patch(
        self,
        gvr: GVR,
        body: Manifest,
        *,
        namespace: str = "",
        name: str,
        content_type: str = "",
        subresource: str = "",
        dry_run: bool = False,
        audit_id: str = "",
        warnings: list[str] | None = None,
    ) -> Manifest:
        self._check_alive()
        made = await super().patch(
            gvr,
            body,
            namespace=namespace,
            name=name,
            subresource=subresource,
            dry_run=dry_run,
            audit_id=audit_id,
        )
        if dry_run:
            return made
        self._finish(gvr, made)
        self._wrote()
        return made

    async def replace(
        self, gvr: GVR, body: Manifest, *, namespace: str = "", name: str, audit_id: str = ""
    ) -> Manifest:
        """Replace an object. The status is kept, as kube-apiserver does for types with a status
        subresource.
        """
        self._check_alive()
        kept = self.objects.get((gvr, place_of(body)), {})
        meta = {"uid": kept.get("metadata", {}).get("uid"), **body["metadata"]}
        whole = {**body, "metadata": meta, **{k: v for k, v in kept.items() if k == "status"}}
        made = await super().replace(gvr, whole, namespace=namespace, name=name, audit_id=audit_id)
        self._wrote()
        return made

    async def delete(
        self,
        gvr: GVR,
        *,
        namespace: str = "",
        name: str,
        uid: str | None = None,
        resource_version: str | None = None,
        grace: int | None = None,
        policy: str = "",
        dry_run: bool = False,
        audit_id: str = "",
    ) -> Manifest:
        self._check_alive()
        found = self._found(gvr, str(Key(namespace, name)))
        meta = found["metadata"]
        given = {"uid": uid, "resourceVersion": resource_version}
        if any(value and value != meta[field] for field, value in given.items()):
            raise Conflict(409, "precondition failed")
        self.mark(gvr, found)
        self._wrote()
        return found

    def mark(self, gvr: GVR, found: Manifest) -> None:
        """Set the deletion timestamp, and delete the object as soon as its finalizers and contents
        allow it.
        """
        item = copy.deepcopy(found)
        item["metadata"].setdefault("deletionTimestamp", "2026-03-01T12:00:00Z")
        self._store(gvr, item)
        self._finish(gvr, self.objects[gvr, place_of(item)])

    def _finish(self, gvr: GVR, item: Manifest) -> None:
        meta = item["metadata"]
        if not meta.get("deletionTimestamp") or meta.get("finalizers"):
            return
        if gvr == NAMESPACES:
            for kind, place in list(self.objects):
                if place.startswith(f"{meta['name']}/"):
                    self._gone(kind, place)
        self._gone(gvr, place_of(item))

    def _gone(self, gvr: GVR, place: str) -> None:
        found = self.objects.pop((gvr, place))
        if gvr in self.informers:
            take_away(self.informers[gvr], found)

    def _wrote(self) -> None:
        self.writes += 1
        if self.writes == self.crash_after:
            raise Crash

    def _check_alive(self) -> None:
        """Raise Crash if the process is dead, so that pending calls write nothing."""
        if self.crash_after is not None and self.writes >= self.crash_after:
            raise Crash

    # Kubernetes' own controllers.

    def collect_garbage(self) -> None:
        there = {item["metadata"].get("uid") for item in self.objects.values()}
        for (gvr, place), item in list(self.objects.items()):
            owners = item["metadata"].get("ownerReferences") or []
            orphaned = owners and not any(owner["uid"] in there for owner in owners)
            if orphaned and (gvr, place) in self.objects:
                self.mark(gvr, item)

    def fill_quotas(self, used: dict[str, dict[str, str]] | None = None) -> None:
        """Update the status of all ResourceQuotas. `used` is the usage by project (default:
        unchanged).
        """
        for place, item in self.of(RESOURCE_QUOTAS).items():
            status = item.get("status") or {}
            now = (used or {}).get(place.partition("/")[0]) or status.get("used") or {}
            hard = item["spec"]["hard"]
            filled = {name: now.get(name, "0") for name in hard}
            self._store(RESOURCE_QUOTAS, {**item, "status": {"hard": hard, "used": filled}})


class TenantRuntime(StaticRuntime):
    def __init__(self, objects: dict[GVR, list[Manifest]]) -> None:
        informers: dict[GVR, Informer[Any]] = {
            gvr: preloaded(gvr, objects.get(gvr, [])) for gvr in TYPES
        }
        super().__init__(informers)
        self.clock = MovableClock()
        self.console: TenantConsole = TenantConsole(informers)
        self.rng: Random | None = None
        self._controllers: Controllers | None = None

    def controllers(self) -> Controllers:
        """Return the workspace and projection controllers. They are created on the first call."""
        if self._controllers is None:
            self._controllers = Controllers(self, (*FACTORIES, *PROJECTION), self.rng)
        return self._controllers


def restarted(runtime: TenantRuntime) -> TenantRuntime:
    """Return the runtime of a new process with the same cluster."""
    objects: dict[GVR, list[Manifest]] = {}
    for (gvr, _place), item in runtime.console.objects.items():
        objects.setdefault(gvr, []).append(item)
    fresh = TenantRuntime(objects)
    fresh.console.version, fresh.rng = runtime.console.version, runtime.rng
    return fresh


async def reconcile(runtime: TenantRuntime, *, projection: bool = True) -> None:
    """Run each reconciler once for every object."""
    made = [
        factory(cast(Runtime, runtime))
        for factory in (*FACTORIES, *(PROJECTION if projection else ()))
    ]
    for reconciler in made:
        if reconciler.gvr not in TYPES:
            continue
        for key in list(runtime.informer(reconciler.gvr).store.snapshot().entries):
            request = Request(key.namespace, key.name)
            if isinstance(reconciler, GroupingReconciler):
                if (folded := reconciler.request_for(key)) is None:
                    continue
                request = folded
            try:
                await reconciler.reconcile(request)
            except Conflict:
                continue


async def settle(runtime: TenantRuntime) -> TenantRuntime:
    """Run until nothing changes and return the last runtime. After a crash, a new process
    continues.
    """
    for _ in range(_ROUNDS):
        before = _state(runtime)
        try:
            worked = await runtime.controllers().work()
        except Crash:
            runtime, worked = restarted(runtime), True
        runtime.console.collect_garbage()
        runtime.console.fill_quotas()
        if not worked and _state(runtime) == before:
            return runtime
    raise AssertionError("the world does not settle")


def _state(runtime: TenantRuntime) -> dict[tuple[GVR, str], str]:
    return {
        place: item["metadata"]["resourceVersion"]
        for place, item in runtime.console.objects.items()
    }


def meaning(runtime: TenantRuntime) -> dict[tuple[str, str], Manifest]:
    """Return all objects without versions, UIDs and empty lists, for comparison."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            left_out = ("uid", "resourceVersion")
            return {k: plain(v) for k, v in value.items() if k not in left_out and v != []}
        return [plain(one) for one in value] if isinstance(value, list) else value

    return {
        (gvr.qualified, place): plain(item)
        for (gvr, place), item in runtime.console.objects.items()
        if gvr.resource != "events"
    }


def template(name: str, manager: str = "", **spec: Any) -> Manifest:
    inner = {**({"manager": manager} if manager else {}), **spec}
    return {
        "apiVersion": WORKSPACE_TEMPLATES.group_version,
        "kind": "WorkspaceTemplate",
        "metadata": {"name": name, "uid": f"uid-of-template-{name}", "resourceVersion": "10"},
        "spec": {"template": {"spec": inner}},
    }


def new_project(name: str, workspace: str, creator: str = "alice") -> Manifest:
    """Return a namespace as the console creates it."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "uid": f"uid-of-{name}",
            "resourceVersion": "11",
            "labels": {"kubesphere.io/workspace": workspace},
            "annotations": {"kubesphere.io/creator": creator, "quarterdeck.io/preparing": "true"},
            "ownerReferences": [
                {
                    "apiVersion": "tenant.kubesphere.io/v1alpha1",
                    "kind": "Workspace",
                    "name": workspace,
                    "uid": f"uid-of-{workspace}",
                    "controller": True,
                }
            ],
        },
    }


def workspace_quota(name: str, **hard: str) -> Manifest:
    return {
        "apiVersion": WORKSPACE_QUOTAS.group_version,
        "kind": "ResourceQuota",
        "metadata": {"name": name, "uid": f"uid-of-quota-{name}", "resourceVersion": "12"},
        "spec": {
            "selector": {"kubesphere.io/workspace": name},
            "quota": {"hard": {key.replace("_", "."): text for key, text in hard.items()}},
        },
    }
