"""Reconcilers of workspaces and projects: which change asks for which comparison.

A change of anything that is derived leads to the same comparison as one of its source, so what somebody
changes or deletes by hand is repaired. Everything is worked out from the cache; a write on what is no
longer the latest is refused by kube-apiserver, and the next look starts anew.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
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
from rbac.ensure import a_few_at_a_time
from workspaces.builtins import PROJECT_RULES, WORKSPACE_RULES
from workspaces.controllers.kubesphere import LOOK_EVERY
from workspaces.controllers.projects import ProjectSync
from workspaces.controllers.refused import WORKLOADS, Refused
from workspaces.controllers.shares import ShareSync
from workspaces.controllers.workspaces import WorkspaceSync
from workspaces.controllers.world import World
from workspaces.names import ISOLATION
from workspaces.refusals import PATIENCE
from workspaces.rolebases import Bases

Sync = Callable[["Tenancy", Request], Awaitable[Result]]

#: Seconds until another look at a quota of which KubeSphere tells what is used.
REPORT_AGAIN = 60.0
#: Seconds between two looks at what a project was refused, and projects of which that is remembered.
_PAUSE, _LOOKED = 0.25, 1000


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


class RefusalReconciler(TenancyReconciler):
    """Looks at a project that was refused something, or that waits for it no more: its workspace may have
    it. Whoever may write events may write thousands, so it is one look for all that are there."""

    def __init__(self, runtime: Runtime, name: str, gvr: GVR) -> None:
        super().__init__(runtime, name, gvr, self._look)
        self._clock = runtime.clock
        self._looked: dict[str, float] = {}

    def request_for(self, key: Key) -> Request | None:
        tells = self._tenancy.shares.refused.tells(self.gvr, key)
        return Request(key.namespace, "") if tells else None

    async def _look(self, tenancy: Tenancy, request: Request) -> Result:
        project, now = request.namespace, self._clock.monotonic()
        wait = self._looked.get(project, -_PAUSE) + _PAUSE - now
        if wait > 0:
            return Result(requeue_after=wait)
        if len(self._looked) >= _LOOKED:
            self._looked.clear()
        self._looked[project] = now
        await tenancy.shares.sync_project(project)
        # Nothing tells that a refusal counts no more.
        again = self.gvr == EVENTS and tenancy.shares.refused.is_needy(project)
        return Result(requeue_after=PATIENCE if again else None)


async def _workspace(tenancy: Tenancy, request: Request) -> Result:
    results = (
        await tenancy.workspaces.sync_template(request.name),
        await tenancy.workspaces.sync(request.name),
    )
    await tenancy.projects.sync_all(request.name)
    waits = [one.requeue_after for one in results if one.requeue_after is not None]
    return Result(requeue_after=min(waits, default=None))


async def _builtin(tenancy: Tenancy, request: Request) -> Result:
    """A role or a binding that may be one of those that every workspace has."""
    for role in WORKSPACE_RULES:
        workspace = request.name.removesuffix(f"-{role}")
        if workspace != request.name:
            await tenancy.workspaces.sync(workspace)
    return Result()


async def _base(tenancy: Tenancy, request: Request) -> Result:
    """What all workspaces and projects have, when the RoleBases together say something else."""
    world, projects = tenancy.world, tenancy.projects
    if await world.kubesphere.works():
        return Result(requeue_after=LOOK_EVERY)
    # Once more for what they have come to say meanwhile.
    while (bases := world.role_bases.rules()) != tenancy.roles_of:
        # What is half done is none of both.
        tenancy.roles_of = None
        names = world.workspaces()
        doings: list[Callable[[], Awaitable[object]]] = [
            partial(tenancy.workspaces.sync, name) for name in names
        ]
        for name in names:
            doings += [partial(projects.sync_roles, one.name) for one in world.projects(name)]
        await a_few_at_a_time(doings)
        tenancy.roles_of = bases
    return Result()


async def _share(tenancy: Tenancy, request: Request) -> Result:
    await tenancy.projects.sync_share(request.namespace)
    return Result()


async def _quota(tenancy: Tenancy, request: Request) -> Result:
    for workspace in tenancy.shares.workspaces_of(request.name):
        await tenancy.shares.sync(workspace)
    # What it says is told by them until they have ended, for which nobody waits.
    theirs = await tenancy.world.kubesphere.works()
    return Result(requeue_after=REPORT_AGAIN if theirs else None)


async def _policy(tenancy: Tenancy, request: Request) -> Result:
    if request.name == ISOLATION:
        await tenancy.projects.sync_isolation(request.namespace)
    return Result()


async def _role(tenancy: Tenancy, request: Request) -> Result:
    if request.name not in PROJECT_RULES:
        return Result()
    return await tenancy.projects.sync_roles(request.namespace)


_SYNCS: tuple[tuple[str, GVR, Sync], ...] = (
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


#: What is refused is told by these.
_REFUSALS: tuple[tuple[str, GVR], ...] = (
    ("refusal", EVENTS),
    *((f"refused-{kind.lower()}", gvr) for kind, gvr in WORKLOADS.items()),
)


def _factory(reconciler: type[TenancyReconciler], *about: Any) -> Factory:
    return lambda runtime: reconciler(runtime, *about)


#: All of them.
FACTORIES: tuple[Factory, ...] = (
    *(_factory(TenancyReconciler, *found) for found in _SYNCS),
    *(_factory(RefusalReconciler, *found) for found in _REFUSALS),
)

#: What they read.
SOURCES: tuple[GVR, ...] = (
    *dict.fromkeys(gvr for _name, gvr, _sync in _SYNCS),
    *(gvr for _name, gvr in _REFUSALS),
    LIMIT_RANGES,
)
