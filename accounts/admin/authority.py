"""Checks whether a platform role allows a user to administer another user's account.

KubeSphere lets user managers change all users. In Kubernetes, no platform role grants this
permission, because it would allow impersonating any user (ADR 8). The console therefore makes
the change on behalf of the user manager, after comparing the permissions of both users.

Guarantees:

- Nobody creates or changes a user who holds, in any cluster, permissions that the viewer does
  not hold. Setting a user's password makes it possible to sign in as that user. For existing
  users, roles in workspaces and their projects count only with `USERS_MANAGER=strict`.
- All bindings of the name count, even if the user is disabled or doesn't exist, because a
  disabled user can be enabled and a user with a bound name can be created later.
- The check fails closed: while any source of permissions is not loaded or may be outdated, every
  user is treated as holding more.
"""

from django.conf import settings
from django.utils.translation import gettext as _

from console.kube.gvr import USERS
from console.kube.host_runtime import get_runtime
from console.kube.identity import InvalidIdentity
from console.ui.core.access import Access
from console.ui.core.clusters import HOST
from console.ui.core.permissions import Protected
from console.ui.core.text import escape_invisible
from rbac.memberships import are_current, identity_of
from rbac.process_clusters import excess_permissions, get_role_levels
from rbac.rules import AccessQuestion, Rules, any_allows

CREATE = ("create",)
#: KubeSphere's API server checks the first verb, Kubernetes the second.
CHANGE = ("patch", "update")


def administers(access: Access, verbs: tuple[str, ...], name: str = "") -> bool:
    """Return True if a platform role allows the viewer these verbs on users.

    Does not compare the permissions of both users. Always False for users the viewer can't get.
    """
    if access.cluster.name != HOST or not access.can("get", USERS, name=name):
        return False
    rules = get_role_levels().platform_rules(access.identity)
    group, resource = USERS.group, USERS.resource
    return any(
        any_allows(rules, AccessQuestion(verb, group, resource, name=name)) for verb in verbs
    )


def may_create(access: Access) -> bool:
    """Return True if Kubernetes RBAC or a platform role allows the viewer to create users."""
    return access.can("create", USERS) or administers(access, CREATE)


def may_change(access: Access, name: str) -> bool:
    """Return True if Kubernetes RBAC or a platform role allows the viewer to change users.

    Does not compare the permissions of both users.
    """
    return access.can("patch", USERS, name=name) or administers(access, CHANGE, name)


def check_holds_no_more(access: Access, name: str, *, is_new: bool = False) -> None:
    """Raise `Protected` if `name` holds permissions that the viewer does not hold. The user may not
    exist.

    `is_new`: the viewer creates the user, so that all bindings of the name count.
    """
    runtime, in_workspaces = get_runtime(), is_new or settings.USERS_MANAGER == "strict"
    try:
        beyond = (
            excess_permissions(
                access.identity, identity_of(runtime, name), in_workspaces=in_workspaces
            )
            if are_current(runtime)
            else None
        )
    except InvalidIdentity:
        beyond = None
    check_not_beyond(beyond, name)


def check_not_beyond(beyond: Rules | None, name: str) -> None:
    """Raise `Protected` unless `beyond` is empty.

    `beyond` contains the permissions that `name` holds and the viewer does not, or is None if
    unknown.
    """
    if beyond is None:
        raise Protected(
            _(
                "This action is not available because the permissions of %(name)s could not be "
                "determined."
            )
            % {"name": escape_invisible(name)}
        )
    if beyond:
        text = _(
            "%(name)s has permissions that you don't have. Only users who have the same "
            "permissions can change %(name)s."
        )
        raise Protected(text % {"name": escape_invisible(name)})
