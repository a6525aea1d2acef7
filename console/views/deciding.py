"""Permission checks of all writing views: single actions, bulk actions, imports and long-running
operations.
"""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR, Key
from console.ui.access import Access, Doubting
from console.ui.actions import Action, Permission
from console.ui.decisions import Exempt, NotArrived, check_seen, lacking
from console.ui.kind import ResourceKind


class InDoubt(NotArrived):
    """Permissions can't be confirmed now. Nothing is changed, but this is not a denial."""

    text = gettext_lazy(
        "The cluster is not responding, so this action is not available. Try again later."
    )


def is_in_doubt(access: Access) -> bool:
    """Return True if a missing permission may be caused by stale permissions.

    Types that don't affect permissions may be unavailable or permanently forbidden to the
    console.
    """
    return isinstance(access, Doubting) and access.permissions_stale()


def check_right(right: Permission, access: Access, gvr: GVR, key: Key) -> None:
    """Raise `Denied` if the user lacks the permission, or `InDoubt` if permissions can't be
    confirmed now.
    """
    # Also checked before, because the permissions may be confirmed during evaluation.
    doubted = is_in_doubt(access)
    if right.granted(access, gvr, key):
        return
    if doubted or is_in_doubt(access):
        raise InDoubt
    raise lacking(right, gvr, key.namespace)


def check_may(kind: ResourceKind, action: Action, access: Access, key: Key) -> None:
    """Raise `Denied`, `Exempt` or `InDoubt` if the user may not run the action on the object. The
    object may not exist.
    """
    check_seen(kind, access, key)
    for right in action.needs:
        check_right(right, access, kind.gvr, key)
    if action.is_protected(access, key.name):
        raise Exempt(_("This object does not allow this action, regardless of your permissions."))
