"""The four levels of roles, and what somebody holds at each: what they may give away there.

kube-apiserver decides about ClusterRoles and Roles. About roles of the platform and of workspaces, which
it cannot compare, this decides, in KubeSphere's order: what the platform's roles say, then those of
the workspace, then what Kubernetes itself gives over the whole cluster.

Promises:
- Fails closed: what has not arrived, or may be old, holds nothing.
- A binding counts in its own workspace alone, with a role of the same (as in `rbac.tenants`), and never
  through names of Kubernetes' own.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from console.kube.factory import UnknownKind
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GVR,
    ROLE_BINDINGS,
    ROLES,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    Key,
)
from console.kube.identity import Identity
from console.kube.indexes import indexes_of
from console.kube.projections import GlobalRoleBinding
from console.kube.projections.roles import Binding
from console.kube.runtime import Reads
from console.kube.store import Entry, Store
from rbac.authorizer import Authorizer, is_admin_binding, is_reserved
from rbac.covering import Comparison, uncovered
from rbac.resolver import Grant
from rbac.rules import EVERYTHING, Question, Rules, any_allows, parse_rules


class Level(StrEnum):
    GLOBAL = "global"
    CLUSTER = "cluster"
    WORKSPACE = "workspace"
    PROJECT = "project"


class Types(NamedTuple):
    """The roles of a level, what binds them, and the kinds that these have."""

    roles: GVR
    bindings: GVR
    role_kind: str
    binding_kind: str


TYPES = {
    Level.GLOBAL: Types(GLOBAL_ROLES, GLOBAL_ROLE_BINDINGS, "GlobalRole", "GlobalRoleBinding"),
    Level.CLUSTER: Types(CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS, "ClusterRole", "ClusterRoleBinding"),
    Level.WORKSPACE: Types(
        WORKSPACE_ROLES, WORKSPACE_ROLE_BINDINGS, "WorkspaceRole", "WorkspaceRoleBinding"
    ),
    Level.PROJECT: Types(ROLES, ROLE_BINDINGS, "Role", "RoleBinding"),
}
#: Levels whose objects are Kubernetes' own, so that kube-apiserver compares rights itself.
NATIVE = frozenset({Level.CLUSTER, Level.PROJECT})
_OURS = (Level.GLOBAL, Level.WORKSPACE)


class RoleScope(NamedTuple):
    """Where a role counts: `workspace` for one of a workspace, `namespace` for one of a project."""

    level: Level
    workspace: str = ""
    namespace: str = ""


class Held(NamedTuple):
    """A role that somebody has by KubeSphere's own objects. `subject`: as `User ann` or `Group ops`."""

    place: RoleScope
    role: str
    binding: str
    subject: str
    rules: Rules


