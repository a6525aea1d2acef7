"""Whether the viewer may do something: the one place that decides, for a form, for many objects at once,
for what is imported, and for what goes on for long.
"""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR, Key
from console.ui.access import Access, Doubting
from console.ui.actions import Action, Permission
from console.ui.decisions import Exempt, NotArrived, check_seen, lacking
from console.ui.kind import ResourceKind


class InDoubt(NotArrived):
    """Rights that nobody can confirm now change nothing; that is not the same as having none."""

    text = gettext_lazy("The cluster does not answer, so nothing can be done now.")


def is_in_doubt(access: Access) -> bool:
    """True if a missing right may be one that nobody can confirm now. Types that say nothing about
    rights may be away or refused to the console for ever."""
    return isinstance(access, Doubting) and access.in_doubt()


def check_right(right: Permission, access: Access, gvr: GVR, key: Key) -> None:
    """Raises `Denied` for whoever lacks it and, where that may be because nobody can confirm rights now,
    `InDoubt`."""
    # Asked before as well: while the answer was worked out the doubt may have ended.
    doubted = is_in_doubt(access)
    if right.granted(access, gvr, key):
        return
    if doubted or is_in_doubt(access):
        raise InDoubt
    raise lacking(right, gvr, key.namespace)


def check_may(kind: ResourceKind, action: Action, access: Access, key: Key) -> None:
    """Raises `Denied`, `Exempt` or `InDoubt` for whoever may not do it to the object, there or not."""
    check_seen(kind, access, key)
    for right in action.needs:
        check_right(right, access, kind.gvr, key)
    if action.exempt(access, key.name):
        raise Exempt(_("You cannot do this to it, whatever your rights."))
