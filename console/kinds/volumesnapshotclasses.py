"""The VolumeSnapshotClass kind."""

from django.utils.translation import gettext_lazy

from console.actions.storage_classes import RETAIN_OR_DELETE
from console.kube.gvr import VOLUME_SNAPSHOT_CLASSES
from console.kube.projections.storage import VolumeSnapshotClass
from console.ui import lists
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.storage import snapshot_class
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.wizards.storage import VOLUME_SNAPSHOT_CLASS


@register
@kind_panels(DescriptionPanel(describe=snapshot_class))
class VolumeSnapshotClassKind(ResourceKind):
    gvr, scope, nav = VOLUME_SNAPSHOT_CLASSES, Scope.CLUSTER, Nav("storage", 50)
    short_names = ("vsclass", "vsclasses")
    projection = VolumeSnapshotClass
    title = gettext_lazy("Volume snapshot classes")
    singular = gettext_lazy("volume snapshot class")
    nouns = gettext_lazy("volume snapshot classes")
    example = {"driver": "example.com/driver", "deletionPolicy": "Delete"}
    wizard = VOLUME_SNAPSHOT_CLASS
    columns = (
        lists.BoolColumn(id="default", label=gettext_lazy("Default"), priority=2),
        lists.TextColumn(id="driver", label=gettext_lazy("Driver"), priority=2),
        lists.WordColumn(
            id="deletion_policy",
            label=gettext_lazy("Deletion policy"),
            priority=2,
            words=RETAIN_OR_DELETE,
        ),
    )
    search = lists.SearchFilter(texts=lambda found: (found.driver,))
    filters = (lists.FieldFilter(param="driver", label=gettext_lazy("Driver")),)
    actions = (Delete(),)
