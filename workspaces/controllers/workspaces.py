"""Reconcile a WorkspaceTemplate to a Workspace: its roles, its manager, and its deletion."""

from typing import Any

from console.kube.apply import Manifest
from console.kube.controller import Result
from console.kube.errors import NotFound
from console.kube.gvr import (
    NAMESPACES,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
)
from console.kube.identity import Identity, InvalidIdentity
from console.kube.projections.namespace import SYSTEM_WORKSPACE
from console.kube.projections.tenancy import Workspace
from console.kube.store import Entry
from rbac.event_recorder import NORMAL
from rbac.projection import LABELS
from workspaces.builtin_roles import workspace_roles
from workspaces.controllers.cached_objects import WORKSPACE_OBJECT_TYPES, WorkspaceCache
from workspaces.controllers.kubesphere_locks import CHECK_INTERVAL
from workspaces.controllers.projects import ProjectSync
from workspaces.manifests import manager_name, workspace_from_template, workspace_member
from workspaces.names import (
    KEEP_FINALIZER,
    TEMPLATE_FINALIZER,
)

#: Seconds until the next check of objects that other controllers must delete first.
_LOOK_AGAIN = 1.0


class WorkspaceSync:
    def __init__(self, world: WorkspaceCache, projects: ProjectSync) -> None:
        self._world, self._projects = world, projects

    async def sync_template(self, name: str) -> Result:
        """Reconcile the Workspace with its template. A Workspace without a template is not changed."""
        entry = self._world.find(WORKSPACE_TEMPLATES, name)
        if entry is None:
            return Result()
        if await self._world.kubesphere.is_running():
            return Result(requeue_after=CHECK_INTERVAL)
        template = entry.original()
        finalizers = template["metadata"].get("finalizers") or []
        if entry.projection.deleted is not None:
            return (
                await self._finalize(entry, finalizers)
                if TEMPLATE_FINALIZER in finalizers
                else Result()
            )
        if TEMPLATE_FINALIZER not in finalizers:
            await self._world.patch(
                WORKSPACE_TEMPLATES, entry, {"finalizers": [*finalizers, TEMPLATE_FINALIZER]}
            )
        await self._apply(template)
        return Result()

    async def _apply(self, template: Manifest) -> None:
        wanted = workspace_from_template(template)
        name = template["metadata"]["name"]
        found = self._world.find(WORKSPACES, name)
        if found is None:
            await self._world.client.create(WORKSPACES, wanted)
            message = f"Created workspace {name}"
            await self._world.recorder.record(template, NORMAL, "Synced", message)
        elif found.projection.deleted is None and (patch := _difference(found, wanted)):
            patch.setdefault("metadata", {})["resourceVersion"] = found.resource_version
            await self._world.client.patch(WORKSPACES, patch, name=name)

    async def sync(self, name: str) -> Result:
        """Reconcile the workspace's built-in roles and its manager's binding, or its deletion."""
        entry = self._world.find(WORKSPACES, name)
        if entry is None:
            return Result()
        if await self._world.kubesphere.is_running():
            return Result(requeue_after=CHECK_INTERVAL)
        workspace: Workspace = entry.projection
        if workspace.deleted is not None:
            await self._world.drop_finalizers(WORKSPACES, entry)
            return Result()
        ours, says = workspace_roles(name, workspace.uid), self._world.role_bases.rules().workspaces
        for role, wanted in workspace_roles(name, workspace.uid, says).items():
            await self._world.ensure_role(WORKSPACE_ROLES, role, wanted, ours[role])
        role = manager_name(name)
        manager = _manager(workspace)
        bound = workspace_member(name, workspace.uid, role, manager, name=role) if manager else None
        await self._world.ensure(WORKSPACE_ROLE_BINDINGS, role, bound)
        return Result()

    async def _finalize(self, entry: Entry[Any], finalizers: list[str]) -> Result:
        """Delete the workspace and its objects. The garbage collector deletes its projects as
        dependents, unless they are kept.
        """
        name = entry.key.name
        keep = KEEP_FINALIZER in finalizers or name == SYSTEM_WORKSPACE
        if keep and await self._release_projects(name):
            return Result(requeue_after=_LOOK_AGAIN)
        for gvr in WORKSPACE_OBJECT_TYPES:
            for found in self._world.objects_of(gvr, name):
                await self._delete(gvr, found)
        workspace = self._world.find(WORKSPACES, name)
        if workspace is not None:
            if workspace.projection.deleted is None:
                await self._delete(WORKSPACES, workspace)
            return Result(requeue_after=_LOOK_AGAIN)
        ours = {TEMPLATE_FINALIZER, KEEP_FINALIZER}
        kept = [one for one in finalizers if one not in ours]
        await self._world.patch(WORKSPACE_TEMPLATES, entry, {"finalizers": kept})
        return Result()

    async def _release_projects(self, name: str) -> bool:
        """Release all projects. Return True if there were any."""
        projects = self._world.projects(name)
        for project in projects:
            found = self._world.find(NAMESPACES, project.name)
            if found is not None:
                await self._projects.release(found)
        return bool(projects)

    async def _delete(self, gvr: Any, entry: Entry[Any]) -> None:
        if entry.projection.deleted is not None:
            return
        try:
            await self._world.client.delete(gvr, name=entry.key.name, uid=entry.projection.uid)
        except NotFound:
            return


def _manager(workspace: Workspace) -> str:
    """Return the workspace's manager, or "" if the name is invalid."""
    try:
        return Identity(workspace.manager).name
    except InvalidIdentity:
        return ""


def _difference(entry: Entry[Workspace], wanted: Manifest) -> Manifest:
    """Return the merge patch that adds the desired content.

    Other labels and annotations are kept. The spec is replaced, because it belongs to the
    template only. The managed-by label is not added to a Workspace that another component
    created.
    """
    found = entry.original()
    patch: Manifest = {}
    for field in ("labels", "annotations"):
        have = found["metadata"].get(field) or {}
        want = wanted["metadata"][field]
        lacks = {k: v for k, v in want.items() if have.get(k) != v and k not in LABELS}
        if lacks:
            patch.setdefault("metadata", {})[field] = lacks
    have = found.get("spec") or {}
    if have != wanted["spec"]:
        patch["spec"] = {**dict.fromkeys(have), **wanted["spec"]}
    return patch
