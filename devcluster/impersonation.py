"""Acting as somebody else, where RBAC allows it.

Rules: https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/. An empty
`Impersonate-User` counts as none; groups, UID or extra without a user are a bad request.
"""

from collections.abc import Sequence
from urllib.parse import unquote

from devcluster.authn import (
    ANONYMOUS,
    AUTHENTICATED,
    UNAUTHENTICATED,
    UserInfo,
    service_account_groups,
    split_service_account,
)
from devcluster.rbac import Attributes, Rbac, refusal
from devcluster.statuses import bad_request, forbidden

_EXTRA = "impersonate-extra-"
_AUTHENTICATION = "authentication.k8s.io"


def impersonate(user: UserInfo, headers: Sequence[tuple[str, str]], rbac: Rbac) -> UserInfo:
    """The user that the request is made as; a 400 or 403 if it may not be."""
    given = [(name.lower(), value.strip()) for name, value in headers]
    name = next((value for key, value in given if key == "impersonate-user"), "")
    uid = next((value for key, value in given if key == "impersonate-uid"), "")
    groups = [value for key, value in given if key == "impersonate-group"]
    extra: dict[str, list[str]] = {}
    for key, value in given:
        if key.startswith(_EXTRA):
            extra.setdefault(unquote(key.removeprefix(_EXTRA)), []).append(value)
    if not name:
        if groups or uid or extra:
            raise bad_request("requested groups, a UID or extra without impersonating a user")
        return user
    _check(user, name, groups, uid, extra, rbac)
    frozen = {key: tuple(values) for key, values in extra.items()}
    return UserInfo(name, _with_fixed_groups(name, groups), uid, frozen)


def _check(
    user: UserInfo,
    name: str,
    groups: Sequence[str],
    uid: str,
    extra: dict[str, list[str]],
    rbac: Rbac,
) -> None:
    account = split_service_account(name)
    asked = [
        Attributes(
            user, "impersonate", "", "serviceaccounts", "", account[0], account[1], version="v1"
        )
        if account
        else Attributes(user, "impersonate", "", "users", name=name, version="v1")
    ]
    asked += [Attributes(user, "impersonate", "", "groups", name=group) for group in groups]
    if uid:
        asked.append(Attributes(user, "impersonate", _AUTHENTICATION, "uids", name=uid))
    for key, values in extra.items():
        asked += [
            Attributes(user, "impersonate", _AUTHENTICATION, "userextras", key, name=value)
            for value in values
        ]
    for one in asked:
        decision = rbac.authorize(one)
        if not decision.allowed:
            raise forbidden(one.group, one.resource, one.name, refusal(one, decision.reason))


def _with_fixed_groups(name: str, groups: Sequence[str]) -> tuple[str, ...]:
    account = split_service_account(name)
    found = tuple(groups)
    if account and not found:
        found = service_account_groups(account[0])
    if name == ANONYMOUS:
        return found if UNAUTHENTICATED in found else (*found, UNAUTHENTICATED)
    if AUTHENTICATED in found or UNAUTHENTICATED in found:
        return found
    return (*found, AUTHENTICATED)
