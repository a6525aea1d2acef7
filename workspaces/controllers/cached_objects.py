"""The cached objects that the workspace reconcilers read, and the client that they write with."""

import logging
from typing import Any

from console.kube.apply import Manifest
from console.kube.errors import Invalid
from console.kube.gvr import (
    GROUP_BINDINGS,
    GROUPS,
    GVR,
    LIMIT_RANGES,
    NAMESPACES,
    NETWORK_POLICIES,
    RESOURCE_QUOTAS,
    ROLE_BINDINGS,
    ROLES,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
    Key,
)
from console.kube.indexes import Index, indexes_of
from console.kube.projections.namespace import WORKSPACE_LABEL, Namespace
from console.kube.projections.tenancy import Workspace, WorkspaceQuota
from console.kube.runtime import Runtime
from console.kube.store import Entry
from rbac.apply import apply_state
from rbac.event_recorder import Recorder
from rbac.projection import LABELS
from rbac.workspace_projector import workspaces_of
from workspaces.controllers.kubesphere_locks import KubeSphereDetector
from workspaces.names import OLD_FINALIZERS
from workspaces.role_bases import RoleBases

log = logging.getLogger(__name__)

#: Maximum number of roles whose rejected rules are stored.
_REFUSED = 10_000

#: Types of objects that belong to a workspace and have its label. Bindings come first, so that
#: permissions are removed before other objects.
WORKSPACE_OBJECT_TYPES = (
    WORKSPACE_ROLE_BINDINGS,
    GROUP_BINDINGS,
    GROUPS,
    WORKSPACE_ROLES,
    WORKSPACE_QUOTAS,
)
_READ = (
    *WORKSPACE_OBJECT_TYPES,
    LIMIT_RANGES,
    NAMESPACES,
    NETWORK_POLICIES,
    RESOURCE_QUOTAS,
    ROLES,
    ROLE_BINDINGS,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
)


class WorkspaceCache:
    """Cached objects, indexes and write operations of the workspace reconcilers."""

    def __init__(self, runtime: Runtime) -> None:
        self.client = runtime.console
        self.kubesphere = KubeSphereDetector(runtime.console, runtime.clock)
        self.role_bases = RoleBases(runtime)
        # Rules that kube-apiserver rejected as invalid, by the role that they were written to.
        self._refused: dict[tuple[GVR, Key], list[Manifest]] = {}
        self.recorder = Recorder(runtime.console, "quarterdeck-workspace-controller")
        informers = {gvr: runtime.informer(gvr) for gvr in _READ}
        self._informers = tuple(informers.values())
        self._stores = {gvr: informer.store for gvr, informer in informers.items()}
        self._projects = Index(self._stores[NAMESPACES], workspaces_of)
        self._belongings = {
            gvr: Index(self._stores[gvr], _label_of) for gvr in WORKSPACE_OBJECT_TYPES
        }

    @property
    def synced(self) -> bool:
        """True if all lists are loaded."""
        return all(informer.freshness.synced for informer in self._informers)

    def find(self, gvr: GVR, name: str, namespace: str = "") -> Entry[Any] | None:
        return self._stores[gvr].get(Key(namespace, name))

    def version(self, gvr: GVR) -> str:
        """Return the resourceVersion of the cached objects of a type."""
        return self._stores[gvr].resource_version

    def within(self, gvr: GVR, namespace: str) -> tuple[Entry[Any], ...]:
        """Return the objects of a type in a project."""
        return indexes_of(self._stores[gvr]).by_namespace.get(namespace)

    def workspace(self, name: str) -> Workspace | None:
        """Return the Workspace, or None if it does not exist or is being deleted."""
        found = self.find(WORKSPACES, name)
        workspace: Workspace | None = found.projection if found else None
        return workspace if workspace and workspace.deleted is None else None

    def workspaces(self) -> list[str]:
        """Return the names of all workspaces that are not being deleted."""
        found = self._stores[WORKSPACES].snapshot().entries.values()
        return [entry.key.name for entry in found if entry.projection.deleted is None]

    def projects(self, workspace: str) -> list[Namespace]:
        """Return the projects with the workspace's label that are not being deleted."""
        found = [entry.projection for entry in self._projects.get(workspace)]
        return [project for project in found if project.deleted is None]

    def objects_of(self, gvr: GVR, workspace: str) -> tuple[Entry[Any], ...]:
        return self._belongings[gvr].get(workspace)

    async def ensure(
        self, gvr: GVR, name: str, wanted: Manifest | None, *, namespace: str = ""
    ) -> bool:
        """Apply the desired state. Return True if the object was changed. Raise `ApiError`."""
        return await apply_state(self.client, gvr, self.find(gvr, name, namespace), wanted)

    async def ensure_role(
        self, gvr: GVR, name: str, wanted: Manifest, ours: Manifest, *, namespace: str = ""
    ) -> None:
        """Create a role or keep it in the desired state, or in the state `ours` if kube-apiserver
        rejects `wanted` as invalid.

        Equal rules are tried once per role, because an admission policy may reject them for one
        role only. A role that another component created, such as an installation of KubeSphere,
        is not changed. Raise `ApiError`.
        """
        found = self.find(gvr, name, namespace)
        labels = found.projection.labels if found is not None else LABELS
        if not LABELS.items() <= labels.items():
            return
        place, rules = (gvr, Key(namespace, name)), wanted["rules"]
        if self._refused.get(place) == rules:
            wanted = ours
        else:
            self._refused.pop(place, None)
        try:
            await apply_state(self.client, gvr, found, wanted)
        except Invalid as error:
            if wanted == ours:
                raise
            await apply_state(self.client, gvr, found, ours)
            self._refuse(place, rules, error)

    def _refuse(self, place: tuple[GVR, Key], rules: list[Manifest], error: Invalid) -> None:
        if rules not in self._refused.values():
            text = (
                "RoleBase rules were rejected; the default rules are used for some %s, e.g. %s: %s"
            )
            log.warning(text, place[0].resource, place[1], error)
        if len(self._refused) >= _REFUSED:
            self._refused.clear()
        self._refused[place] = rules

    async def patch(self, gvr: GVR, entry: Entry[Any], metadata: Manifest) -> None:
        """Merge into the object's metadata if the cached version is the latest. Raise `ApiError`."""
        version = {"resourceVersion": entry.resource_version}
        body = {"metadata": {**metadata, **version}}
        key = entry.key
        await self.client.patch(gvr, body, namespace=key.namespace, name=key.name)

    async def drop_finalizers(self, gvr: GVR, entry: Entry[Any]) -> None:
        """Remove the finalizers that KubeSphere's controllers would remove."""
        finalizers = entry.original()["metadata"].get("finalizers") or []
        kept = [one for one in finalizers if one not in OLD_FINALIZERS]
        if kept != finalizers:
            await self.patch(gvr, entry, {"finalizers": kept})


def _label_of(entry: Entry[Any]) -> tuple[str, ...]:
    projection = entry.projection
    workspace = projection.labels.get(WORKSPACE_LABEL, "")
    if isinstance(projection, WorkspaceQuota):
        workspace = projection.workspace or workspace
    return (workspace,) if workspace else ()
