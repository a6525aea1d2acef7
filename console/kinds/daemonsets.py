"""The DaemonSet kind. Columns as in `kubectl get daemonsets -o wide`."""

from django.utils.translation import gettext_lazy

from console.actions import workloads
from console.kube.gvr import CONTROLLER_REVISIONS, DAEMON_SETS, PODS
from console.kube.projections.apps import DaemonSet
from console.ui import lists
from console.ui.core.container_actions import ShowLogs
from console.ui.core.deleting import DeleteOwner
from console.ui.core.kind import Nav, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.workloads import workload
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.wizards import examples
from console.wizards.workloads import DAEMON_SET


@register
@kind_panels(last=(DescriptionPanel(describe=workload, place="right"),))
class DaemonSetKind(workloads.WorkloadKind):
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
    example = {"spec": workloads.OF_PODS}
    wizard = DAEMON_SET
    examples = examples.DAEMON_SETS
    columns = (
        lists.StatusColumn(),
        workloads.READY,
        lists.NumberColumn(id="current", label=gettext_lazy("Current"), priority=4),
        workloads.UPDATED,
        workloads.AVAILABLE,
        lists.TextColumn(id="nodes", label=gettext_lazy("Node selector"), priority=3),
        *workloads.TEMPLATE,
        lists.OwnerColumn(),
    )
    actions = (
        ShowLogs(),
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
