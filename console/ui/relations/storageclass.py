"""Why a claim waits, as far as its storage class tells."""

from collections.abc import Collection
from dataclasses import dataclass

from django.utils.translation import gettext as _

from console.kube.gvr import GVR, STORAGE_CLASSES, Key
from console.kube.status import Severity
from console.ui.causes import Cause
from console.ui.kind import ResourceKind
from console.ui.panels.summary import CausePanel, Trouble
from console.ui.relations.seeing import Seeing
from console.ui.subject import Subject
from console.ui.text import visible


@dataclass(frozen=True, kw_only=True)
class StorageClassCause(CausePanel):
    """For claims."""

    def needs(self, kind: ResourceKind) -> Collection[GVR]:
        return (STORAGE_CLASSES,)

    def trouble(self, subject: Subject) -> Trouble | None:
        claim, classes = subject.entry.projection, Seeing(subject, STORAGE_CLASSES)
        key = Key("", claim.storage_class)
        if (
            claim.volume
            or not key.name
            or classes.informer is None
            or not classes.readable.sees(key)
        ):
            return None
        if classes.informer.store.get(key) is not None:
            return None
        # A claim may also name a class that there is none of to get a volume that somebody made for it.
        text = _("Storage class %(name)s does not exist, so nobody makes a volume.")
        return Severity.ERROR, Cause(text % {"name": visible(key.name)}, claim.status.reason)
