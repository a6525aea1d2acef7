"""Reconcilers that run the projection of KubeSphere roles and bindings to native ones.

The reconcilers share one rule: a change on either side triggers the same comparison. Manual
changes and deletions of the native objects are therefore reverted, and objects whose source was
deleted are removed.
"""

from collections.abc import Awaitable, Callable
from weakref import WeakKeyDictionary

from console.kube.controller import Factory, Request, Result
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GVR,
    NAMESPACES,
    ROLE_BINDINGS,
    USERS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACES,
)
from console.kube.runtime import Runtime
from rbac.names import GLOBAL_BINDING, GLOBAL_ROLE, WORKSPACE_ROLE, source_of
from rbac.platform_projector import PlatformProjector
from rbac.workspace_projector import WorkspaceProjector

SyncCallback = Callable[["RuntimeProjectors", Request], Awaitable[Result]]


class RuntimeProjectors:
    """The projectors of one runtime, shared by its reconcilers."""

    def __init__(self, runtime: Runtime) -> None:
        self.platform = PlatformProjector(runtime)
        self.tenants = WorkspaceProjector(runtime)


_projectors: "WeakKeyDictionary[Runtime, RuntimeProjectors]" = WeakKeyDictionary()


class ProjectionReconciler:
    def __init__(self, runtime: Runtime, name: str, gvr: GVR, sync: SyncCallback) -> None:
        self.name, self.gvr, self._sync = name, gvr, sync
        found = _projectors.get(runtime)
        if found is None:
            found = _projectors[runtime] = RuntimeProjectors(runtime)
        self._projectors = found

    async def reconcile(self, request: Request) -> Result:
        return await self._sync(self._projectors, request)


async def _projected(projectors: RuntimeProjectors, request: Request) -> Result:
    """Reconcile a changed native object that the console created. Other native objects are ignored."""
    source = source_of(request.name)
    match source.level if source else "", source.name if source else "":
        case (level, name) if level == GLOBAL_BINDING:
            return await projectors.platform.sync_binding(name)
        case (level, name) if level == GLOBAL_ROLE:
            return await projectors.platform.sync_role(name)
        case (level, name) if level == WORKSPACE_ROLE and request.namespace:
            return await projectors.tenants.sync_role_in_project(name, request.namespace)
        case (level, name) if level == WORKSPACE_ROLE:
            return await projectors.tenants.sync_role(name)
    return Result()


async def _user(projectors: RuntimeProjectors, request: Request) -> Result:
    done = await projectors.platform.sync_user(request.name)
    return await projectors.tenants.sync_user(request.name) if done == Result() else done


_SYNCS: tuple[tuple[str, GVR, SyncCallback], ...] = (
    ("globalrole", GLOBAL_ROLES, lambda p, r: p.platform.sync_role(r.name)),
    ("globalrolebinding", GLOBAL_ROLE_BINDINGS, lambda p, r: p.platform.sync_binding(r.name)),
    ("workspacerole", WORKSPACE_ROLES, lambda p, r: p.tenants.sync_role(r.name)),
    ("workspacerolebinding", WORKSPACE_ROLE_BINDINGS, lambda p, r: p.tenants.sync_binding(r.name)),
    ("workspace-roles", WORKSPACES, lambda p, r: p.tenants.sync_workspace(r.name)),
    ("project-roles", NAMESPACES, lambda p, r: p.tenants.sync_project(r.name)),
    ("user-roles", USERS, _user),
    ("projected-clusterrole", CLUSTER_ROLES, _projected),
    ("projected-clusterrolebinding", CLUSTER_ROLE_BINDINGS, _projected),
    ("projected-rolebinding", ROLE_BINDINGS, _projected),
)


def _factory(name: str, gvr: GVR, sync: SyncCallback) -> Factory:
    return lambda runtime: ProjectionReconciler(runtime, name, gvr, sync)


FACTORIES: tuple[Factory, ...] = tuple(_factory(*found) for found in _SYNCS)
