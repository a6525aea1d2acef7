"""The DaemonSet kind. Columns as in `kubectl get daemonsets -o wide`."""

from django.utils.translation import gettext_lazy

from console.actions.workloads.base import (
    AVAILABLE,
    OF_PODS,
    READY,
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
from console.actions.workloads.strategies import EditDaemonSetStrategy
from console.actions.workloads.volumes import EditVolumes
from console.kube.gvr import CONTROLLER_REVISIONS, DAEMON_SETS, PODS
from console.kube.projections.apps import DaemonSet
from console.ui.core.container_actions import ShowLogs
from console.ui.core.deleting import DeleteOwner
from console.ui.core.kind import Nav, Scope
from console.ui.core.registry import register
from console.ui.lists.columns import NumberColumn, OwnerColumn, StatusColumn, TextColumn


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
        StatusColumn(),
        READY,
        NumberColumn(id="current", label=gettext_lazy("Current"), priority=4),
        UPDATED,
        AVAILABLE,
        TextColumn(id="nodes", label=gettext_lazy("Node selector"), priority=3),
        *TEMPLATE,
        OwnerColumn(),
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
