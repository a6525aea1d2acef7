"""The PersistentVolume kind."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.actions.storage_classes import (
    ACCESS_MODES,
    CAPACITY,
    OF_STORAGE_CLASS,
    RETAIN_OR_DELETE,
    STORAGE_CLASS,
    VOLUME_ATTRIBUTES,
    VOLUME_MODE,
    reclaim_policy_column,
    reclaim_policy_filter,
)
from console.kube.gvr import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES, Key
from console.kube.projections.storage import PersistentVolume
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.core.action_texts import Fact, status_fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, Reference, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.lists.columns import LinkColumn, LinkTarget, StatusColumn, TextColumn
from console.ui.lists.filters import STATE, SearchFilter

POLICIES: dict[str, str | Promise] = {
    **RETAIN_OR_DELETE,
    "Recycle": pgettext_lazy("reclaim policy", "Recycle"),
}


def claim_of(volume: PersistentVolume) -> LinkTarget | None:
    namespace, _slash, name = volume.claim.partition("/")
    return LinkTarget("persistentvolumeclaims", namespace, name) if name else None


@register
class PersistentVolumeKind(ResourceKind):
    gvr, scope, nav = PERSISTENT_VOLUMES, Scope.CLUSTER, Nav("storage", 30, "storage")
    short_names = ("pv",)
    projection = PersistentVolume
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
        StatusColumn(),
        CAPACITY,
        ACCESS_MODES,
        reclaim_policy_column(POLICIES, 2),
        LinkColumn(
            id="claim",
            label=gettext_lazy("Claim"),
            priority=2,
            to=claim_of,
            leads_to=("persistentvolumeclaims",),
        ),
        replace(STORAGE_CLASS, priority=3),
        VOLUME_ATTRIBUTES,
        TextColumn(id="driver", label=gettext_lazy("Driver"), priority=4),
        VOLUME_MODE,
    )
    search = SearchFilter(
        covers=gettext_lazy("Name, label, claim, storage class or driver"),
        texts=lambda volume: (volume.claim, volume.storage_class, volume.driver),
    )
    filters = (
        STATE,
        OF_STORAGE_CLASS,
        reclaim_policy_filter(POLICIES),
    )
    actions = (Delete(),)
    confirm_by_name = True

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
