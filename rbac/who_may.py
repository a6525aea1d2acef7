"""Who may perform a request: the inverse of an authorization decision.

Users hold permissions through their own bindings and through the bindings of their groups. The
cost depends on the bindings that can allow the request, not on the number of users.

Only RBAC is considered. kube-apiserver may have other authorizers, such as Node or a webhook.
"""

from enum import StrEnum
from typing import NamedTuple

import msgspec

from console.kube.gvr import CLUSTER_ROLES, USERS, Key
from console.kube.projections.common import Selector, selector_text
from console.kube.runtime import Reads
from console.kube.selectors import read_selector
from rbac.authorizer import Authorizer, is_usable
from rbac.memberships import are_current, members_of
from rbac.rules import AccessQuestion, any_allows, normalize_question, role_rules
from rbac.subject_rights import Grant, RoleRef

#: kube-apiserver allows this group every request without asking RBAC.
MASTERS = "system:masters"
#: Username prefix of service accounts.
_ACCOUNT = "system:serviceaccount:"
KINDS = ("User", "Group", "ServiceAccount")


class HolderState(StrEnum):
    ACTIVE = "active"
    #: The user may not sign in.
    DISABLED = "disabled"
    #: A name without a User, such as that of a client certificate.
    NO_USER = "no-user"
    #: A user or group that Kubernetes defines.
    SYSTEM = "system"


class Reason(NamedTuple):
    """A grant that allows the request. `group` is the user's group that holds the grant, or "" if
    the holder is bound directly.
    """

    grant: Grant
    group: str = ""


class Holder(NamedTuple):
    """A user, a group or a service account that may perform the request.

    `name` is `namespace/name` for a service account. `reasons` is empty for `MASTERS` without a
    binding.
    """

    kind: str
    name: str
    state: HolderState
    reasons: tuple[Reason, ...]


def who_may(source: Reads, authorizer: Authorizer, asked: AccessQuestion) -> list[Holder] | None:
    """Return the holders of the permission, sorted by kind and name. Return None if bindings or
    memberships are not loaded or may be out of date.

    `source` is the host cluster, which has the users and groups. `authorizer` is that of the
    cluster that receives the request.
    """
    grants = authorizer.who_may(asked)
    if grants is None or not are_current(source):
        return None
    found: dict[tuple[str, str], list[Reason]] = {("Group", MASTERS): []}
    for grant in grants:
        kind, _space, name = grant.subject.partition(" ")
        if kind == "User" and name.startswith(_ACCOUNT):
            kind, name = "ServiceAccount", name.removeprefix(_ACCOUNT).replace(":", "/", 1)
        found.setdefault((kind, name), []).append(Reason(grant))
        for user in members_of(source, name) if kind == "Group" else ():
            found.setdefault(("User", user), []).append(Reason(grant, name))
    ordered = sorted(found.items(), key=lambda item: (KINDS.index(item[0][0]), item[0][1]))
    return [
        Holder(kind, name, _state(source, kind, name), tuple(reasons))
        for (kind, name), reasons in ordered
    ]


def _state(source: Reads, kind: str, name: str) -> HolderState:
    if kind == "ServiceAccount":
        return HolderState.ACTIVE
    if name.startswith("system:"):
        return HolderState.SYSTEM
    if kind == "Group":
        return HolderState.ACTIVE
    entry = source.informer(USERS).store.get(Key("", name))
    if entry is None:
        return HolderState.NO_USER
    return HolderState.ACTIVE if is_usable(entry.projection) else HolderState.DISABLED


def aggregated_from(source: Reads, role: RoleRef, asked: AccessQuestion) -> list[str]:
    """Return the ClusterRoles whose rules Kubernetes copies to this aggregated ClusterRole and that
    allow the request, sorted. The list is empty if the role is not aggregated.
    """
    store = source.informer(CLUSTER_ROLES).store
    entry = store.get(Key("", role.name)) if role.kind == "ClusterRole" else None
    if entry is None or not entry.projection.aggregated:
        return []
    given = (entry.original().get("aggregationRule") or {}).get("clusterRoleSelectors") or []
    try:
        texts = [selector_text(one) for one in msgspec.convert(given, list[Selector])]
    except msgspec.ValidationError:
        return []
    selectors = [found for text in texts if (found := read_selector(text)) is not None]
    return sorted(
        other.key.name
        for other in store.snapshot().entries.values()
        if other is not entry
        and any(one.matches(other.projection.labels) for one in selectors)
        and any_allows(role_rules(other), normalize_question(asked))
    )
