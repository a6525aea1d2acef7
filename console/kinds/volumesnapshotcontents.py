"""The VolumeSnapshotContent kind: snapshots in the storage system."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.storage_classes import RETAIN_OR_DELETE
from console.kube.gvr import (
    VOLUME_SNAPSHOT_CLASSES,
    VOLUME_SNAPSHOT_CONTENTS,
    VOLUME_SNAPSHOTS,
    Key,
)
from console.kube.projections.storage import VolumeSnapshotContent
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, Reference, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.storage import snapshot_content
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels


def snapshot_of(content: VolumeSnapshotContent) -> lists.LinkTarget | None:
    namespace, _slash, name = content.snapshot.partition("/")
    if not name:
        return None
    return lists.LinkTarget("volumesnapshots.snapshot.storage.k8s.io", namespace, name)


@register
@kind_panels(DescriptionPanel(describe=snapshot_content))
class VolumeSnapshotContentKind(ResourceKind):
    gvr, scope, nav = VOLUME_SNAPSHOT_CONTENTS, Scope.CLUSTER, Nav("storage", 60)
    short_names = ("vsc", "vscs")
    projection = VolumeSnapshotContent
    referenced_types = (VOLUME_SNAPSHOTS, VOLUME_SNAPSHOT_CLASSES)
    title = gettext_lazy("Volume snapshot contents")
    singular = gettext_lazy("volume snapshot content")
    nouns = gettext_lazy("volume snapshot contents")
    severity_words = {Severity.OK: gettext_lazy("Ready")}
    columns = (
        lists.StatusColumn(),
        lists.QuantityColumn(
            id="size",
            label=gettext_lazy("Capacity"),
            priority=2,
            get=lambda content: str(content.size) if content.size else "",
            unit="bytes",
        ),
        lists.WordColumn(
            id="deletion_policy",
            label=gettext_lazy("Deletion policy"),
            priority=3,
            words=RETAIN_OR_DELETE,
        ),
        lists.TextColumn(id="driver", label=gettext_lazy("Driver"), priority=3),
        lists.TextColumn(
            id="class",
            label=gettext_lazy("Class"),
            priority=3,
            get=lambda content: content.snapshot_class,
        ),
        lists.LinkColumn(
            id="snapshot",
            label=gettext_lazy("Volume snapshot"),
            priority=2,
            to=snapshot_of,
            leads_to=("volumesnapshots.snapshot.storage.k8s.io",),
        ),
    )
    search = lists.SearchFilter(texts=lambda content: (content.snapshot, content.driver))
    filters = (lists.FieldFilter(param="driver", label=gettext_lazy("Driver")),)
    actions = (Delete(),)

    def references(self, item: VolumeSnapshotContent) -> Iterable[Reference]:
        namespace, _slash, name = item.snapshot.partition("/")
        if name:
            yield Reference(VOLUME_SNAPSHOTS, Key(namespace, name), "bound")
        if item.snapshot_class:
            yield Reference(VOLUME_SNAPSHOT_CLASSES, Key("", item.snapshot_class), "class")

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        content: VolumeSnapshotContent = entry.projection
        kept = content.deletion_policy == "Retain"
        data = _("kept in the storage system") if kept else _("deleted from the storage system")
        return [
            text_fact(_("Volume snapshot"), content.snapshot),
            (_("Data"), data),
        ]
