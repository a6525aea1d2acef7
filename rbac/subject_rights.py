"""The permissions of one subject, calculated from all its grants.

Guarantees:
- `SubjectRights` objects don't change. When a grant changes, a new object is created.
- Decisions match kube-apiserver's: cluster-wide grants count everywhere, namespaced grants in
  their namespace.
- Up to `MAX_CACHED_DECISIONS` decisions are cached.

Thread-safe: entries are only added to the cache, and at worst a decision is calculated twice.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from console.kube.gvr import Key
from rbac.rules import AccessQuestion, Rule, Rules, any_allows, any_allows_all

#: Number of cached decisions per subject, and the maximum length of the object's name. A page makes
#: about a hundred decisions. Longer names come only from addresses and don't exist in a cluster.
MAX_CACHED_DECISIONS, MAX_CACHED_NAME = 5_000, 253


class RoleRef(NamedTuple):
    """Reference to a role. `namespace` is "" for a ClusterRole."""

    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Grant:
    """The permissions that one binding grants. `namespace` is where they count ("" for the whole
    cluster), `subject` is the matching subject, such as `User alice`.
    """

    namespace: str
    binding: str
    subject: str
    role: RoleRef
    rules: Rules


class SubjectRights:
    """The permissions of one subject. The index sets `stale` when they may have changed."""

    def __init__(self, grants: Iterable[Grant] = ()) -> None:
        self.stale = False
        self.answers: dict[tuple[str, ...], bool] = {}
        self._namespaces: dict[AccessQuestion, frozenset[str] | None] = {}
        self._names: dict[AccessQuestion, frozenset[Key]] = {}
        everywhere: list[Rule] = []
        # Rules that are identical in hundreds of namespaces are checked once. Rules from an index
        # are shared, so equal rules are the same object. Otherwise the check is only slower.
        inside: dict[int, tuple[Rules, set[str]]] = {}
        for grant in grants:
            if grant.namespace:
                inside.setdefault(id(grant.rules), (grant.rules, set()))[1].add(grant.namespace)
            else:
                everywhere += grant.rules
        self._everywhere = tuple(everywhere)
        self._inside = tuple((rules, frozenset(spaces)) for rules, spaces in inside.values())

    def allows(self, asked: AccessQuestion) -> bool:
        found = self.answers.get(asked)
        if found is None:
            found = any_allows(self._everywhere, asked) or any(
                asked.namespace in spaces and any_allows(rules, asked)
                for rules, spaces in self._inside
            )
            if len(self.answers) >= MAX_CACHED_DECISIONS:
                self.answers = {}
            if max(len(asked.namespace), len(asked.name)) <= MAX_CACHED_NAME:
                self.answers[asked] = found
        return found

    def allows_path(self, verb: str, path: str) -> bool:
        return any(rule.allows_path(verb, path) for rule in self._everywhere)

    def namespaces_where(
        self, verb: str, group: str, resource: str, subresource: str = ""
    ) -> frozenset[str] | None:
        """Return the namespaces in which the request is allowed for every object, or None if it is
        allowed in all.
        """
        asked = AccessQuestion(verb, group, resource, subresource)
        if asked not in self._namespaces:
            self._namespaces[asked] = self._find_namespaces(asked)
        return self._namespaces[asked]

    def names_where(
        self, verb: str, group: str, resource: str, subresource: str = ""
    ) -> frozenset[Key]:
        """Return the single objects for which the request is allowed. A key without a namespace
        matches in any namespace.
        """
        asked = AccessQuestion(verb, group, resource, subresource)
        if asked not in self._names:
            found = {Key("", name) for name in _names(self._everywhere, asked)}
            for rules, namespaces in self._inside:
                names = _names(rules, asked)
                found |= {Key(space, name) for name in names for space in namespaces}
            self._names[asked] = frozenset(found)
        return self._names[asked]

    def _find_namespaces(self, asked: AccessQuestion) -> frozenset[str] | None:
        if any_allows_all(self._everywhere, asked):
            return None
        allowed = [spaces for rules, spaces in self._inside if any_allows_all(rules, asked)]
        return frozenset().union(*allowed)


def _names(rules: Iterable[Rule], asked: AccessQuestion) -> set[str]:
    about = (asked.verb, asked.group, asked.resource, asked.subresource)
    reaching = (rule for rule in rules if rule.resource_names and rule.matches(*about))
    return {name for rule in reaching for name in rule.resource_names if name}
