"""Reconcile a namespace in a workspace: its owner, roles, first member, limits, isolation, and
deletion.
"""

from typing import Any

from console.kube.apply import Manifest
from console.kube.controller import Result
from console.kube.gvr import (
    LIMIT_RANGES,
    NAMESPACES,
    NETWORK_POLICIES,
    RESOURCE_QUOTAS,
    ROLE_BINDINGS,
    ROLES,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
)
from console.kube.identity import Identity, InvalidIdentity
from console.kube.projections.namespace import (
    PREPARING_ANNOTATION,
    SYSTEM_NAMESPACES,
    SYSTEM_WORKSPACE,
    WORKSPACE_LABEL,
    Namespace,
)
from console.kube.projections.tenancy import Workspace
from console.kube.store import Entry
from rbac.event_recorder import NORMAL
from rbac.workspace_projector import belongs_to
from workspaces.builtin_roles import ADMIN, project_roles
from workspaces.controllers.cached_objects import WorkspaceCache
from workspaces.controllers.kubesphere_locks import CHECK_INTERVAL
from workspaces.controllers.quota_shares import QuotaShareSync
from workspaces.manifests import isolation, limit_range, project_member
from workspaces.names import (
    ISOLATION,
    NAMESPACE_LABEL,
    SHARE,
    is_workspace,
    owner_of,
)


