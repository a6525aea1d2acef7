"""Reconcilers of workspaces and projects.

A change of a derived object triggers the same comparison as a change of its source, so manual
changes and deletions are reverted. Reconcilers read from the cache. kube-apiserver rejects a
write that is based on an outdated version, and the next reconciliation starts over.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from console.kube.controller import Factory, NotSynced, Request, Result
from console.kube.group_kind import without_group
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
from rbac.apply import run_concurrently
from workspaces.builtin_roles import PROJECT_RULES, WORKSPACE_RULES
from workspaces.controllers.cached_objects import WorkspaceCache
from workspaces.controllers.kubesphere_locks import CHECK_INTERVAL
from workspaces.controllers.projects import ProjectSync
from workspaces.controllers.quota_shares import QuotaShareSync
from workspaces.controllers.refused_pods import WORKLOADS, RefusedRequests
from workspaces.controllers.workspaces import WorkspaceSync
from workspaces.names import ISOLATION
from workspaces.refused_requests import MIN_VALIDITY
from workspaces.role_bases import RoleBaseRules

SyncCallback = Callable[["WorkspaceReconciliation", Request], Awaitable[Result]]

#: Seconds until a quota is checked again while KubeSphere reports its usage.
REPORT_AGAIN = 60.0
#: Minimum seconds between two checks of a project's refused requests, and number of projects whose
#: last check is stored.
_PAUSE, _MAX_CHECKED = 0.25, 1000


class WorkspaceReconciliation:
    """The reconciliation logic of one runtime, shared by its reconcilers."""

    def __init__(self, runtime: Runtime) -> None:
        self.world = WorkspaceCache(runtime)
        self.shares = QuotaShareSync(self.world, RefusedRequests(runtime))
        self.projects = ProjectSync(self.world, self.shares)
        self.workspaces = WorkspaceSync(self.world, self.projects)
        # The rules with which all roles were last reconciled.
        self.roles_of: RoleBaseRules | None = None


_tenancies: "WeakKeyDictionary[Runtime, WorkspaceReconciliation]" = WeakKeyDictionary()


class TenancyReconciler:
    def __init__(self, runtime: Runtime, name: str, gvr: GVR, sync: SyncCallback) -> None:
        self.name, self.gvr, self._sync = name, gvr, sync
        found = _tenancies.get(runtime)
        if found is None:
            found = _tenancies[runtime] = WorkspaceReconciliation(runtime)
        self._tenancy = found

    async def reconcile(self, request: Request) -> Result:
        # In an empty cache, every object would appear to be deleted.
        if not self._tenancy.world.synced:
            raise NotSynced
        return await self._sync(self._tenancy, request)


class RefusalReconciler(TenancyReconciler):
    """Reconcile the quota of a project whose requests were refused, or that no longer waits for
    resources: its workspace may have capacity left.

    Every user who may create events can create thousands, so one reconciliation handles all
    events of a project.
    """

    def __init__(self, runtime: Runtime, name: str, gvr: GVR) -> None:
        super().__init__(runtime, name, gvr, self._reconcile_project)
        self._clock = runtime.clock
        self._looked: dict[str, float] = {}

    def request_for(self, key: Key) -> Request | None:
        tells = self._tenancy.shares.refused.reports_refusal(self.gvr, key)
        return Request(key.namespace, "") if tells else None

    async def _reconcile_project(
        self, tenancy: WorkspaceReconciliation, request: Request
    ) -> Result:
        project, now = request.namespace, self._clock.monotonic()
        wait = self._looked.get(project, -_PAUSE) + _PAUSE - now
        if wait > 0:
            return Result(requeue_after=wait)
        if len(self._looked) >= _MAX_CHECKED:
            self._looked.clear()
        self._looked[project] = now
        await tenancy.shares.sync_project(project)
        # No event reports that a refusal no longer counts.
        again = self.gvr == EVENTS and tenancy.shares.refused.needs_resources(project)
        return Result(requeue_after=MIN_VALIDITY if again else None)


async def _workspace(tenancy: WorkspaceReconciliation, request: Request) -> Result:
    results = (
        await tenancy.workspaces.sync_template(request.name),
        await tenancy.workspaces.sync(request.name),
    )
    await tenancy.projects.sync_all(request.name)
    waits = [one.requeue_after for one in results if one.requeue_after is not None]
    return Result(requeue_after=min(waits, default=None))


async def _builtin(tenancy: WorkspaceReconciliation, request: Request) -> Result:
    """Reconcile the workspace of a role or binding that may be a built-in one."""
    for role in WORKSPACE_RULES:
        workspace = request.name.removesuffix(f"-{role}")
        if workspace != request.name:
            await tenancy.workspaces.sync(workspace)
    return Result()


async def _base(tenancy: WorkspaceReconciliation, request: Request) -> Result:
    """Reconcile the built-in roles of all workspaces and projects if the rules of the RoleBases
    changed.
    """
    world, projects = tenancy.world, tenancy.projects
    if await world.kubesphere.is_running():
        return Result(requeue_after=CHECK_INTERVAL)
    # Repeat if the RoleBases change in the meantime.
    while (bases := world.role_bases.rules()) != tenancy.roles_of:
        # Until the update is complete, the roles match neither the old nor the new rules.
        tenancy.roles_of = None
        names = world.workspaces()
        doings: list[Callable[[], Awaitable[object]]] = [
            partial(tenancy.workspaces.sync, name) for name in names
        ]
        for name in names:
            doings += [partial(projects.sync_roles, one.name) for one in world.projects(name)]
        await run_concurrently(doings)
        tenancy.roles_of = bases
    return Result()


async def _share(tenancy: WorkspaceReconciliation, request: Request) -> Result:
    await tenancy.projects.sync_share(request.namespace)
    return Result()


async def _quota(tenancy: WorkspaceReconciliation, request: Request) -> Result:
    for workspace in tenancy.shares.workspaces_of(request.name):
        await tenancy.shares.sync(workspace)
    # KubeSphere reports the usage until its controllers stop. No event reports that they stopped.
    theirs = await tenancy.world.kubesphere.is_running()
    return Result(requeue_after=REPORT_AGAIN if theirs else None)


async def _policy(tenancy: WorkspaceReconciliation, request: Request) -> Result:
    if request.name == ISOLATION:
        await tenancy.projects.sync_isolation(request.namespace)
    return Result()


async def _role(tenancy: WorkspaceReconciliation, request: Request) -> Result:
    if request.name not in PROJECT_RULES:
        return Result()
    return await tenancy.projects.sync_roles(request.namespace)


_SYNCS: tuple[tuple[str, GVR, SyncCallback], ...] = (
    ("workspacetemplate", WORKSPACE_TEMPLATES, lambda t, r: t.workspaces.sync_template(r.name)),
    ("workspace", WORKSPACES, _workspace),
    ("workspace-builtin-roles", WORKSPACE_ROLES, _builtin),
    ("rolebase", ROLE_BASES, _base),
    ("workspace-manager", WORKSPACE_ROLE_BINDINGS, _builtin),
    ("namespace", NAMESPACES, lambda t, r: t.projects.sync(r.name)),
    ("project-builtin-roles", ROLES, _role),
    ("workspace-quota", WORKSPACE_QUOTAS, _quota),
    ("workspace-share", RESOURCE_QUOTAS, _share),
    ("network-isolation", NETWORK_POLICIES, _policy),
)


#: Resource types that report refused requests.
_REFUSALS: tuple[tuple[str, GVR], ...] = (
    ("refusal", EVENTS),
    *((f"refused-{without_group(kind).lower()}", gvr) for kind, gvr in WORKLOADS.items()),
)


def _factory(reconciler: type[TenancyReconciler], *about: Any) -> Factory:
    return lambda runtime: reconciler(runtime, *about)


FACTORIES: tuple[Factory, ...] = (
    *(_factory(TenancyReconciler, *found) for found in _SYNCS),
    *(_factory(RefusalReconciler, *found) for found in _REFUSALS),
)

#: Resource types that the reconcilers read.
SOURCES: tuple[GVR, ...] = (
    *dict.fromkeys(gvr for _name, gvr, _sync in _SYNCS),
    *(gvr for _name, gvr in _REFUSALS),
    LIMIT_RANGES,
)
