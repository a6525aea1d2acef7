"""Projection of WorkspaceRoles and WorkspaceRoleBindings to native roles and bindings.

A project belongs to a workspace if its label names the workspace and the Workspace with that
name and uid is its controlling owner. The label alone is not sufficient, because every user who
may change the project can set it. While a project is being prepared, no roles are bound in it,
so that it stays empty until its quota exists. A binding counts only in its own workspace, with a
role of the same workspace.
"""

from functools import partial
from typing import Any

from console.kube.apply import Manifest
from console.kube.controller import Result
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    NAMESPACES,
    ROLE_BINDINGS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACES,
)
from console.kube.indexes import Index
from console.kube.projections import Subject
from console.kube.projections.namespace import SYSTEM_NAMESPACES, Namespace
from console.kube.projections.roles import Binding, Role
from console.kube.projections.tenancy import Workspace
from console.kube.runtime import Runtime
from console.kube.store import Entry
from rbac.apply import run_concurrently
from rbac.event_recorder import WARNING
from rbac.levels import subjects_of
from rbac.names import WORKSPACE_ROLE, WORKSPACE_SUFFIX, projected_name, source_of
from rbac.projection import (
    bind_workspace_role,
    native_subjects,
    project_workspace_object,
    project_workspace_role,
)
from rbac.projector import Projector
from rbac.rules import Rules, role_rules


