"""Projection of GlobalRoles and GlobalRoleBindings to native roles and bindings."""

from collections.abc import Iterator

import msgspec

from console.kube.controller import NotSynced, Result
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    USERS,
    Key,
)
from console.kube.indexes import Index
from console.kube.projections import GlobalRoleBinding
from console.kube.projections.roles import Role
from console.kube.runtime import Runtime
from console.kube.store import Entry
from rbac.apply import apply_state
from rbac.authorizer import is_admin_binding
from rbac.disabled_subjects import DisabledSubjects
from rbac.event_recorder import NORMAL, WARNING, Recorder
from rbac.names import GLOBAL_BINDING, GLOBAL_ROLE, projected_name
from rbac.projection import (
    Manifest,
    has_granting_rules,
    project_global_binding,
    project_global_role,
    refused_subjects,
)
from rbac.rules import Rules, parse_rules


class PlatformProjector:
    """Keep ClusterRoles and ClusterRoleBindings in sync with GlobalRoles and GlobalRoleBindings."""

    def __init__(self, runtime: Runtime) -> None:
        self._client = runtime.console
        self._roles = runtime.informer(GLOBAL_ROLES)
        self._bindings = runtime.informer(GLOBAL_ROLE_BINDINGS)
        self._native_roles = runtime.informer(CLUSTER_ROLES)
        self._native_bindings = runtime.informer(CLUSTER_ROLE_BINDINGS)
        self._users = runtime.informer(USERS)
        self._disabled = DisabledSubjects(self._users.store)
        self._recorder = Recorder(runtime.console, "quarterdeck-globalrolebinding-controller")
        self._by_role = Index(self._bindings.store, _role_of)
        self._by_user = Index(self._bindings.store, _users_of)

    async def sync_role(self, name: str) -> Result:
        """Reconcile the ClusterRole of the GlobalRole `name`, and its bindings."""
        if not self._is_synced():
            raise NotSynced
        await self._reconcile_role(name)
        for binding in self._by_role.get(name):
            await self.sync_binding(binding.key.name)
        return Result()

    async def sync_binding(self, name: str) -> Result:
        """Reconcile the ClusterRoleBinding of the GlobalRoleBinding `name`."""
        if not self._is_synced():
            raise NotSynced
        source = self._bindings.store.get(Key("", name))
        entry = self._native_bindings.store.get(Key("", projected_name(GLOBAL_BINDING, name)))
        wanted = self._wanted_binding(source.projection) if source else None
        changed = await apply_state(self._client, CLUSTER_ROLE_BINDINGS, entry, wanted)
        if source is not None and (wanted is not None or is_admin_binding(source.projection)):
            await self._report(source, changed)
        return Result()

    async def sync_user(self, name: str) -> Result:
        """Reconcile the bindings of a user who was disabled or enabled."""
        if not self._is_synced():
            raise NotSynced
        if self._disabled.affects(name):
            for binding in self._by_user.get(name):
                await self.sync_binding(binding.key.name)
        return Result()

    async def _reconcile_role(self, name: str) -> None:
        source = self._roles.store.get(Key("", name))
        entry = self._native_roles.store.get(Key("", projected_name(GLOBAL_ROLE, name)))
        wanted = self._wanted_role(name)
        await apply_state(self._client, CLUSTER_ROLES, entry, wanted)
        if source is not None and wanted is not None and has_granting_rules(_rules_of(source)):
            message = (
                "Rules that allow writing roles, bindings or users were left out of the ClusterRole"
            )
            await self._recorder.record(source.original(), WARNING, "RulesLeftOut", message)

    def _is_synced(self) -> bool:
        """Return True if all stores are loaded. In an empty cache, every source would appear to be
        deleted.
        """
        needed = (
            self._roles, self._bindings, self._native_roles, self._native_bindings, self._users
        )  # fmt: skip
        return all(informer.freshness.synced for informer in needed)

    def _wanted_role(self, name: str) -> Manifest | None:
        entry = self._roles.store.get(Key("", name))
        return project_global_role(entry.projection, _rules_of(entry)) if entry else None

    def _wanted_binding(self, binding: GlobalRoleBinding) -> Manifest | None:
        subjects = self._disabled.exclude(binding.subjects)
        usable = msgspec.structs.replace(binding, subjects=subjects)
        return project_global_binding(usable, self._wanted_role(binding.role) is not None)

    async def _report(self, source: Entry[GlobalRoleBinding], changed: bool) -> None:
        about, binding = source.original(), source.projection
        refused = refused_subjects(binding.subjects)
        if refused:
            names = ", ".join(f"{subject.kind} {subject.name!r}" for subject in refused)
            message = f"Platform roles cannot be granted to these subjects: {names}"
            await self._recorder.record(about, WARNING, "SubjectsRefused", message)
        if changed:
            message = "Updated the ClusterRoleBinding of this binding"
            await self._recorder.record(about, NORMAL, "Synced", message)


def _rules_of(entry: Entry[Role]) -> Rules:
    return parse_rules(entry.original().get("rules"))


def _role_of(entry: Entry[GlobalRoleBinding]) -> tuple[str, ...]:
    return (entry.projection.role,)


def _users_of(entry: Entry[GlobalRoleBinding]) -> Iterator[str]:
    return (subject.name for subject in entry.projection.subjects if subject.kind == "User")
