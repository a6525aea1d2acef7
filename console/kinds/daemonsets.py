"""DaemonSets. The columns are those of `kubectl get daemonsets -o wide`."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_lazy

from console.kube.gvr import DAEMON_SETS
from console.kube.projections.daemonset import DaemonSet
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


@register
class DaemonSetKind(ResourceKind):
    gvr, scope, nav = DAEMON_SETS, Scope.NAMESPACED, Nav("workloads", 40)
    projection = DaemonSet
    title = gettext_lazy("DaemonSets")
    singular = gettext_lazy("DaemonSet")
    nouns = gettext_lazy("DaemonSets")
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
            id="current", label=gettext_lazy("Current"), priority=4, get=lambda item: item.current
        ),
        NumberColumn(
            id="updated",
            label=gettext_lazy("Up to date"),
            priority=3,
            get=lambda item: item.updated,
        ),
        NumberColumn(
            id="available",
            label=gettext_lazy("Available"),
            priority=3,
            get=lambda item: item.available,
        ),
        TextColumn(
            id="nodes", label=gettext_lazy("Node selector"), priority=3, get=lambda item: item.nodes
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
    actions = (Restart(), SetImage(), RollBackSet(), Delete())

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        item: DaemonSet = entry.projection
        return [
            status_fact(item.status),
            ready_fact(item.ready, item.desired),
            pods_fact(),
            owner_fact(item.owner),
        ]