class WorkspaceProjector(Projector):
    """Keep native roles and bindings in sync with WorkspaceRoles and WorkspaceRoleBindings."""

    types = (
        WORKSPACE_ROLES,
        WORKSPACE_ROLE_BINDINGS,
        WORKSPACES,
        NAMESPACES,
        CLUSTER_ROLES,
        CLUSTER_ROLE_BINDINGS,
        ROLE_BINDINGS,
    )
    component, roles = "quarterdeck-workspacerolebinding-controller", "Workspace"

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        bindings = self._stores[WORKSPACE_ROLE_BINDINGS]
        self._bindings = Index(bindings, lambda entry: (entry.projection.role,))
        self._by_user = Index(bindings, lambda entry: entry.projection.users)
        self._roles = Index(self._stores[WORKSPACE_ROLES], workspaces_of)
        self._projects = Index(self._stores[NAMESPACES], workspaces_of)
        self._ours = Index(self._stores[ROLE_BINDINGS], _places_of)
        # The role of each binding when it was last seen. If the binding's role changes, the old
        # role must be reconciled.
        self._last_roles: dict[str, str] = {}

    async def sync_role(self, name: str) -> Result:
        """Reconcile all native objects of the WorkspaceRole `name`."""
        self._require_synced()
        role, rules, subjects = self._role_and_subjects(name)
        native = projected_name(WORKSPACE_ROLE, name)
        inside = project_workspace_role(role, rules) if role else None
        itself = project_workspace_object(role, rules) if role else None
        bound = bind_workspace_role(role, subjects) if role and itself else None
        for wanted, suffix in ((inside, ""), (itself, WORKSPACE_SUFFIX)):
            await self._apply(CLUSTER_ROLES, native + suffix, wanted)
        await self._apply(CLUSTER_ROLE_BINDINGS, native, bound)
        places = {found.key.namespace for found in self._ours.get(("role", name))}
        if role is not None:
            places |= {found.key.name for found in self._projects.get(role.workspace)}
        await run_concurrently(
            partial(self.sync_role_in_project, name, place) for place in sorted(places)
        )
        return Result()

    async def sync_role_in_project(self, name: str, namespace: str) -> Result:
        """Reconcile the RoleBinding of the WorkspaceRole `name` in one project."""
        self._require_synced()
        project: Entry[Namespace] | None = self._find(NAMESPACES, namespace)
        if project is None or project.projection.deleted is not None:
            # The garbage collector deletes the bindings with the project.
            return Result()
        role, rules, subjects = self._role_and_subjects(name)
        wanted = None
        if (
            role
            and project_workspace_role(role, rules)
            and self._contains_project(role, project.projection)
        ):
            wanted = bind_workspace_role(role, subjects, namespace)
        await self._apply(ROLE_BINDINGS, projected_name(WORKSPACE_ROLE, name), wanted, namespace)
        return Result()

    async def sync_project(self, namespace: str) -> Result:
        """Reconcile every role that counts, or counted before, in a project."""
        self._require_synced()
        project: Entry[Namespace] | None = self._find(NAMESPACES, namespace)
        workspace = project.projection.workspace if project else ""
        names = {found.key.name for found in self._roles.get(workspace)} if workspace else set()
        for found in self._ours.get(("in", namespace)):
            source = source_of(found.key.name)
            names |= {source.name} if source else set()
        await run_concurrently(
            partial(self.sync_role_in_project, name, namespace) for name in sorted(names)
        )
        return Result()

    async def sync_workspace(self, name: str) -> Result:
        """Reconcile every role of a workspace."""
        for found in self._roles.get(name):
            result = await self.sync_role(found.key.name)
            if result.requeue_after is not None:
                return result
        return Result()

    async def sync_binding(self, name: str) -> Result:
        """Reconcile the role that a WorkspaceRoleBinding grants, and the role that it granted
        before.
        """
        self._require_synced()
        entry = self._find(WORKSPACE_ROLE_BINDINGS, name)
        before = self._last_roles.pop(name, "")
        now = entry.projection.role if entry is not None else ""
        if now:
            self._last_roles[name] = now
        try:
            for role in sorted({before, now} - {""}):
                await self.sync_role(role)
        except BaseException:
            # The next attempt reconciles both roles again.
            self._last_roles[name] = before or now
            raise
        if entry is not None:
            await self._report(entry)
        return Result()

    async def sync_user(self, name: str) -> Result:
        """Reconcile the roles of a user who was disabled or enabled."""
        self._require_synced()
        if self._affects(name):
            for role in sorted({found.projection.role for found in self._by_user.get(name)}):
                await self.sync_role(role)
        return Result()

    def _role_and_subjects(self, name: str) -> tuple[Role | None, Rules, list[Manifest]]:
        """Return the role, its rules, and its subjects."""
        entry: Entry[Role] | None = self._find(WORKSPACE_ROLES, name)
        if entry is None or not entry.projection.workspace:
            return None, (), []
        role = entry.projection
        subjects = {
            (subject.kind, subject.name): subject
            for found in self._bindings.get(name)
            if _counts(found.projection, role)
            for subject in self._exclude_disabled(_subjects(found.projection))
        }
        ordered = [subjects[key] for key in sorted(subjects)]
        return role, role_rules(entry), native_subjects(ordered)

    def _contains_project(self, role: Role, project: Namespace) -> bool:
        """Return True if the project belongs to the role's workspace and is fully prepared."""
        entry: Entry[Workspace] | None = self._find(WORKSPACES, role.workspace)
        return (
            entry is not None
            and project.name not in SYSTEM_NAMESPACES
            and not project.preparing
            and belongs_to(project, entry.projection)
        )

    async def _report(self, entry: Entry[Binding]) -> None:
        binding, about = entry.projection, entry.original()
        await self._report_refused(about, _subjects(binding))
        role: Entry[Role] | None = self._find(WORKSPACE_ROLES, binding.role)
        if role is not None and not _counts(binding, role.projection):
            message = (
                f"The role {binding.role!r} belongs to another workspace, "
                "so this binding has no effect"
            )
            await self._recorder.record(about, WARNING, "RoleRefused", message)


def _counts(binding: Binding, role: Role) -> bool:
    return binding.role_kind in ("WorkspaceRole", "") and bool(
        role.workspace and binding.workspace == role.workspace
    )


def _subjects(binding: Binding) -> list[Subject]:
    return [Subject(*one.split(" ", 1)) for one in subjects_of(binding)]


def belongs_to(project: Namespace, workspace: Workspace) -> bool:
    """Return True if the project's label and its owner both name the workspace."""
    return (
        project.workspace == workspace.name
        and project.owning_workspace == workspace.name
        and project.owner_uid == workspace.uid
    )


def workspaces_of(entry: Entry[Any]) -> tuple[str, ...]:
    workspace: str = entry.projection.workspace
    return (workspace,) if workspace else ()


def _places_of(entry: Entry[Binding]) -> tuple[tuple[str, str], ...]:
    """Return the index keys of a binding that the console created: by role and by namespace."""
    source = source_of(entry.key.name)
    if source is None or source.level != WORKSPACE_ROLE:
        return ()
    return (("role", source.name), ("in", entry.key.namespace))
