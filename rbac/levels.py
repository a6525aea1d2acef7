"""The four levels of roles, and the permissions that a user holds and may grant at each level.

kube-apiserver decides about ClusterRoles and Roles. It cannot compare platform and workspace
roles, so this module decides about them in KubeSphere's order: platform roles, workspace roles,
then cluster-wide Kubernetes roles.

Guarantees:
- Fails closed: data that is not loaded or may be out of date grants nothing.
- A workspace binding counts only in its own workspace, with a role of the same workspace (as in
  `rbac.workspace_projector`). Names reserved by Kubernetes never count.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from console.kube.apply import Manifest
from console.kube.factory import UnknownKind
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GVR,
    NAMESPACES,
    ROLE_BINDINGS,
    ROLES,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    Key,
)
from console.kube.identity import Identity
from console.kube.indexes import indexes_of
from console.kube.projections import GlobalRoleBinding
from console.kube.projections.namespace import SYSTEM_NAMESPACES, SYSTEM_WORKSPACE
from console.kube.projections.roles import Binding
from console.kube.runtime import Reads
from console.kube.store import Entry, Store
from rbac.authorizer import Authorizer, is_admin_binding, is_reserved
from rbac.escalation_check import ComparisonBudget, uncovered
from rbac.names import WORKSPACE_ROLE, WORKSPACE_SUFFIX, source_of
from rbac.rules import EVERYTHING, AccessQuestion, Rules, any_allows, role_rules
from rbac.subject_rights import Grant


class Level(StrEnum):
    GLOBAL = "global"
    CLUSTER = "cluster"
    WORKSPACE = "workspace"
    PROJECT = "project"


class LevelTypes(NamedTuple):
    """The resource types and kinds of a level's roles and bindings."""

    roles: GVR
    bindings: GVR
    role_kind: str
    binding_kind: str

    def role(self, metadata: Manifest, rules: list[Any]) -> Manifest:
        """Return the manifest of a role."""
        return {
            "apiVersion": self.roles.group_version,
            "kind": self.role_kind,
            "metadata": metadata,
            "rules": rules,
        }

    def binding(
        self,
        metadata: Manifest,
        role: str,
        subjects: list[Manifest],
        *,
        of: "LevelTypes | None" = None,
    ) -> Manifest:
        """Return the manifest of a binding to a role of this level, or of level `of`."""
        types = of or self
        ref = {"apiGroup": types.roles.group, "kind": types.role_kind, "name": role}
        return {
            "apiVersion": self.bindings.group_version,
            "kind": self.binding_kind,
            "metadata": metadata,
            "roleRef": ref,
            "subjects": subjects,
        }


def subject_manifest(kind: str, name: str) -> Manifest:
    """Return the subject of a binding of any level. `kind` is User or Group."""
    return {"apiGroup": ROLES.group, "kind": kind, "name": name}


TYPES = {
    Level.GLOBAL: LevelTypes(GLOBAL_ROLES, GLOBAL_ROLE_BINDINGS, "GlobalRole", "GlobalRoleBinding"),
    Level.CLUSTER: LevelTypes(
        CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS, "ClusterRole", "ClusterRoleBinding"
    ),
    Level.WORKSPACE: LevelTypes(
        WORKSPACE_ROLES, WORKSPACE_ROLE_BINDINGS, "WorkspaceRole", "WorkspaceRoleBinding"
    ),
    Level.PROJECT: LevelTypes(ROLES, ROLE_BINDINGS, "Role", "RoleBinding"),
}
#: Levels that use native Kubernetes objects, so that kube-apiserver compares permissions.
NATIVE = frozenset({Level.CLUSTER, Level.PROJECT})
_OURS = (Level.GLOBAL, Level.WORKSPACE)


class RoleScope(NamedTuple):
    """The scope of a role: `workspace` is set for workspace roles, `namespace` for project roles."""

    level: Level
    workspace: str = ""
    namespace: str = ""


class HeldRole(NamedTuple):
    """A role granted through KubeSphere objects. `subject` has the form `User ann` or `Group ops`."""

    place: RoleScope
    role: str
    binding: str
    subject: str
    rules: Rules


