"""Causes for pending PersistentVolumeClaims that are visible in their storage class."""

from typing import Any

from django.utils.translation import gettext as _

from console.kube.gvr import STORAGE_CLASSES, Key
from console.kube.informer import Informer
from console.kube.projections.claims import PersistentVolumeClaim
from console.kube.status import Severity
from console.ui.causes import Diagnosis
from console.ui.decisions import Readable
from console.ui.panels.summary import CausePanel, Trouble
from console.ui.relations.seeing import VisibleType
from console.ui.subject import Subject
from console.ui.text import escape_invisible

#: Provisioner of classes whose volumes are created manually.
NO_PROVISIONER = "kubernetes.io/no-provisioner"


class StorageClassCause(CausePanel):
    """Cause panel of a PersistentVolumeClaim."""

    also = (STORAGE_CLASSES,)

    def problem(self, subject: Subject) -> Trouble | None:
        classes = VisibleType(subject, STORAGE_CLASSES)
        claim = subject.entry.projection
        found = why_pending(claim, classes.readable, classes.informer)
        return (found[0], Diagnosis(found[1], claim.status.reason)) if found is not None else None


def why_pending(
    claim: PersistentVolumeClaim, readable: Readable, classes: Informer[Any] | None
) -> tuple[Severity, str] | None:
    """Return the reason why a claim has no volume, with its severity.

    Return None if the claim has a volume, or if its class is not visible. `classes` is None if
    the classes are not loaded.
    """
    key = Key("", claim.storage_class)
    if claim.volume or not key.name or classes is None or not readable.includes(key):
        return None
    found, words = classes.store.get(key), {"name": escape_invisible(key.name)}
    if found is None:
        # Not always an error: manually created volumes may use a class name without a StorageClass
        # object.
        text = _("No volume can be provisioned because storage class %(name)s does not exist.")
        return Severity.ERROR, text % words
    if claim.status.word != "Waiting":
        return None
    if found.projection.provisioner == NO_PROVISIONER:
        text = _(
            "Storage class %(name)s has no provisioner. An administrator must create the volume."
        )
        return Severity.PROGRESS, text % words
    if found.projection.binding_mode == "WaitForFirstConsumer":
        return Severity.PROGRESS, _("The volume is created when the first pod uses this claim.")
    return None
