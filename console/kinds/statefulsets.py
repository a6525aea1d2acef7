"""The StatefulSet kind. Columns as in `kubectl get statefulsets -o wide` and in KubeSphere."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.workloads.autoscaling import Autoscale
from console.actions.workloads.base import (
    OF_PODS,
    READY,
    SPEC_NAMES,
    TEMPLATE,
    UPDATED,
    WorkloadKind,
)
from console.actions.workloads.environment import EditEnvironment
from console.actions.workloads.images import SetImage
from console.actions.workloads.probes import EditProbes
from console.actions.workloads.resources import SetResources
from console.actions.workloads.rollbacks import RollBackSet
from console.actions.workloads.rollouts import Restart
from console.actions.workloads.scaling import Scale
from console.actions.workloads.strategies import EditStatefulSetStrategy
from console.actions.workloads.volumes import EditVolumes
from console.kube.gvr import CONTROLLER_REVISIONS, PODS, SERVICES, STATEFUL_SETS, Key
from console.kube.projections.apps import StatefulSet
from console.kube.store import Entry
from console.ui.core.action_texts import Fact, owner_fact, pods_fact, ready_fact, status_fact
from console.ui.core.container_actions import ShowLogs
from console.ui.core.deleting import DeleteOwner
from console.ui.core.kind import Nav, Reference, Scope
from console.ui.core.registry import register
from console.ui.lists.columns import OwnerColumn, StatusColumn, TextColumn


@register
class StatefulSetKind(WorkloadKind):
    gvr, scope, nav = STATEFUL_SETS, Scope.NAMESPACED, Nav("workloads", 30, "workloads")
    short_names = ("sts",)
    owns = (PODS,)
    created_by_operators = True
    checked_for_problems = True
    revisions = CONTROLLER_REVISIONS
    referenced_types = (*SPEC_NAMES, SERVICES)
    projection = StatefulSet
    title = gettext_lazy("StatefulSets")
    singular = gettext_lazy("StatefulSet")
    nouns = gettext_lazy("StatefulSets")
    example = {"spec": {"serviceName": "example", "replicas": 1, **OF_PODS}}
    columns = (
        StatusColumn(),
        READY,
        UPDATED,
        TextColumn(id="service", label=gettext_lazy("Service"), priority=3),
        *TEMPLATE,
        OwnerColumn(),
    )
    actions = (
        ShowLogs(),
        Scale(),
        Autoscale(),
        Restart(),
        SetImage(),
        SetResources(),
        EditEnvironment(),
        EditProbes(),
        EditVolumes(),
        EditStatefulSetStrategy(),
        RollBackSet(),
        DeleteOwner(),
    )

    def references(self, item: StatefulSet) -> Iterable[Reference]:
        if item.service:
            yield Reference(SERVICES, Key(item.namespace, item.service), "dns")

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        item: StatefulSet = entry.projection
        return [
            status_fact(item.status),
            ready_fact(item.ready, item.desired),
            pods_fact(),
            (_("Volumes"), _("are kept, unless persistentVolumeClaimRetentionPolicy is Delete")),
            owner_fact(item.owner),
        ]
