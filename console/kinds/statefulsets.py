"""The StatefulSet kind. Columns as in `kubectl get statefulsets -o wide` and in KubeSphere."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions import workloads
from console.kube.gvr import CONTROLLER_REVISIONS, PODS, SERVICES, STATEFUL_SETS, Key
from console.kube.projections.apps import StatefulSet
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, owner_fact, pods_fact, ready_fact, status_fact
from console.ui.core.container_actions import ShowLogs
from console.ui.core.deleting import DeleteOwner
from console.ui.core.kind import Nav, Reference, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.workloads import workload
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.wizards import examples
from console.wizards.workloads import STATEFUL_SET


@register
@kind_panels(last=(DescriptionPanel(describe=workload, place="right"),))
class StatefulSetKind(workloads.WorkloadKind):
    gvr, scope, nav = STATEFUL_SETS, Scope.NAMESPACED, Nav("workloads", 30, "workloads")
    short_names = ("sts",)
    owns = (PODS,)
    created_by_operators = True
    checked_for_problems = True
    revisions = CONTROLLER_REVISIONS
    referenced_types = (*workloads.SPEC_NAMES, SERVICES)
    projection = StatefulSet
    title = gettext_lazy("StatefulSets")
    singular = gettext_lazy("StatefulSet")
    nouns = gettext_lazy("StatefulSets")
    example = {"spec": {"serviceName": "example", "replicas": 1, **workloads.OF_PODS}}
    wizard = STATEFUL_SET
    examples = examples.STATEFUL_SETS
    columns = (
        lists.StatusColumn(),
        workloads.READY,
        workloads.UPDATED,
        lists.TextColumn(id="service", label=gettext_lazy("Service"), priority=3),
        *workloads.TEMPLATE,
        lists.OwnerColumn(),
    )
    actions = (
        ShowLogs(),
        workloads.Scale(),
        workloads.Autoscale(),
        workloads.Restart(),
        workloads.SetImage(),
        workloads.SetResources(),
        workloads.EditEnvironment(),
        workloads.EditProbes(),
        workloads.EditVolumes(),
        workloads.EditStrategy(),
        workloads.RollBackSet(),
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
