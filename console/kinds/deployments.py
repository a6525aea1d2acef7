"""Deployments. The columns are those of `kubectl get deployments -o wide`, and KubeSphere's."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_lazy

from console.kube.gvr import DEPLOYMENTS
from console.kube.projections.deployment import Deployment
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
from console.ui.workloads.rollbacks import RollBackDeployment
from console.ui.workloads.rollouts import Pause, Restart, Resume
from console.ui.workloads.scaling import Scale


@register
class DeploymentKind(ResourceKind):
    gvr, scope, nav = DEPLOYMENTS, Scope.NAMESPACED, Nav("workloads", 20)
    projection = Deployment
    title = gettext_lazy("Deployments")
    singular = gettext_lazy("deployment")
    nouns = gettext_lazy("deployments")
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
        NumberColumn(
            id="available",
            label=gettext_lazy("Available"),
            priority=3,
            get=lambda item: item.available,
        ),
        ImagesColumn(),
        ContainersColumn(),
        SelectorColumn(),
        TextColumn(
            id="strategy",
            label=gettext_lazy("Strategy"),
            priority=4,
            get=lambda item: item.strategy,
        ),
        OwnerColumn(),
        AgeColumn(
            id="changed",
            label=gettext_lazy("Last rollout"),
            priority=4,
            since=lambda item: item.changed,
        ),
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
    actions = (Scale(), Restart(), SetImage(), RollBackDeployment(), Pause(), Resume(), Delete())

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        item: Deployment = entry.projection
        return [
            status_fact(item.status),
            ready_fact(item.ready, item.desired),
            pods_fact(),
            owner_fact(item.owner),
        ]
