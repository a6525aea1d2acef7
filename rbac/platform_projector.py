"""Projection of GlobalRoles and GlobalRoleBindings to native roles and bindings."""

import msgspec

from console.kube.apply import Manifest
from console.kube.controller import Result
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
)
from console.kube.indexes import Index
from console.kube.projections import GlobalRoleBinding
from console.kube.runtime import Runtime
from console.kube.store import Entry
from rbac.authorizer import is_admin_binding
from rbac.event_recorder import NORMAL, WARNING
from rbac.names import GLOBAL_BINDING, GLOBAL_ROLE, projected_name
from rbac.projection import (
    has_granting_rules,
    project_global_binding,
    project_global_role,
)
from rbac.projector import Projector
from rbac.rules import role_rules


class PlatformProjector(Projector):
    """Keep ClusterRoles and ClusterRoleBindings in sync with GlobalRoles and GlobalRoleBindings."""

    types = (GLOBAL_ROLES, GLOBAL_ROLE_BINDINGS, CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS)
    component, roles = "quarterdeck-globalrolebinding-controller", "Platform"

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        bindings = self._stores[GLOBAL_ROLE_BINDINGS]
        self._by_role = Index(bindings, lambda entry: (entry.projection.role,))
        self._by_user = Index(
            bindings, lambda entry: (s.name for s in entry.projection.subjects if s.kind == "User")
        )

    async def sync_role(self, name: str) -> Result:
        """Reconcile the ClusterRole of the GlobalRole `name`, and its bindings."""
        self._require_synced()
        await self._reconcile_role(name)
        for binding in self._by_role.get(name):
            await self.sync_binding(binding.key.name)
        return Result()

    async def sync_binding(self, name: str) -> Result:
        """Reconcile the ClusterRoleBinding of the GlobalRoleBinding `name`."""
        self._require_synced()
        source = self._find(GLOBAL_ROLE_BINDINGS, name)
        wanted = self._wanted_binding(source.projection) if source else None
        native = projected_name(GLOBAL_BINDING, name)
        changed = await self._apply(CLUSTER_ROLE_BINDINGS, native, wanted)
        if source is not None and (wanted is not None or is_admin_binding(source.projection)):
            await self._report(source, changed)
        return Result()

    async def sync_user(self, name: str) -> Result:
        """Reconcile the bindings of a user who was disabled or enabled."""
        self._require_synced()
        if self._affects(name):
            for binding in self._by_user.get(name):
                await self.sync_binding(binding.key.name)
        return Result()

    async def _reconcile_role(self, name: str) -> None:
        source = self._find(GLOBAL_ROLES, name)
        wanted = self._wanted_role(name)
        await self._apply(CLUSTER_ROLES, projected_name(GLOBAL_ROLE, name), wanted)
        if source is not None and wanted is not None and has_granting_rules(role_rules(source)):
            message = (
                "Rules that allow writing roles, bindings or users were left out of the ClusterRole"
            )
            await self._recorder.record(source.original(), WARNING, "RulesLeftOut", message)

    def _wanted_role(self, name: str) -> Manifest | None:
        entry = self._find(GLOBAL_ROLES, name)
        return project_global_role(entry.projection, role_rules(entry)) if entry else None

    def _wanted_binding(self, binding: GlobalRoleBinding) -> Manifest | None:
        subjects = self._exclude_disabled(binding.subjects)
        usable = msgspec.structs.replace(binding, subjects=subjects)
        return project_global_binding(usable, self._wanted_role(binding.role) is not None)

    async def _report(self, source: Entry[GlobalRoleBinding], changed: bool) -> None:
        about = source.original()
        await self._report_refused(about, source.projection.subjects)
        if changed:
            message = "Updated the ClusterRoleBinding of this binding"
            await self._recorder.record(about, NORMAL, "Synced", message)
