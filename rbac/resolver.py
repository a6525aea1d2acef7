"""What one subject may do, from everything that was granted to it.

Promises:
- Rights are worked out once and never change: when a grant does, there are new ones.
- The answers are kube-apiserver's: cluster-wide grants count everywhere, those of a namespace there.
- Each question is answered once and then remembered, up to `REMEMBERED` of them.

Any thread may ask: what is remembered is only ever added to, and at worst worked out twice.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from console.kube.gvr import Key
from rbac.rules import Question, Rule, Rules, any_allows, any_allows_all

#: Answers of one subject that are kept; a page asks about a hundred.
REMEMBERED = 5_000


class RoleRef(NamedTuple):
    """`namespace` is "" for a ClusterRole."""

    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Grant:
    """What one binding gives. `namespace`: where it counts, "" everywhere; `subject`: who of the asker
    it names, as `User alice`."""

    namespace: str
    binding: str
    subject: str
    role: RoleRef
    rules: Rules


class Rights:
    """Of one subject. `stale` is set by whoever made them once they may be other ones."""

    def __init__(self, grants: Iterable[Grant] = ()) -> None:
        self.stale = False
        self.answers: dict[tuple[str, ...], bool] = {}
        self._namespaces: dict[Question, frozenset[str] | None] = {}
        self._names: dict[Question, frozenset[Key]] = {}
        everywhere: list[Rule] = []
        # The same rules in hundreds of namespaces are looked at once. Equal ones are the same object
        # where roles come from an index; else nothing but time is lost.
        inside: dict[int, tuple[Rules, set[str]]] = {}
        for grant in grants:
            if grant.namespace:
                inside.setdefault(id(grant.rules), (grant.rules, set()))[1].add(grant.namespace)
            else:
                everywhere += grant.rules
        self._everywhere = tuple(everywhere)
        self._inside = tuple((rules, frozenset(spaces)) for rules, spaces in inside.values())

    def allows(self, asked: Question) -> bool:
        found = self.answers.get(asked)
        if found is None:
            if len(self.answers) >= REMEMBERED:
                self.answers = {}
            found = self.answers[asked] = any_allows(self._everywhere, asked) or any(
                asked.namespace in spaces and any_allows(rules, asked)
                for rules, spaces in self._inside
            )
        return found

    def allows_path(self, verb: str, path: str) -> bool:
        return any(rule.allows_path(verb, path) for rule in self._everywhere)

    def namespaces_where(
        self, verb: str, group: str, resource: str, subresource: str = ""
    ) -> frozenset[str] | None:
        """Those in which it is allowed for every object; None: all of them."""
        asked = Question(verb, group, resource, subresource)
        if asked not in self._namespaces:
            self._namespaces[asked] = self._find_namespaces(asked)
        return self._namespaces[asked]

    def names_where(
        self, verb: str, group: str, resource: str, subresource: str = ""
    ) -> frozenset[Key]:
        """Single objects for which it is allowed; a key without a namespace means any."""
        asked = Question(verb, group, resource, subresource)
        if asked not in self._names:
            found = {Key("", name) for name in _names(self._everywhere, asked)}
            for rules, namespaces in self._inside:
                names = _names(rules, asked)
                found |= {Key(space, name) for name in names for space in namespaces}
            self._names[asked] = frozenset(found)
        return self._names[asked]

    def _find_namespaces(self, asked: Question) -> frozenset[str] | None:
        if any_allows_all(self._everywhere, asked):
            return None
        allowed = [spaces for rules, spaces in self._inside if any_allows_all(rules, asked)]
        return frozenset().union(*allowed)


def _names(rules: Iterable[Rule], asked: Question) -> set[str]:
    about = (asked.verb, asked.group, asked.resource, asked.subresource)
    reaching = (rule for rule in rules if rule.resource_names and rule.reaches(*about))
    return {name for rule in reaching for name in rule.resource_names if name}
