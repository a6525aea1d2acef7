"""The StorageClass kind."""

from collections.abc import Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions import storage_classes
from console.actions.volume_expansion import AllowExpansion, ForbidExpansion
from console.kube.gvr import STORAGE_CLASSES
from console.kube.projections.storage import StorageClass
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.storage import storage_class
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.wizards import examples
from console.wizards.storage import STORAGE_CLASS

BINDING: dict[str, str | Promise] = {
    "Immediate": gettext_lazy("Immediate"),
    "WaitForFirstConsumer": gettext_lazy("Wait for first consumer"),
}


@register
@kind_panels(DescriptionPanel(describe=storage_class))
class StorageClassKind(ResourceKind):
    gvr, scope, nav = STORAGE_CLASSES, Scope.CLUSTER, Nav("storage", 40, "storage")
    short_names = ("sc",)
    projection = StorageClass
    title = gettext_lazy("Storage classes")
    singular = gettext_lazy("storage class")
    nouns = gettext_lazy("storage classes")
    example = {
        "provisioner": "example.com/provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    wizard = STORAGE_CLASS
    examples = examples.STORAGE_CLASSES
    columns = (
        lists.BoolColumn(id="default", label=gettext_lazy("Default"), priority=2),
        lists.TextColumn(id="provisioner", label=gettext_lazy("Provisioner"), priority=2),
        storage_classes.reclaim_policy_column(storage_classes.RETAIN_OR_DELETE, 3),
        lists.WordColumn(
            id="binding",
            label=gettext_lazy("Volume binding"),
            priority=3,
            get=lambda found: found.binding_mode,
            words=BINDING,
        ),
        lists.BoolColumn(id="expandable", label=gettext_lazy("Expandable"), priority=3),
        lists.BoolColumn(id="clones", label=gettext_lazy("Clones"), priority=4),
        lists.BoolColumn(id="snapshots", label=gettext_lazy("Snapshots"), priority=4),
    )
    search = lists.SearchFilter(texts=lambda found: (found.provisioner,))
    filters = (
        lists.FieldFilter(param="provisioner", label=gettext_lazy("Provisioner")),
        storage_classes.reclaim_policy_filter(storage_classes.RETAIN_OR_DELETE),
    )
    actions = (
        storage_classes.SetDefault(),
        storage_classes.UnsetDefault(),
        AllowExpansion(),
        ForbidExpansion(),
        storage_classes.VolumeOperations(),
        Delete(),
    )

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        found: StorageClass = entry.projection
        default = (
            _("yes: used by PersistentVolumeClaims that don't set a storage class")
            if found.default
            else _("no")
        )
        return [
            text_fact(_("Provisioner"), found.provisioner),
            (_("Default"), default),
            (
                _("Volumes of this class"),
                _("are kept; no new volumes can be created with this class"),
            ),
        ]
