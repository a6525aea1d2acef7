"""StatefulSets. The columns are those of `kubectl get statefulsets -o wide`, and KubeSphere's."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import STATEFUL_SETS
from console.kube.projections.statefulset import StatefulSet
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
    TextColumn,
)
from console.ui.facts import owner_fact, pods_fact, ready_fact, status_fact
from console.ui.filters import (
    LabelFilter,
    NamespaceFilter,
    SearchFilter,
    StatusFilter,
    image_filter,
    owner_filter,
    state_filter,
    uses_filter,
)
from console.ui.kind import Fact, Nav, ResourceKind, Scope
from console.ui.registry import register
from console.ui.workloads.images import SetImage
from console.ui.workloads.rollbacks import RollBackSet
from console.ui.workloads.rollouts import Restart
from console.ui.workloads.scaling import Scale


@register
class StatefulSetKind(ResourceKind):
    gvr, scope, nav = STATEFUL_SETS, Scope.NAMESPACED, Nav("workloads", 30)
    projection = StatefulSet
    title = gettext_lazy("StatefulSets")
    singular = gettext_lazy("StatefulSet")
    nouns = gettext_lazy("StatefulSets")
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
            id="updated",
            label=gettext_lazy("Up to date"),
            priority=3,
            get=lambda item: item.updated,
        ),
        TextColumn(
            id="service", label=gettext_lazy("Service"), priority=3, get=lambda item: item.service
        ),
        ImagesColumn(),
        ContainersColumn(),
        SelectorColumn(),
        OwnerColumn(),
        AgeColumn(priority=1),
    )
    filters = (
        SearchFilter(covers=gettext_lazy("Name, label or image"), texts=lambda item: item.images),
        NamespaceFilter(),
        LabelFilter(),
        StatusFilter(),
        state_filter(),
        image_filter(),
        owner_filter(),
        uses_filter(),
    )
    actions = (Scale(), Restart(), SetImage(), RollBackSet(), Delete())

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        item: StatefulSet = entry.projection
        return [
            status_fact(item.status),
            ready_fact(item.ready, item.desired),
            pods_fact(),
            (_("Its volumes"), _("stay, unless it says otherwise itself")),
            owner_fact(item.owner),
        ]