class RoleLevels:
    """The permissions of users at each level. Set `natively` for clusters where only native
    Kubernetes roles count, such as member clusters.
    """

    def __init__(self, source: Reads, authorizer: Authorizer, *, natively: bool = False) -> None:
        self._source = source
        self._authorizer = authorizer
        self._ours = () if natively else _OURS

    def held_rules(self, identity: Identity, place: RoleScope, *, acting: bool = True) -> Rules:
        """Return all rules that apply to `identity` in this scope. For `acting`, see
        `Authorizer.grants`.
        """
        grants = self._authorizer.grants(identity, acting=acting)
        rules = [
            rule
            for grant in grants
            if grant.namespace in ("", place.namespace)
            for rule in grant.rules
        ]
        # Users who may not sign in have neither native permissions nor these.
        if place.level not in NATIVE and self._authorizer.current_rights(identity) is not None:
            for one in self.roles_of(identity, acting=acting):
                if one.place in (RoleScope(Level.GLOBAL), place):
                    rules += one.rules
        return tuple(rules)

    def platform_rules(self, identity: Identity) -> Rules:
        """Return the rules of the platform roles of `identity`, or an empty tuple if they may be
        out of date.
        """
        rights_version = self._authorizer.current_rights(identity)
        if rights_version is None or not rights_version[1]:
            return ()
        roles, bindings = (self._store(gvr, acting=True) for gvr in TYPES[Level.GLOBAL][:2])
        if Level.GLOBAL not in self._ours or roles is None or bindings is None:
            return ()
        versions = (roles.version, bindings.version)
        kept = _of_platform.get(roles)
        if kept is None or kept.bindings is not bindings or kept.versions != versions:
            kept = _of_platform[roles] = _PlatformRulesCache(bindings, versions, {})
        found = kept.rules.get(identity)
        if found is None:
            held = _held_roles(Level.GLOBAL, roles, bindings, identity)
            found = kept.rules[identity] = tuple(rule for one in held for rule in one.rules)
        return found

    def is_allowed(self, identity: Identity, asked: AccessQuestion, place: RoleScope) -> bool:
        """Return True if a role at these levels allows the request in this scope. Used where
        kube-apiserver cannot decide.
        """
        return any_allows(self.held_rules(identity, place), asked)

    def excess_of_user(self, identity: Identity, other: Identity) -> Rules:
        """Return the permissions that `other` has in any scope and `identity` does not have there."""
        return self._beyond(identity, other, self._authorizer.grants(other, acting=False))

    def excess_of_name(
        self, identity: Identity, other: Identity, *, in_workspaces: bool = True
    ) -> Rules | None:
        """Like `excess_of_user`, but for a username. The user may be disabled or not exist yet. Return
        None if the bindings are not loaded or may be out of date.

        Without `in_workspaces`, roles in workspaces and in their projects don't count.
        """
        grants = self._authorizer.grants_of_name(other)
        known = all(self._is_certain(gvr) for level in self._ours for gvr in TYPES[level][:2])
        if grants is None or not known:
            return None
        # A platform administrator's ClusterRoleBinding is not created for a disabled user, and the
        # rules of `platform-admin` don't include its permissions (ADR 8).
        administers = Level.GLOBAL in self._ours and self._is_bound_as_admin(other)
        also = EVERYTHING if administers else ()
        return self._beyond(identity, other, grants, also, in_workspaces=in_workspaces)

    def _is_bound_as_admin(self, identity: Identity) -> bool:
        """Return True if bindings make this user a platform administrator, even if the role does
        not exist.
        """
        bindings = self._store(GLOBAL_ROLE_BINDINGS, acting=False)
        return bindings is not None and any(
            is_admin_binding(entry.projection) for _, entry in _bindings_of(bindings, identity)
        )

    def _is_certain(self, gvr: GVR) -> bool:
        """Return True if the objects of this type are loaded and up to date. A type that the
        cluster does not have grants nothing.
        """
        try:
            freshness = self._source.informer(gvr).freshness
        except UnknownKind:
            return True
        return freshness.synced and freshness.stale_since is None

    def _beyond(
        self,
        identity: Identity,
        other: Identity,
        grants: Iterable[Grant],
        also: Rules = (),
        *,
        in_workspaces: bool = True,
    ) -> Rules:
        """Return the part of `grants` and of the roles of `other` that `identity` does not hold.
        `also` is granted cluster-wide in addition.
        """
        given: dict[RoleScope, list[Rules]] = {RoleScope(Level.CLUSTER): [also]}
        for grant in grants:
            if not in_workspaces and self._is_in_workspace(grant):
                continue
            level = Level.PROJECT if grant.namespace else Level.CLUSTER
            given.setdefault(RoleScope(level, namespace=grant.namespace), []).append(grant.rules)
        for one in self.roles_of(other, acting=False):
            if not in_workspaces and one.place.workspace not in ("", SYSTEM_WORKSPACE):
                continue
            given.setdefault(one.place, []).append(one.rules)
        comparison = ComparisonBudget()
        missing = (
            uncovered(
                self.held_rules(identity, place),
                [rule for rules in found for rule in rules],
                comparison,
            )
            for place, found in given.items()
        )
        return tuple(dict.fromkeys(rule for rules in missing for rule in rules))

    def _is_in_workspace(self, grant: Grant) -> bool:
        """Return True if the grant counts in a project of a workspace, or only lets members view
        their workspace. System namespaces don't count as projects.
        """
        if not grant.namespace:
            role = grant.role.name
            source = source_of(role) if role.endswith(WORKSPACE_SUFFIX) else None
            return source is not None and source.level == WORKSPACE_ROLE
        namespaces = self._store(NAMESPACES, acting=True)
        entry = namespaces.get(Key("", grant.namespace)) if namespaces is not None else None
        if entry is None or grant.namespace in SYSTEM_NAMESPACES:
            return False
        return entry.projection.workspace not in ("", SYSTEM_WORKSPACE)

    def roles_of(self, identity: Identity, *, acting: bool) -> Iterator[HeldRole]:
        """Yield the platform and workspace roles of `identity`."""
        for level in self._ours:
            types = TYPES[level]
            roles, bindings = self._store(types.roles, acting), self._store(types.bindings, acting)
            if roles is not None and bindings is not None:
                yield from _held_roles(level, roles, bindings, identity)

    def _store(self, gvr: GVR, acting: bool) -> Store[Any] | None:
        """Return the store, or None if its objects don't count."""
        try:
            informer = self._source.informer(gvr)
        except UnknownKind:
            return None
        freshness = informer.freshness
        doubtful = not freshness.synced or (acting and freshness.stale_since is not None)
        return None if doubtful else informer.store


