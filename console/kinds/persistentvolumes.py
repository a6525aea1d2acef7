"""The PersistentVolume kind."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.actions import storage_classes
from console.kube.gvr import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES, Key
from console.kube.projections.storage import PersistentVolume
from console.kube.status import Severity, Status
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, status_fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, Reference, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.storage import persistent_volume
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels

POLICIES: dict[str, str | Promise] = {
    **storage_classes.RETAIN_OR_DELETE,
    "Recycle": pgettext_lazy("reclaim policy", "Recycle"),
}


def claim_of(volume: PersistentVolume) -> lists.LinkTarget | None:
    namespace, _slash, name = volume.claim.partition("/")
    return lists.LinkTarget("persistentvolumeclaims", namespace, name) if name else None


@register
@kind_panels(DescriptionPanel(describe=persistent_volume))
class PersistentVolumeKind(ResourceKind):
    gvr, scope, nav = PERSISTENT_VOLUMES, Scope.CLUSTER, Nav("storage", 30, "storage")
    short_names = ("pv",)
    projection = PersistentVolume
    checked_for_problems = True
    referenced_types = (PERSISTENT_VOLUME_CLAIMS, STORAGE_CLASSES)
    title = gettext_lazy("Persistent volumes")
    singular = gettext_lazy("persistent volume")
    nouns = gettext_lazy("persistent volumes")
    example = {
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "nfs": {"server": "nfs.example.com", "path": "/example"},
        }
    }
    severity_words = {
        Severity.WARN: gettext_lazy("Released"),
        Severity.OK: gettext_lazy("Bound or available"),
    }
    columns = (
        lists.StatusColumn(),
        storage_classes.CAPACITY,
        storage_classes.ACCESS_MODES,
        storage_classes.reclaim_policy_column(POLICIES, 2),
        lists.LinkColumn(
            id="claim",
            label=gettext_lazy("Claim"),
            priority=2,
            to=claim_of,
            leads_to=("persistentvolumeclaims",),
        ),
        replace(storage_classes.STORAGE_CLASS, priority=3),
        storage_classes.VOLUME_ATTRIBUTES,
        lists.TextColumn(id="driver", label=gettext_lazy("Driver"), priority=4),
        storage_classes.VOLUME_MODE,
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name, label, claim, storage class or driver"),
        texts=lambda volume: (volume.claim, volume.storage_class, volume.driver),
    )
    filters = (
        lists.STATE,
        storage_classes.OF_STORAGE_CLASS,
        storage_classes.reclaim_policy_filter(POLICIES),
    )
    actions = (Delete(),)
    confirm_by_name = True

    def is_problem(self, status: Status) -> bool:
        """Return True for errors only, because released volumes wait for an administrator."""
        return status.severity is Severity.ERROR

    def references(self, item: PersistentVolume) -> Iterable[Reference]:
        namespace, _slash, name = item.claim.partition("/")
        if name:
            yield Reference(PERSISTENT_VOLUME_CLAIMS, Key(namespace, name), "bound")
        if item.storage_class:
            yield Reference(STORAGE_CLASSES, Key("", item.storage_class), "class")

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        volume: PersistentVolume = entry.projection
        kept = volume.reclaim_policy == "Retain"
        data = _("kept in the storage system") if kept else _("deleted from the storage system")
        return [
            status_fact(volume.status),
            text_fact(_("Claim"), volume.claim),
            (_("Reclaim policy"), POLICIES.get(volume.reclaim_policy) or _("none")),
            (_("Data"), data),
        ]
