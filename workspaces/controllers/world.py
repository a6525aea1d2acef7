"""What the reconcilers of workspaces know of the cluster, and the client that they write with."""

import logging
from typing import Any

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
from rbac.ensure import ensure
from rbac.recorder import Recorder
from workspaces.controllers.kubesphere import KubeSphere
from workspaces.names import MANAGED, OLD_FINALIZERS, Manifest
from workspaces.rolebases import RoleBases

log = logging.getLogger(__name__)

#: Roles of which it is remembered what they were refused.
_REFUSED = 10_000

#: What goes with a workspace, each labelled with its name. Bindings first: rights end before anything.
BELONGINGS = (
    WORKSPACE_ROLE_BINDINGS,
    GROUP_BINDINGS,
    GROUPS,
    WORKSPACE_ROLES,
    WORKSPACE_QUOTAS,
)
_READ = (
    *BELONGINGS,
    LIMIT_RANGES,
    NAMESPACES,
    NETWORK_POLICIES,
    RESOURCE_QUOTAS,
    ROLES,
    ROLE_BINDINGS,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
)


class World:
    def __init__(self, runtime: Runtime) -> None:
        self.client = runtime.console
        self.kubesphere = KubeSphere(runtime.console, runtime.clock)
        self.role_bases = RoleBases(runtime)
        # Rules that kube-apiserver called invalid, by the role that was to have them.
        self._refused: dict[tuple[GVR, Key], list[Manifest]] = {}
        self.recorder = Recorder(runtime.console, "quarterdeck-workspace-controller")
        informers = {gvr: runtime.informer(gvr) for gvr in _READ}
        self._informers = tuple(informers.values())
        self._stores = {gvr: informer.store for gvr, informer in informers.items()}
        self._projects = Index(self._stores[NAMESPACES], _workspaces_of)
        self._belongings = {gvr: Index(self._stores[gvr], _label_of) for gvr in BELONGINGS}

    @property
    def known(self) -> bool:
        """Every list has arrived."""
        return all(informer.freshness.synced for informer in self._informers)

    def find(self, gvr: GVR, name: str, namespace: str = "") -> Entry[Any] | None:
        return self._stores[gvr].get(Key(namespace, name))

    def version(self, gvr: GVR) -> str:
        """Up to which resourceVersion the objects of a type are known."""
        return self._stores[gvr].resource_version

    def within(self, gvr: GVR, namespace: str) -> tuple[Entry[Any], ...]:
        """The objects of a type in one project."""
        return indexes_of(self._stores[gvr]).by_namespace.get(namespace)

    def workspace(self, name: str) -> Workspace | None:
        """One that stays; None for one that is on its way out as well."""
        found = self.find(WORKSPACES, name)
        workspace: Workspace | None = found.projection if found else None
        return workspace if workspace and workspace.deleted is None else None

    def workspaces(self) -> list[str]:
        """The names of all that stay."""
        found = self._stores[WORKSPACES].snapshot().entries.values()
        return [entry.key.name for entry in found if entry.projection.deleted is None]

    def projects(self, workspace: str) -> list[Namespace]:
        """Those that the label names and that stay."""
        found = [entry.projection for entry in self._projects.get(workspace)]
        return [project for project in found if project.deleted is None]

    def belongings(self, gvr: GVR, workspace: str) -> tuple[Entry[Any], ...]:
        return self._belongings[gvr].get(workspace)

    async def ensure(
        self, gvr: GVR, name: str, wanted: Manifest | None, *, namespace: str = ""
    ) -> bool:
        """True if something had to be done. Raises `ApiError`."""
        return await ensure(self.client, gvr, self.find(gvr, name, namespace), wanted)

    async def provide(
        self, gvr: GVR, name: str, wanted: Manifest, ours: Manifest, *, namespace: str = ""
    ) -> None:
        """Makes it and keeps it as it should be; where kube-apiserver calls that invalid, as `ours` is.
        Each role is tried once with the same rules: a policy may refuse them in one place alone. One that
        others made, as an installation of KubeSphere has, stays as it is. Raises `ApiError`."""
        found = self.find(gvr, name, namespace)
        labels = found.projection.labels if found is not None else MANAGED
        if not MANAGED.items() <= labels.items():
            return
        place, rules = (gvr, Key(namespace, name)), wanted["rules"]
        if self._refused.get(place) == rules:
            wanted = ours
        else:
            self._refused.pop(place, None)
        try:
            await ensure(self.client, gvr, found, wanted)
        except Invalid as error:
            if wanted == ours:
                raise
            await ensure(self.client, gvr, found, ours)
            self._refuse(place, rules, error)

    def _refuse(self, place: tuple[GVR, Key], rules: list[Manifest], error: Invalid) -> None:
        if rules not in self._refused.values():
            text = "What a RoleBase says is left out of %s where it is refused, as in %s: %s"
            log.warning(text, place[0].resource, place[1], error)
        if len(self._refused) >= _REFUSED:
            self._refused.clear()
        self._refused[place] = rules

    async def patch(self, gvr: GVR, entry: Entry[Any], metadata: Manifest) -> None:
        """Merges into the metadata of the object, if it is as it was seen. Raises `ApiError`."""
        version = {"resourceVersion": entry.resource_version}
        body = {"metadata": {**metadata, **version}}
        key = entry.key
        await self.client.patch(gvr, body, namespace=key.namespace, name=key.name)

    async def drop_finalizers(self, gvr: GVR, entry: Entry[Any]) -> None:
        """Those that a controller of KubeSphere would take away."""
        finalizers = entry.original()["metadata"].get("finalizers") or []
        kept = [one for one in finalizers if one not in OLD_FINALIZERS]
        if kept != finalizers:
            await self.patch(gvr, entry, {"finalizers": kept})


def is_of(project: Namespace, workspace: Workspace) -> bool:
    """True for a project that both its label and its owner give to the workspace."""
    return (
        project.workspace == workspace.name
        and project.owner == f"Workspace/{workspace.name}"
        and project.owner_uid == workspace.uid
    )


def _workspaces_of(entry: Entry[Namespace]) -> tuple[str, ...]:
    return (entry.projection.workspace,) if entry.projection.workspace else ()


def _label_of(entry: Entry[Any]) -> tuple[str, ...]:
    projection = entry.projection
    workspace = projection.labels.get(WORKSPACE_LABEL, "")
    if isinstance(projection, WorkspaceQuota):
        workspace = projection.workspace or workspace
    return (workspace,) if workspace else ()