class _PlatformRulesCache(NamedTuple):
    """Cached platform rules at these store versions. List rows and workspaces request them
    repeatedly.
    """

    bindings: Store[Any]
    versions: tuple[int, int]
    rules: dict[Identity, Rules]


_of_platform: "WeakKeyDictionary[Store[Any], _PlatformRulesCache]" = WeakKeyDictionary()


def _held_roles(
    level: Level, roles: Store[Any], bindings: Store[Any], identity: Identity
) -> Iterator[HeldRole]:
    types = TYPES[level]
    for subject, entry in _bindings_of(bindings, identity):
        binding = entry.projection
        role: Entry[Any] | None = roles.get(Key("", binding.role))
        if role is None or binding.role_kind not in (types.role_kind, ""):
            continue
        workspace = role.projection.workspace if level is Level.WORKSPACE else ""
        if level is Level.WORKSPACE and not (workspace and workspace == binding.workspace):
            continue
        scope = RoleScope(level, workspace)
        yield HeldRole(scope, binding.role, entry.key.name, subject, role_rules(role))


def _bindings_of(bindings: Store[Any], identity: Identity) -> Iterator[tuple[str, Entry[Any]]]:
    """Yield the bindings of `identity`, each with the matching subject."""
    index = indexes_of(bindings).by(subjects_in)
    groups = (f"Group {group}" for group in identity.groups if not is_reserved(group))
    for subject in (f"User {identity.name}", *groups):
        for entry in index.get(subject):
            yield subject, entry


def subjects_in(entry: Entry[Any]) -> Iterable[str]:
    """Return the subjects of a cached binding, for an index."""
    return subjects_of(entry.projection)


def subjects_of(binding: Binding | GlobalRoleBinding) -> tuple[str, ...]:
    """Return the subjects of a binding of any level, in the form `User ann`."""
    if isinstance(binding, GlobalRoleBinding):
        return tuple(f"{one.kind} {one.name}" for one in binding.subjects)
    users = (f"User {name}" for name in binding.users)
    groups = (f"Group {name}" for name in binding.groups)
    accounts = (f"ServiceAccount {name}" for name in binding.service_accounts)
    return (*users, *groups, *accounts)
