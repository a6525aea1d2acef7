"""Explanations of authorization decisions, for display."""

from dataclasses import dataclass

from rbac.grant_index import GrantIndex, SubjectKey
from rbac.rules import AccessQuestion, any_allows
from rbac.subject_rights import Grant, SubjectRights

_RBAC = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True)
class Explanation:
    """The reason for a decision.

    `because` lists the grants that allow the request. For a denied request, `granters` lists the
    subjects (`User ann`) that could grant the permission; it is filled only for viewers who may
    list the bindings.
    """

    asked: AccessQuestion
    because: tuple[Grant, ...] = ()
    granters: tuple[str, ...] = ()

    @property
    def allowed(self) -> bool:
        return bool(self.because)


def explain(
    rights: SubjectRights, asked: AccessQuestion, index: GrantIndex, who: SubjectKey
) -> Explanation:
    because = tuple(
        grant
        for grant in index.grants_of(who)
        if grant.namespace in ("", asked.namespace) and any_allows(grant.rules, asked)
    )
    if because:
        return Explanation(asked, because)
    bindings = "rolebindings" if asked.namespace else "clusterrolebindings"
    if not rights.allows(AccessQuestion("list", _RBAC, bindings, namespace=asked.namespace)):
        return Explanation(asked)
    return Explanation(asked, granters=granters(index, asked))


def granters(index: GrantIndex, asked: AccessQuestion) -> tuple[str, ...]:
    """Return the subjects that could grant the permission: users and groups that may create
    bindings there and have the permission themselves, because kube-apiserver rejects bindings
    that grant more than their creator has.
    """
    bindings = "rolebindings" if asked.namespace else "clusterrolebindings"
    granting = AccessQuestion("create", _RBAC, bindings, namespace=asked.namespace)
    may, grant = ({one.subject for one in index.who_may(each)} for each in (asked, granting))
    return tuple(sorted(who for who in may & grant if " system:" not in who))
