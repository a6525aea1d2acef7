"""The VolumeSnapshot kind."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.volume_copies import CreateVolume
from console.kube.gvr import (
    PERSISTENT_VOLUME_CLAIMS,
    VOLUME_SNAPSHOT_CLASSES,
    VOLUME_SNAPSHOT_CONTENTS,
    VOLUME_SNAPSHOTS,
    Key,
)
from console.kube.projections.storage import VolumeSnapshot
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, Reference, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.storage import snapshot
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.wizards.storage import VOLUME_SNAPSHOT


@register
@kind_panels(DescriptionPanel(describe=snapshot))
class VolumeSnapshotKind(ResourceKind):
    gvr, scope, nav = VOLUME_SNAPSHOTS, Scope.NAMESPACED, Nav("storage", 20, "storage")
    short_names = ("vs",)
    projection = VolumeSnapshot
    checked_for_problems = True
    referenced_types = (PERSISTENT_VOLUME_CLAIMS, VOLUME_SNAPSHOT_CONTENTS, VOLUME_SNAPSHOT_CLASSES)
    title = gettext_lazy("Volume snapshots")
    singular = gettext_lazy("volume snapshot")
    nouns = gettext_lazy("volume snapshots")
    example = {"spec": {"source": {"persistentVolumeClaimName": "example"}}}
    severity_words = {Severity.OK: gettext_lazy("Ready")}
    wizard = VOLUME_SNAPSHOT
    columns = (
        lists.StatusColumn(),
        lists.TextColumn(id="source", label=gettext_lazy("Source"), priority=2),
        lists.QuantityColumn(id="size", label=gettext_lazy("Capacity"), priority=2, unit="bytes"),
        lists.TextColumn(
            id="class",
            label=gettext_lazy("Class"),
            priority=3,
            get=lambda snapshot: snapshot.snapshot_class,
        ),
        lists.TextColumn(id="content", label=gettext_lazy("Content"), priority=4),
        lists.AgeColumn(id="taken", label=gettext_lazy("Snapshot time"), priority=3),
    )
    search = lists.SearchFilter(texts=lambda snapshot: (snapshot.source, snapshot.content))
    filters = (
        lists.STATE,
        lists.FieldFilter(
            param="claim", label=gettext_lazy("Source"), get=lambda snapshot: (snapshot.source,)
        ),
        lists.FieldFilter(
            param="class",
            names=VOLUME_SNAPSHOT_CLASSES,
            label=gettext_lazy("Class"),
            get=lambda snapshot: (snapshot.snapshot_class,),
        ),
    )
    actions = (CreateVolume(), Delete())

    def references(self, item: VolumeSnapshot) -> Iterable[Reference]:
        if item.source and item.source != item.content:
            claim = Key(item.namespace, item.source)
            yield Reference(PERSISTENT_VOLUME_CLAIMS, claim, "source")
        if item.content:
            yield Reference(VOLUME_SNAPSHOT_CONTENTS, Key("", item.content), "bound")
        if item.snapshot_class:
            yield Reference(VOLUME_SNAPSHOT_CLASSES, Key("", item.snapshot_class), "class")

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        snapshot: VolumeSnapshot = entry.projection
        return [
            text_fact(_("Source"), snapshot.source),
            (
                _("Data"),
                _(
                    "deleted with the snapshot, unless the deletion policy of the snapshot content is "
                    "Retain"
                ),
            ),
        ]
