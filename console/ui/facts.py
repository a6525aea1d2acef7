"""Delete warnings: lines of information before deletion that several kinds share.

They are derived from the object alone. Statements about consequences describe Kubernetes' own
behavior.
"""

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from console.kube.status import Status
from console.ui.text import escape_invisible
from console.ui.words import reason_text, translate

Fact = tuple[str | Promise, str | Promise]


def status_fact(status: Status) -> Fact:
    return (_("Status"), f"{translate(status.word)} {reason_text(status)}".strip())


def owner_fact(owner: str) -> Fact:
    """Return the line about the controller that recreates the object. `owner` is `Kind/name`, or
    "".
    """
    if not owner:
        return (_("Managed by"), _("no controller, so the object will not be recreated"))
    kind, _slash, name = escape_invisible(owner).partition("/")
    text = _("%(kind)s %(name)s, which will create a replacement") % {"kind": kind, "name": name}
    return (_("Managed by"), text)


def ready_fact(ready: int, desired: int) -> Fact:
    words = {"ready": f"{ready:,}", "desired": f"{desired:,}"}
    return (_("Replicas"), _("%(ready)s of %(desired)s ready") % words)


def pods_fact() -> Fact:
    """Return the line for owners of pods. Deletion through kube-apiserver deletes the pods in the
    background.
    """
    return (_("Pods"), _("will also be deleted"))
