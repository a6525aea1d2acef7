"""Permission checks of all writing views: single actions, bulk actions, imports and long-running
operations.
"""

import asyncio

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR, Key
from console.ui.core.access import Access, ConfirmableAccess
from console.ui.core.actions import Action, Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.permissions import NotLoaded, Protected, check_visible, denied_for

#: Seconds that a request waits for permissions to be confirmed, and between two looks. Probes and
#: watches are repeated after a second, so most interruptions end earlier.
CONFIRM_WITHIN, LOOK_AGAIN = 3.0, 0.05


class PermissionsUnconfirmed(NotLoaded):
    """Permissions can't be confirmed now. Nothing is changed, but this is not a denial."""

    text = gettext_lazy(
        "The cluster is not responding, so this action is not available. Try again later."
    )


def permissions_may_be_stale(access: Access) -> bool:
    """Return True if a missing permission may be caused by stale permissions.

    Types that don't affect permissions may be unavailable or permanently forbidden to the
    console.
    """
    return isinstance(access, ConfirmableAccess) and access.permissions_stale()


async def wait_until_confirmed(access: object) -> None:
    """Wait at most `CONFIRM_WITHIN` seconds while a watch of roles or users is interrupted."""
    if isinstance(access, ConfirmableAccess):
        ends = asyncio.get_running_loop().time() + CONFIRM_WITHIN
        while access.permissions_stale() and asyncio.get_running_loop().time() < ends:
            await asyncio.sleep(LOOK_AGAIN)


def check_permission(right: Permission, access: Access, gvr: GVR, key: Key) -> None:
    """Raise `Denied` if the user lacks the permission, or `PermissionsUnconfirmed` if permissions
    can't be confirmed now.
    """
    # Also checked before, because the permissions may be confirmed during evaluation.
    doubted = permissions_may_be_stale(access)
    if right.granted(access, gvr, key):
        return
    if doubted or permissions_may_be_stale(access):
        raise PermissionsUnconfirmed
    raise denied_for(right, gvr, key.namespace)


def check_action(kind: ResourceKind, action: Action, access: Access, key: Key) -> None:
    """Raise `Denied`, `Protected` or `PermissionsUnconfirmed` if the user may not run the action on
    the object. The object may not exist.
    """
    check_visible(kind, access, key)
    for right in action.needs:
        check_permission(right, access, kind.gvr, key)
    if action.is_protected(access, key.name):
        raise Protected(
            _("This object does not allow this action, regardless of your permissions.")
        )
