"""Index of all grants by subject, updated incrementally.

Guarantees:
- `rights_of` returns the state of the four stores at a moment after the call started. A binding
  or role that was deleted before the call never counts.
- A change invalidates only the permissions that depend on it: those of the subjects of a binding
  and of the holders of a role. Everything is recalculated only if the stores no longer have the
  list of changes.
- Stores that have not been listed yet grant nothing.

Thread-safe. Calculations run one at a time.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from threading import Lock
from typing import NamedTuple

from console.kube.derived import Derived
from console.kube.gvr import Key
from console.kube.indexes import indexes_of
from console.kube.projections.roles import Binding, Role
from console.kube.store import Entry, Store
from rbac.rules import AccessQuestion, Rules, any_allows, role_rules
from rbac.subject_rights import Grant, RoleRef, SubjectRights

#: A subject: the username and the groups.
SubjectKey = tuple[str, tuple[str, ...]]
#: Maximum number of subjects whose permissions are cached, many times the number of concurrent
#: users.
MAX_CACHED_SUBJECTS = 20_000

_USER, _GROUP = "User ", "Group "


class _CachedRights(NamedTuple):
    """Cached permissions. `rests_on` contains the subjects and roles they depend on."""

    rights: SubjectRights
    rests_on: frozenset[Hashable]


class _BindingIndex(Derived[Binding]):
    """Bindings indexed by subject, such as `User alice` or `Group ops`. A service account is
    indexed by its username.

    `touched` contains the subjects of changed bindings, or None if any binding may have changed.
    """

    def __init__(self, store: Store[Binding]) -> None:
        super().__init__(store)
        self._names: dict[Key, Binding] = {}
        self._found: dict[str, dict[Key, Binding]] = {}
        self.touched: set[Hashable] | None = None

    def of(self, subject: str) -> Mapping[Key, Binding]:
        return self._found.get(subject, {})

    def all(self) -> Iterable[Binding]:
        return self._names.values()

    def _rebuild(self, entries: Mapping[Key, Entry[Binding]]) -> None:
        self._names, self._found = {}, {}
        for key, entry in entries.items():
            self._apply(key, entry)
        self.touched = None

    def _apply(self, key: Key, entry: Entry[Binding] | None) -> None:
        old = self._names.pop(key, None)
        for subject in subjects_of(old) if old is not None else ():
            found = self._found.get(subject, {})
            found.pop(key, None)
            if not found:
                self._found.pop(subject, None)
            self._touch(subject)
        if entry is None:
            return
        self._names[key] = entry.projection
        for subject in subjects_of(entry.projection):
            self._found.setdefault(subject, {})[key] = entry.projection
            self._touch(subject)

    def _touch(self, subject: str) -> None:
        if self.touched is not None:
            self.touched.add(subject)


class _RoleRules(Derived[Role]):
    """The rules of roles, parsed on first use. `touched` contains the RoleRefs of changed roles, or
    None if any role may have changed.
    """

    def __init__(self, kind: str, store: Store[Role], shared: dict[Rules, Rules]) -> None:
        super().__init__(store)
        self._kind = kind
        self._rules: dict[Key, Rules] = {}
        self._shared = shared
        self.touched: set[Hashable] | None = None

    def of(self, key: Key) -> Rules:
        """Return the rules of the role, or an empty tuple if it does not exist."""
        if key not in self._rules:
            entry = self._store.get(key)
            if entry is None:
                return ()
            rules = role_rules(entry)
            # Roles in thousands of namespaces share the same rules.
            self._rules[key] = self._shared.setdefault(rules, rules)
        return self._rules[key]

    def _rebuild(self, entries: Mapping[Key, Entry[Role]]) -> None:
        self._rules = {}
        self.touched = None

    def _apply(self, key: Key, entry: Entry[Role] | None) -> None:
        self._rules.pop(key, None)
        if self.touched is not None:
            self.touched.add(RoleRef(self._kind, key.namespace, key.name))


class GrantIndex:
    """Index of the Roles, ClusterRoles, RoleBindings and ClusterRoleBindings of a cluster."""

    def __init__(
        self,
        roles: Store[Role],
        cluster_roles: Store[Role],
        bindings: Store[Binding],
        cluster_bindings: Store[Binding],
    ) -> None:
        shared: dict[Rules, Rules] = {}
        self._roles = {
            kind: _RoleRules(kind, store, shared)
            for kind, store in (("Role", roles), ("ClusterRole", cluster_roles))
        }
        self._bindings = _BindingIndex(bindings)
        self._by_namespace = indexes_of(bindings).by_namespace
        self._cluster_bindings = _BindingIndex(cluster_bindings)
        self._known: dict[SubjectKey, _CachedRights] = {}
        self._lock = Lock()

    def rights_of(self, who: SubjectKey) -> SubjectRights:
        with self._lock:
            self._catch_up()
            found = self._known.get(who)
            if found is None:
                if len(self._known) >= MAX_CACHED_SUBJECTS:
                    self._invalidate(None)
                grants = tuple(self._grants(who))
                rests_on = frozenset({*subjects_for(who), *(grant.role for grant in grants)})
                found = self._known[who] = _CachedRights(SubjectRights(grants), rests_on)
            return found.rights

    def grants_of(self, who: SubjectKey) -> tuple[Grant, ...]:
        """Return all grants of the subject with their origin."""
        with self._lock:
            self._catch_up()
            return tuple(self._grants(who))

    def catch_up(self) -> None:
        """Process changes of the stores and mark outdated `SubjectRights` objects as `stale`."""
        with self._lock:
            self._catch_up()

    def who_may(self, asked: AccessQuestion) -> tuple[Grant, ...]:
        """Return the grants of every subject that allow the request. Only the bindings in the
        namespace of the request and of the whole cluster are read, and each role once.
        """
        inside = self._by_namespace.get(asked.namespace) if asked.namespace else ()
        allowed: dict[RoleRef, bool] = {}
        found: list[Grant] = []
        with self._lock:
            self._catch_up()
            for place, binding in (
                *(("", binding) for binding in self._cluster_bindings.all()),
                *((asked.namespace, entry.projection) for entry in inside),
            ):
                role = role_of(binding, place)
                if role not in allowed:
                    allowed[role] = any_allows(self._rules(role), asked)
                if allowed[role]:
                    found += (self._grant(place, one, binding) for one in subjects_of(binding))
        return tuple(found)

    # The lock is held in the following methods.

    def _catch_up(self) -> None:
        parts: list[_BindingIndex | _RoleRules] = [self._bindings, self._cluster_bindings]
        taken = [_take_changes(part) for part in (*parts, *self._roles.values())]
        if None in taken:
            self._invalidate(None)
        elif touched := {one for some in taken for one in some or ()}:
            self._invalidate(touched)

    def _invalidate(self, touched: set[Hashable] | None) -> None:
        """Discard permissions that depend on any of `touched`, or all if None."""
        found = [
            who
            for who, known in self._known.items()
            if touched is None or not known.rests_on.isdisjoint(touched)
        ]
        for who in found:
            self._known.pop(who).rights.stale = True

    def _grants(self, who: SubjectKey) -> Iterator[Grant]:
        for subject in subjects_for(who):
            for binding in self._cluster_bindings.of(subject).values():
                yield self._grant("", subject, binding)
            for binding in self._bindings.of(subject).values():
                yield self._grant(binding.namespace, subject, binding)

    def _grant(self, namespace: str, subject: str, binding: Binding) -> Grant:
        role = role_of(binding, namespace)
        return Grant(namespace, binding.name, subject, role, self._rules(role))

    def _rules(self, role: RoleRef) -> Rules:
        found = self._roles.get(role.kind)
        return found.of(Key(role.namespace, role.name)) if found is not None else ()


def _take_changes(part: _BindingIndex | _RoleRules) -> set[Hashable] | None:
    """Return the changes since the last call, or None if everything may have changed."""
    with part.current():
        touched, part.touched = part.touched, set()
    return touched


def role_of(binding: Binding, namespace: str) -> RoleRef:
    return RoleRef(
        binding.role_kind, "" if binding.role_kind == "ClusterRole" else namespace, binding.role
    )


def subjects_of(binding: Binding) -> Iterator[str]:
    """Yield the subjects of a binding. A service account without a namespace belongs to the
    binding's namespace.
    """
    for user in binding.users:
        yield _USER + user
    for group in binding.groups:
        yield _GROUP + group
    for account in binding.service_accounts:
        namespace, _, name = account.partition("/")
        place = namespace or binding.namespace
        if place:
            yield f"{_USER}system:serviceaccount:{place}:{name}"


def subjects_for(who: SubjectKey) -> Iterator[str]:
    """Yield the subject names through which a binding can apply to `who`."""
    user, groups = who
    yield _USER + user
    for group in dict.fromkeys(groups):
        yield _GROUP + group
