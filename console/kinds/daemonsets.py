"""The DaemonSet kind. Columns as in `kubectl get daemonsets -o wide`."""

from django.utils.translation import gettext_lazy

from console.kube.gvr import CONTROLLER_REVISIONS, DAEMON_SETS, PODS
from console.kube.projections.daemonset import DaemonSet
from console.ui.columns import (
    AgeColumn,
    NameColumn,
    NamespaceColumn,
    NumberColumn,
    OwnerColumn,
    StatusColumn,
    TextColumn,
)
from console.ui.deleting import DeleteOwner
from console.ui.kind import Nav, Scope
from console.ui.logs import ShowLogs
from console.ui.registry import register
from console.ui.workloads.environment import EditEnvironment
from console.ui.workloads.images import SetImage
from console.ui.workloads.kind import AVAILABLE, OF_PODS, READY, TEMPLATE, UPDATED, WorkloadKind
from console.ui.workloads.probes import EditProbes
from console.ui.workloads.resources import SetResources
from console.ui.workloads.rollbacks import RollBackSet
from console.ui.workloads.rollouts import Restart
from console.ui.workloads.strategies import EditDaemonSetStrategy
from console.ui.workloads.volumes import EditVolumes


@register
class DaemonSetKind(WorkloadKind):
    gvr, scope, nav = DAEMON_SETS, Scope.NAMESPACED, Nav("workloads", 40, "workloads")
    short_names = ("ds",)
    owns = (PODS,)
    created_by_operators = True
    checked_for_problems = True
    revisions = CONTROLLER_REVISIONS
    projection = DaemonSet
    title = gettext_lazy("DaemonSets")
    singular = gettext_lazy("DaemonSet")
    nouns = gettext_lazy("DaemonSets")
    example = {"spec": OF_PODS}
    columns = (
        NameColumn(),
        NamespaceColumn(),
        StatusColumn(),
        READY,
        NumberColumn(id="current", label=gettext_lazy("Current"), priority=4),
        UPDATED,
        AVAILABLE,
        TextColumn(id="nodes", label=gettext_lazy("Node selector"), priority=3),
        *TEMPLATE,
        OwnerColumn(),
        AgeColumn(priority=1),
    )
    actions = (
        ShowLogs(),
        Restart(),
        SetImage(),
        SetResources(),
        EditEnvironment(),
        EditProbes(),
        EditVolumes(),
        EditDaemonSetStrategy(),
        RollBackSet(),
        DeleteOwner(),
    )
