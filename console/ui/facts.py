"""What somebody should know before they delete an object, in lines that several kinds share.

Facts come from the object alone. Whatever a line says of what happens next is Kubernetes' own rule.
"""

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from console.kube.status import Status
from console.ui.text import visible
from console.ui.words import reason_text, translate

Fact = tuple[str | Promise, str | Promise]


def status_fact(status: Status) -> Fact:
    return (_("Status"), f"{translate(status.word)} {reason_text(status)}".strip())


def owner_fact(owner: str) -> Fact:
    """`owner`: `Kind/name` of what controls the object, or "". A controller replaces what it lost."""
    if not owner:
        return (_("Managed by"), _("nobody: nothing will create it again"))
    kind, _slash, name = visible(owner).partition("/")
    text = _("%(kind)s %(name)s, which will create a new one") % {"kind": kind, "name": name}
    return (_("Managed by"), text)


def ready_fact(ready: int, desired: int) -> Fact:
    words = {"ready": f"{ready:,}", "desired": f"{desired:,}"}
    return (_("Replicas"), _("%(ready)s of %(desired)s ready") % words)


def pods_fact() -> Fact:
    """Of what owns pods: deleting it through kube-apiserver deletes them in the background."""
    return (_("Its pods"), _("are deleted with it"))
