"""Reconcilers of workspaces and projects: which change asks for which comparison.

A change of anything that is derived leads to the same comparison as one of its source, so what somebody
changes or deletes by hand is repaired. Everything is worked out from the cache; a write on what is no
longer the latest is refused by kube-apiserver, and the next look starts anew.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from weakref import WeakKeyDictionary

from console.kube.controller import Factory, NotSynced, Request, Result
from console.kube.gvr import (
    EVENTS,
    GVR,
    LIMIT_RANGES,
    NAMESPACES,
    NETWORK_POLICIES,
    RESOURCE_QUOTAS,
    ROLE_BASES,
    ROLES,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
    Key,
)
from console.kube.runtime import Runtime
from rbac.settling import a_few_at_a_time
from workspaces.builtins import PROJECT_RULES, WORKSPACE_RULES
from workspaces.controllers.projects import ProjectSync
from workspaces.controllers.refused import WORKLOADS, Refused
from workspaces.controllers.shares import ShareSync
from workspaces.controllers.workspaces import WorkspaceSync
from workspaces.controllers.world import World
from workspaces.names import ISOLATION
from workspaces.refusals import PATIENCE
from workspaces.rolebases import Bases

Sync = Callable[["Tenancy", Request], Awaitable[Result]]


class Tenancy:
    """The rules over one runtime, so that what they know is there once."""

    def __init__(self, runtime: Runtime) -> None:
        self.world = World(runtime)
        self.shares = ShareSync(self.world, Refused(runtime))
        self.projects = ProjectSync(self.world, self.shares)
        self.workspaces = WorkspaceSync(self.world, self.projects)
        # What all roles were made of when they were last looked at together.
        self.roles_of: Bases | None = None


_tenancies: "WeakKeyDictionary[Runtime, Tenancy]" = WeakKeyDictionary()


class TenancyReconciler:
    def __init__(self, runtime: Runtime, name: str, gvr: GVR, sync: Sync) -> None:
        self.name, self.gvr, self._sync = name, gvr, sync
        found = _tenancies.get(runtime)
        if found is None:
            found = _tenancies[runtime] = Tenancy(runtime)
        self._tenancy = found

    async def reconcile(self, request: Request) -> Result:
        # An empty cache would read as "it is gone".
        if not self._tenancy.world.known:
            raise NotSynced
        return await self._sync(self._tenancy, request)


async def _workspace(tenancy: Tenancy, request: Request) -> Result:
    result = await tenancy.workspaces.sync_template(request.name)
    await tenancy.workspaces.sync(request.name)
    await tenancy.projects.sync_all(request.name)
    return result


async def _builtin(tenancy: Tenancy, request: Request) -> Result:
    """A role or a binding that may be one of those that every workspace has."""
    for role in WORKSPACE_RULES:
        workspace = request.name.removesuffix(f"-{role}")
        if workspace != request.name:
            await tenancy.workspaces.sync(workspace)
    return Result()


async def _base(tenancy: Tenancy, request: Request) -> Result:
    """What all workspaces and projects have, when the RoleBases together say something else."""
    bases = tenancy.world.role_bases.rules()
    if bases == tenancy.roles_of:
        return Result()
    for workspace in tenancy.world.workspaces():
        await tenancy.workspaces.sync(workspace)
        projects = [project.name for project in tenancy.world.projects(workspace)]
        await a_few_at_a_time(partial(tenancy.projects.sync_roles, name) for name in projects)
    tenancy.roles_of = bases
    return Result()


async def _share(tenancy: Tenancy, request: Request) -> Result:
    await tenancy.shares.sync_project(request.namespace)
    return Result()


def _refusal(gvr: GVR) -> Sync:
    async def sync(tenancy: Tenancy, request: Request) -> Result:
        """The workspace may have what the project was refused, and others what it waits for no more."""
        if not tenancy.shares.refused.tells(gvr, Key(request.namespace, request.name)):
            return Result()
        await tenancy.shares.sync_project(request.namespace)
        return Result(requeue_after=PATIENCE if gvr == EVENTS else None)

    return sync


async def _quota(tenancy: Tenancy, request: Request) -> Result:
    for workspace in tenancy.shares.workspaces_of(request.name):
        await tenancy.shares.sync(workspace)
    return Result()


async def _policy(tenancy: Tenancy, request: Request) -> Result:
    if request.name == ISOLATION:
        await tenancy.projects.sync_isolation(request.namespace)
    return Result()


async def _role(tenancy: Tenancy, request: Request) -> Result:
    if request.name in PROJECT_RULES:
        await tenancy.projects.sync_roles(request.namespace)
    return Result()


async def _project(tenancy: Tenancy, request: Request) -> Result:
    return await tenancy.projects.sync(request.name)


_SYNCS: tuple[tuple[str, GVR, Sync], ...] = (
    ("workspacetemplate", WORKSPACE_TEMPLATES, lambda t, r: t.workspaces.sync_template(r.name)),
    ("workspace", WORKSPACES, _workspace),
    ("workspace-builtin-roles", WORKSPACE_ROLES, _builtin),
    ("rolebase", ROLE_BASES, _base),
    ("workspace-manager", WORKSPACE_ROLE_BINDINGS, _builtin),
    ("namespace", NAMESPACES, _project),
    ("project-builtin-roles", ROLES, _role),
    ("workspace-quota", WORKSPACE_QUOTAS, _quota),
    ("workspace-share", RESOURCE_QUOTAS, _share),
    ("refusal", EVENTS, _refusal(EVENTS)),
    *((f"refused-{kind.lower()}", gvr, _refusal(gvr)) for kind, gvr in WORKLOADS.items()),
    ("network-isolation", NETWORK_POLICIES, _policy),
)


def _factory(name: str, gvr: GVR, sync: Sync) -> Factory:
    return lambda runtime: TenancyReconciler(runtime, name, gvr, sync)


#: All of them.
FACTORIES: tuple[Factory, ...] = tuple(_factory(*found) for found in _SYNCS)

#: What they read.
SOURCES: tuple[GVR, ...] = (*dict.fromkeys(gvr for _name, gvr, _sync in _SYNCS), LIMIT_RANGES)
