"""ReplicaSets. The columns are those of `kubectl get replicasets -o wide`, and the revision."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_lazy

from console.kube.gvr import REPLICA_SETS
from console.kube.projections.replicaset import ReplicaSet
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.actions import Delete
from console.ui.columns import (
    AgeColumn,
    ContainersColumn,
    ImagesColumn,
    NameColumn,
    NamespaceColumn,
    NumberColumn,
    OwnerColumn,
    RatioColumn,
    SelectorColumn,
    StatusColumn,
)
from console.ui.facts import owner_fact, pods_fact, ready_fact, status_fact
from console.ui.filters import (
    LabelFilter,
    NamespaceFilter,
    SearchFilter,
    StatusFilter,
    image_filter,
    owner_filter,
    uses_filter,
)
from console.ui.kind import Fact, Nav, ResourceKind, Scope
from console.ui.registry import register


@register
class ReplicaSetKind(ResourceKind):
    gvr, scope, nav = REPLICA_SETS, Scope.NAMESPACED, Nav("workloads", 50)
    projection = ReplicaSet
    title = gettext_lazy("ReplicaSets")
    singular = gettext_lazy("ReplicaSet")
    nouns = gettext_lazy("ReplicaSets")
    severity_words = {Severity.OK: gettext_lazy("Running")}
    columns = (
        NameColumn(),
        NamespaceColumn(),
        StatusColumn(),
        RatioColumn(
            id="ready",
            label=gettext_lazy("Ready"),
            part=lambda item: item.ready,
            whole=lambda item: item.desired,
        ),
        NumberColumn(
            id="current", label=gettext_lazy("Current"), priority=3, get=lambda item: item.current
        ),
        NumberColumn(
            id="revision",
            label=gettext_lazy("Revision"),
            priority=3,
            get=lambda item: item.revision,
        ),
        OwnerColumn(priority=3),
        ImagesColumn(),
        ContainersColumn(),
        SelectorColumn(),
        AgeColumn(priority=1),
    )
    filters = (
        SearchFilter(covers=gettext_lazy("Name, label or image"), texts=lambda item: item.images),
        NamespaceFilter(),
        LabelFilter(),
        StatusFilter(),
        image_filter(),
        owner_filter(),
        uses_filter(),
    )
    actions = (Delete(),)

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        item: ReplicaSet = entry.projection
        return [
            status_fact(item.status),
            ready_fact(item.ready, item.desired),
            pods_fact(),
            owner_fact(item.owner),
        ]