class ProjectSync:
    def __init__(self, world: WorkspaceCache, shares: QuotaShareSync) -> None:
        self._world, self._shares = world, shares
        # The version of each workspace when its projects were last reconciled.
        self._looked: dict[str, str] = {}

    async def sync_all(self, workspace: str) -> None:
        """Reconcile all projects of a workspace if the workspace changed since the last time.

        The workspace quota is allocated once for all of them. Other changes trigger a
        reconciliation of the project that changed.
        """
        found = self._world.find(WORKSPACES, workspace)
        version = found.resource_version if found is not None else ""
        if self._looked.get(workspace) == version:
            return
        names = {project.name for project in self._world.projects(workspace)}
        if workspace == SYSTEM_WORKSPACE:
            # The system namespaces may be older than the workspace, and no other event reports that
            # the workspace was created.
            names |= SYSTEM_NAMESPACES
        await self._shares.sync(workspace)
        for name in sorted(names):
            await self.sync(name, dealt=workspace)
        if version:
            self._looked[workspace] = version
        else:
            self._looked.pop(workspace, None)

    async def sync(self, name: str, *, dealt: str = "") -> Result:
        """Reconcile a namespace with its workspace label. `dealt` is the workspace whose quota was
        just allocated.
        """
        entry = self._world.find(NAMESPACES, name)
        if entry is None:
            return Result()
        project: Namespace = entry.projection
        if project.deleted is not None:
            await self._shares.sync_project(name)
            if await self._world.kubesphere.is_running():
                return Result(requeue_after=CHECK_INTERVAL)
            await self._world.drop_finalizers(NAMESPACES, entry)
        elif (wanted := self._desired_workspace(project)) != project.workspace:
            labels = {WORKSPACE_LABEL: wanted or None}
            await self._world.patch(NAMESPACES, entry, {"labels": labels})
        elif not project.workspace:
            await self._leave(entry)
        elif (
            project.workspace != SYSTEM_WORKSPACE
            and (workspace := self._world.workspace(project.workspace)) is not None
        ):
            return await self._join(entry, workspace, dealt=workspace.name == dealt)
        elif project.owning_workspace not in ("", project.workspace):
            # The label no longer names the owner.
            await self._leave(entry)
        return Result()

    async def sync_share(self, name: str) -> None:
        """Reconcile the project's quota share, then continue with a new project that waits until
        its share is enforced.
        """
        await self._shares.sync_project(name)
        entry = self._world.find(NAMESPACES, name)
        workspace = self._world.workspace(entry.projection.workspace) if entry is not None else None
        if entry is not None and workspace is not None and _is_new(entry.projection, workspace):
            await self.sync(name, dealt=workspace.name)

    def _desired_workspace(self, project: Namespace) -> str:
        """Return the workspace that the project's label should name. Users choose the workspace,
        except for system namespaces.
        """
        if project.name not in SYSTEM_NAMESPACES:
            return project.workspace
        there = self._world.workspace(SYSTEM_WORKSPACE) is not None
        template = self._world.find(WORKSPACE_TEMPLATES, SYSTEM_WORKSPACE)
        # When the template is deleted, it releases the projects before it deletes the workspace.
        ends = template is not None and template.projection.deleted is not None
        return SYSTEM_WORKSPACE if there and not ends else ""

    async def release(self, entry: Entry[Namespace]) -> None:
        """Remove a project from its workspace and keep its content."""
        owners = _owners_but_workspaces(entry)
        labels = {WORKSPACE_LABEL: None}
        await self._world.patch(NAMESPACES, entry, {"labels": labels, "ownerReferences": owners})

    async def sync_roles(self, name: str) -> Result:
        """Reconcile the built-in roles of a project. KubeSphere's controllers create these roles
        while they run.
        """
        entry = self._world.find(NAMESPACES, name)
        if entry is None or entry.projection.deleted is not None:
            return Result()
        workspace = self._world.workspace(entry.projection.workspace)
        if workspace is None or not belongs_to(entry.projection, workspace):
            return Result()
        ours, says = project_roles(name), self._world.role_bases.rules().projects
        if await self._world.kubesphere.is_running():
            lacks = any(self._world.find(ROLES, role, name) is None for role in ours)
            return Result(requeue_after=CHECK_INTERVAL if lacks else None)
        for role, wanted in project_roles(name, says).items():
            await self._world.ensure_role(ROLES, role, wanted, ours[role], namespace=name)
        return Result()

    async def sync_isolation(self, name: str) -> None:
        """Reconcile the NetworkPolicy that blocks traffic from other workspaces or projects, if the
        workspace or the project requests isolation.
        """
        entry = self._world.find(NAMESPACES, name)
        if entry is None or entry.projection.deleted is not None:
            return
        project: Namespace = entry.projection
        workspace = self._world.workspace(project.workspace)
        wanted = None
        if (
            workspace is not None
            and belongs_to(project, workspace)
            and (project.isolated or workspace.isolated)
        ):
            wanted = isolation(project, workspace.uid, by_itself=project.isolated)
        await self._world.ensure(NETWORK_POLICIES, ISOLATION, wanted, namespace=name)

    async def _join(self, entry: Entry[Namespace], workspace: Workspace, *, dealt: bool) -> Result:
        project = entry.projection
        name = project.name
        # The quota must exist before users get permissions in the project. They get them when the
        # owner is set and the preparation is complete.
        if not dealt:
            await self._shares.sync_project(name)
        if _is_new(project, workspace) and not self._shares.is_enforced(name, workspace.name):
            # The change of the quota share triggers the next reconciliation.
            return Result()
        if not belongs_to(project, workspace):
            await self._set_owner(entry, workspace)
            return Result()
        left = await self.sync_roles(name)
        await self.sync_isolation(name)
        if project.preparing:
            await self._prepare(project)
            await self._world.patch(
                NAMESPACES, entry, {"annotations": {PREPARING_ANNOTATION: None}}
            )
            message = f"The project is ready in workspace {workspace.name}"
            # Objects from a list of a native Kubernetes type have no apiVersion and kind.
            about = {"apiVersion": "v1", "kind": "Namespace", **entry.original()}
            await self._world.recorder.record(about, NORMAL, "Synced", message)
        return left

    async def _set_owner(self, entry: Entry[Namespace], workspace: Workspace) -> None:
        """Add the workspace as owner. This change triggers the next reconciliation of the
        namespace.
        """
        owners = [*_owners_but_workspaces(entry), owner_of(workspace.name, workspace.uid)]
        metadata: Manifest = {
            "ownerReferences": owners,
            "labels": {NAMESPACE_LABEL: entry.key.name},
        }
        await self._world.patch(NAMESPACES, entry, metadata)

    async def _prepare(self, project: Namespace) -> None:
        """Create the objects that project members may change later."""
        name = project.name
        if not self._world.within(LIMIT_RANGES, name):
            await self._world.ensure(LIMIT_RANGES, name, limit_range(name), namespace=name)
        try:
            creator = Identity(project.creator).name
        except InvalidIdentity:
            return
        wanted = project_member(name, ADMIN, creator)
        bound = wanted["metadata"]["name"]
        # KubeSphere creates the binding with the same name.
        if self._world.find(ROLE_BINDINGS, bound, name) is None:
            await self._world.ensure(ROLE_BINDINGS, bound, wanted, namespace=name)

    async def _leave(self, entry: Entry[Namespace]) -> None:
        """Remove the objects that the workspace added, and the owner if the label no longer names
        it.
        """
        name = entry.key.name
        if entry.projection.owning_workspace:
            await self._world.patch(
                NAMESPACES, entry, {"ownerReferences": _owners_but_workspaces(entry)}
            )
        for gvr, ours in ((RESOURCE_QUOTAS, SHARE), (NETWORK_POLICIES, ISOLATION)):
            await self._world.ensure(gvr, ours, None, namespace=name)


def _is_new(project: Namespace, workspace: Workspace) -> bool:
    """Return True while the workspace's roles grant no permissions in the project."""
    return project.preparing or not belongs_to(project, workspace)


def _owners_but_workspaces(entry: Entry[Any]) -> list[Manifest]:
    owners: list[Manifest] = entry.original()["metadata"].get("ownerReferences") or []
    return [owner for owner in owners if not is_workspace(owner)]
