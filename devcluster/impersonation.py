"""User impersonation, authorized by RBAC.

Rules: https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/. An empty
`Impersonate-User` header is ignored. Groups, UID or extra headers without a user are a bad
request.
"""

from collections.abc import Sequence
from urllib.parse import unquote

from devcluster.authn import (
    ANONYMOUS,
    UNAUTHENTICATED,
    UserInfo,
    service_account_groups,
    split_service_account,
    with_authenticated,
)
from devcluster.errors import bad_request
from devcluster.rbac import Attributes, Rbac

_EXTRA = "impersonate-extra-"
_AUTHENTICATION = "authentication.k8s.io"


def impersonate(user: UserInfo, headers: Sequence[tuple[str, str]], rbac: Rbac) -> UserInfo:
    """Return the user to act as. Raise a 400 or 403 error if the impersonation is invalid or not
    allowed.
    """
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
    account = split_service_account(name)
    if account and not groups:
        groups = list(service_account_groups(account[0]))
    if name == ANONYMOUS and UNAUTHENTICATED not in groups:
        groups.append(UNAUTHENTICATED)
    frozen = {key: tuple(values) for key, values in extra.items()}
    return with_authenticated(UserInfo(name, tuple(groups), uid, frozen))


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
        Attributes(user, "impersonate", "", "serviceaccounts", "", *account)
        if account
        else Attributes(user, "impersonate", "", "users", name=name)
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
        rbac.require(one)
