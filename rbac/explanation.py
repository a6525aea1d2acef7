"""Why somebody may or may not do something, for people to read."""

from dataclasses import dataclass

from rbac.index import Index, Who
from rbac.resolver import Grant, Rights
from rbac.rules import Question, Rules, any_allows

_RBAC = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True)
class Explanation:
    """`because`: the grants that allow it. Of what is refused, `granters` are the subjects (`User ann`)
    who could allow it; only for those who may see who has which role there."""

    asked: Question
    because: tuple[Grant, ...] = ()
    granters: tuple[str, ...] = ()

    @property
    def allowed(self) -> bool:
        return bool(self.because)


def explain(rights: Rights, asked: Question, index: Index, who: Who) -> Explanation:
    because = tuple(
        grant
        for grant in index.grants_of(who)
        if grant.namespace in ("", asked.namespace) and any_allows(grant.rules, asked)
    )
    if because:
        return Explanation(asked, because)
    bindings = "rolebindings" if asked.namespace else "clusterrolebindings"
    if not rights.allows(Question("list", _RBAC, bindings, namespace=asked.namespace)):
        return Explanation(asked)
    return Explanation(asked, granters=granters(index, asked))


def granters(index: Index, asked: Question) -> tuple[str, ...]:
    """Who could allow it: people and groups that may bind a role there and hold what is asked themselves,
    since kube-apiserver lets nobody give more than that."""
    bindings = "rolebindings" if asked.namespace else "clusterrolebindings"
    held: dict[str, Rules] = {}
    for who, rules in index.holders(asked.namespace):
        if not who.partition(" ")[2].startswith("system:"):
            held[who] = held.get(who, ()) + rules
    granting = Question("create", _RBAC, bindings, namespace=asked.namespace)
    return tuple(
        who
        for who, rules in sorted(held.items())
        if any_allows(rules, granting) and any_allows(rules, asked)
    )