class Levels:
    """`natively`: of a cluster where Kubernetes' own roles alone count, as in members."""

    def __init__(self, source: Reads, authorizer: Authorizer, *, natively: bool = False) -> None:
        self._source = source
        self._authorizer = authorizer
        self._ours = () if natively else _OURS

    def held(self, identity: Identity, place: RoleScope, *, acting: bool = True) -> Rules:
        """Everything that counts for somebody there. `acting`: as for `Authorizer.grants`."""
        grants = self._authorizer.grants(identity, acting=acting)
        rules = [
            rule
            for grant in grants
            if grant.namespace in ("", place.namespace)
            for rule in grant.rules
        ]
        # Whoever may not sign in has no native rights, and none of these either.
        if place.level not in NATIVE and self._authorizer.standing(identity) is not None:
            for one in self.roles_of(identity, acting=acting):
                if one.place in (RoleScope(Level.GLOBAL), place):
                    rules += one.rules
        return tuple(rules)

    def of_platform(self, identity: Identity) -> Rules:
        """What roles of the platform say, and they alone, to be acted on."""
        standing = self._authorizer.standing(identity)
        if standing is None or not standing[1]:
            return ()
        roles, bindings = (self._store(gvr, acting=True) for gvr in TYPES[Level.GLOBAL][:2])
        if Level.GLOBAL not in self._ours or roles is None or bindings is None:
            return ()
        versions = (roles.version, bindings.version)
        kept = _of_platform.get(roles)
        if kept is None or kept.bindings is not bindings or kept.versions != versions:
            kept = _of_platform[roles] = _OfPlatform(bindings, versions, {})
        found = kept.rules.get(identity)
        if found is None:
            held = _held(Level.GLOBAL, roles, bindings, identity)
            found = kept.rules[identity] = tuple(rule for one in held for rule in one.rules)
        return found

    def may(self, identity: Identity, asked: Question, place: RoleScope) -> bool:
        """True if a role of these levels allows it there; for what kube-apiserver cannot decide."""
        return any_allows(self.held(identity, place), asked)

    def beyond(self, identity: Identity, other: Identity) -> Rules:
        """What `other` has, anywhere, and `identity` has not."""
        return self._beyond(identity, other, self._authorizer.grants(other, acting=False))

    def beyond_name(self, identity: Identity, other: Identity) -> Rules | None:
        """The same of what is given to a name, also of somebody who may not sign in, or whom there is not
        yet; None while that is not known for sure."""
        grants = self._authorizer.bound_to(other)
        known = all(self._is_certain(gvr) for level in self._ours for gvr in TYPES[level][:2])
        if grants is None or not known:
            return None
        # Nothing is projected for the disabled, and words do not say it (ADR 8).
        administers = Level.GLOBAL in self._ours and self._is_bound_as_admin(other)
        return self._beyond(identity, other, grants, also=EVERYTHING if administers else ())

    def _is_bound_as_admin(self, identity: Identity) -> bool:
        """Whether bindings make this name a platform administrator, even if no role has that name."""
        bindings = self._store(GLOBAL_ROLE_BINDINGS, acting=False)
        return bindings is not None and any(
            is_admin_binding(entry.projection) for _, entry in _naming(bindings, identity)
        )

    def _is_certain(self, gvr: GVR) -> bool:
        """Whether this type says all that it gives. One that the cluster has not gives nothing."""
        try:
            freshness = self._source.informer(gvr).freshness
        except UnknownKind:
            return True
        return freshness.synced and freshness.stale_since is None

    def _beyond(
        self, identity: Identity, other: Identity, grants: Iterable[Grant], also: Rules = ()
    ) -> Rules:
        """`also`: given in the whole cluster beside these."""
        given: dict[RoleScope, list[Rules]] = {RoleScope(Level.CLUSTER): [also]}
        for grant in grants:
            level = Level.PROJECT if grant.namespace else Level.CLUSTER
            given.setdefault(RoleScope(level, namespace=grant.namespace), []).append(grant.rules)
        for one in self.roles_of(other, acting=False):
            given.setdefault(one.place, []).append(one.rules)
        comparison = Comparison()
        missing = (
            uncovered(
                self.held(identity, place), [rule for rules in found for rule in rules], comparison
            )
            for place, found in given.items()
        )
        return tuple(dict.fromkeys(rule for rules in missing for rule in rules))

    def roles_of(self, identity: Identity, *, acting: bool) -> Iterator[Held]:
        """Roles of the platform and of workspaces."""
        for level in self._ours:
            types = TYPES[level]
            roles, bindings = self._store(types.roles, acting), self._store(types.bindings, acting)
            if roles is not None and bindings is not None:
                yield from _held(level, roles, bindings, identity)

    def _store(self, gvr: GVR, acting: bool) -> Store[Any] | None:
        """None if nothing in it counts."""
        try:
            informer = self._source.informer(gvr)
        except UnknownKind:
            return None
        freshness = informer.freshness
        doubtful = not freshness.synced or (acting and freshness.stale_since is not None)
        return None if doubtful else informer.store


class _OfPlatform(NamedTuple):
    """What somebody asked for at these versions: rows of lists and workspaces ask for each of them."""

    bindings: Store[Any]
    versions: tuple[int, int]
    rules: dict[Identity, Rules]


_of_platform: "WeakKeyDictionary[Store[Any], _OfPlatform]" = WeakKeyDictionary()


def _held(
    level: Level, roles: Store[Any], bindings: Store[Any], identity: Identity
) -> Iterator[Held]:
    types = TYPES[level]
    for subject, entry in _naming(bindings, identity):
        binding = entry.projection
        role: Entry[Any] | None = roles.get(Key("", binding.role))
        if role is None or binding.role_kind not in (types.role_kind, ""):
            continue
        workspace = role.projection.workspace if level is Level.WORKSPACE else ""
        if level is Level.WORKSPACE and not (workspace and workspace == binding.workspace):
            continue
        rules = parse_rules(role.original().get("rules"))
        yield Held(RoleScope(level, workspace), binding.role, entry.key.name, subject, rules)


def _naming(bindings: Store[Any], identity: Identity) -> Iterator[tuple[str, Entry[Any]]]:
    """Those that name somebody, each with the subject that does."""
    index = indexes_of(bindings).by(_subjects_in)
    groups = (f"Group {group}" for group in identity.groups if not is_reserved(group))
    for subject in (f"User {identity.name}", *groups):
        for entry in index.get(subject):
            yield subject, entry


def _subjects_in(entry: Entry[Any]) -> Iterable[str]:
    return subjects_of(entry.projection)


def subjects_of(binding: Binding | GlobalRoleBinding) -> tuple[str, ...]:
    """Whom a binding of any level names, as `User ann`."""
    if isinstance(binding, GlobalRoleBinding):
        return tuple(f"{one.kind} {one.name}" for one in binding.subjects)
    users = (f"User {name}" for name in binding.users)
    groups = (f"Group {name}" for name in binding.groups)
    accounts = (f"ServiceAccount {name}" for name in binding.service_accounts)
    return (*users, *groups, *accounts)
