"""The VolumeSnapshotClass kind."""

from django.utils.translation import gettext_lazy

from console.actions.storage_classes import RETAIN_OR_DELETE
from console.kube.gvr import VOLUME_SNAPSHOT_CLASSES
from console.kube.projections.storage import VolumeSnapshotClass
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.lists.columns import BoolColumn, TextColumn, WordColumn
from console.ui.lists.filters import FieldFilter, SearchFilter


@register
class VolumeSnapshotClassKind(ResourceKind):
    gvr, scope, nav = VOLUME_SNAPSHOT_CLASSES, Scope.CLUSTER, Nav("storage", 50)
    short_names = ("vsclass", "vsclasses")
    projection = VolumeSnapshotClass
    title = gettext_lazy("Volume snapshot classes")
    singular = gettext_lazy("volume snapshot class")
    nouns = gettext_lazy("volume snapshot classes")
    example = {"driver": "example.com/driver", "deletionPolicy": "Delete"}
    columns = (
        BoolColumn(id="default", label=gettext_lazy("Default"), priority=2),
        TextColumn(id="driver", label=gettext_lazy("Driver"), priority=2),
        WordColumn(
            id="deletion_policy",
            label=gettext_lazy("Deletion policy"),
            priority=2,
            words=RETAIN_OR_DELETE,
        ),
    )
    search = SearchFilter(texts=lambda found: (found.driver,))
    filters = (FieldFilter(param="driver", label=gettext_lazy("Driver")),)
    actions = (Delete(),)
