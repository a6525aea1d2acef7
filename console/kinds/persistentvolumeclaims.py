"""The PersistentVolumeClaim kind."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions import storage_classes
from console.actions.volume_copies import Clone, TakeSnapshot
from console.actions.volume_expansion import Expand
from console.kube.gvr import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES, Key
from console.kube.projections.storage import PersistentVolumeClaim
from console.kube.status import Severity, Status
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.access import Access
from console.ui.core.action_texts import Fact, status_fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, Reference, ResourceKind, Scope
from console.ui.core.page_data import current_page_data
from console.ui.core.registry import register
from console.ui.core.text import escape_invisible
from console.ui.details.descriptions.storage import claim
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.ui.details.relations.health_panels import StorageClassCause, why_pending
from console.ui.details.relations.object_panels import UsedByPanel
from console.wizards import examples
from console.wizards.storage import PERSISTENT_VOLUME_CLAIM


@register
@kind_panels(StorageClassCause(), DescriptionPanel(describe=claim), UsedByPanel())
class PersistentVolumeClaimKind(ResourceKind):
    gvr, scope, nav = PERSISTENT_VOLUME_CLAIMS, Scope.NAMESPACED, Nav("storage", 10, "storage")
    short_names = ("pvc",)
    projection = PersistentVolumeClaim
    checked_for_problems = True
    diagnosed_with = (STORAGE_CLASSES,)
    created_by_operators = True
    referenced_types = (PERSISTENT_VOLUMES, STORAGE_CLASSES)
    title = gettext_lazy("Persistent volume claims")
    singular = gettext_lazy("persistent volume claim")
    nouns = gettext_lazy("persistent volume claims")
    example = {
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    }
    severity_words = {Severity.OK: gettext_lazy("Bound")}
    wizard = PERSISTENT_VOLUME_CLAIM
    examples = examples.PERSISTENT_VOLUME_CLAIMS
    columns = (
        lists.StatusColumn(),
        lists.LinkColumn(
            id="volume",
            label=gettext_lazy("Volume"),
            priority=3,
            leads_to=("persistentvolumes",),
        ),
        storage_classes.CAPACITY,
        lists.QuantityColumn(
            id="requested", label=gettext_lazy("Requested"), priority=3, unit="bytes"
        ),
        storage_classes.ACCESS_MODES,
        storage_classes.STORAGE_CLASS,
        storage_classes.VOLUME_ATTRIBUTES,
        storage_classes.VOLUME_MODE,
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name, label, volume or storage class"),
        texts=lambda claim: (claim.volume, claim.storage_class),
    )
    filters = (
        lists.STATE,
        storage_classes.OF_STORAGE_CLASS,
    )
    actions = (Expand(), TakeSnapshot(), Clone(), Delete())

    def diagnosis(self, entry: Entry[Any], manifest: Mapping[str, Any], access: Access) -> str:
        # The project overview loads only namespaced types, so storage classes are loaded here.
        classes = current_page_data(access, (STORAGE_CLASSES,)).get(STORAGE_CLASSES)
        return why_pending(entry.projection, classes.readable, classes.informer) if classes else ""

    def is_problem(self, status: Status) -> bool:
        """Return True for failing claims and for unbound claims, because pods that use them can't
        start.
        """
        pending = status.severity is Severity.PROGRESS and status.word != "Resizing"
        return pending or super().is_problem(status)

    def references(self, item: PersistentVolumeClaim) -> Iterable[Reference]:
        if item.volume:
            yield Reference(PERSISTENT_VOLUMES, Key("", item.volume), "bound")
        if item.storage_class:
            yield Reference(STORAGE_CLASSES, Key("", item.storage_class), "class")

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        claim: PersistentVolumeClaim = entry.projection
        if not claim.volume:
            return [status_fact(claim.status), (_("Volume"), _("none yet"))]
        return [
            status_fact(claim.status),
            (
                _("Volume"),
                f"{escape_invisible(claim.volume)} {escape_invisible(claim.capacity)}".strip(),
            ),
            text_fact(_("Storage class"), claim.storage_class),
            # The reclaim policy is a field of the volume, not of the claim.
            (
                _("Data"),
                _("deleted with the volume, unless the reclaim policy of the volume is Retain"),
            ),
        ]
