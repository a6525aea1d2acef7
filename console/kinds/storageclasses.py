"""The StorageClass kind."""

from collections.abc import Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.storage_classes import (
    RETAIN_OR_DELETE,
    SetDefault,
    UnsetDefault,
    VolumeOperations,
    reclaim_policy_column,
    reclaim_policy_filter,
)
from console.actions.volume_expansion import AllowExpansion, ForbidExpansion
from console.kube.gvr import STORAGE_CLASSES
from console.kube.projections.storage import StorageClass
from console.kube.store import Entry
from console.ui.core.action_texts import Fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.lists.columns import BoolColumn, TextColumn, WordColumn
from console.ui.lists.filters import FieldFilter, SearchFilter

BINDING: dict[str, str | Promise] = {
    "Immediate": gettext_lazy("Immediate"),
    "WaitForFirstConsumer": gettext_lazy("Wait for first consumer"),
}


@register
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
    columns = (
        BoolColumn(id="default", label=gettext_lazy("Default"), priority=2),
        TextColumn(id="provisioner", label=gettext_lazy("Provisioner"), priority=2),
        reclaim_policy_column(RETAIN_OR_DELETE, 3),
        WordColumn(
            id="binding",
            label=gettext_lazy("Volume binding"),
            priority=3,
            get=lambda found: found.binding_mode,
            words=BINDING,
        ),
        BoolColumn(id="expandable", label=gettext_lazy("Expandable"), priority=3),
        BoolColumn(id="clones", label=gettext_lazy("Clones"), priority=4),
        BoolColumn(id="snapshots", label=gettext_lazy("Snapshots"), priority=4),
    )
    search = SearchFilter(texts=lambda found: (found.provisioner,))
    filters = (
        FieldFilter(param="provisioner", label=gettext_lazy("Provisioner")),
        reclaim_policy_filter(RETAIN_OR_DELETE),
    )
    actions = (
        SetDefault(),
        UnsetDefault(),
        AllowExpansion(),
        ForbidExpansion(),
        VolumeOperations(),
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
