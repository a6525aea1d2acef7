"""The Deployment kind. Columns as in `kubectl get deployments -o wide` and in KubeSphere."""

from django.utils.translation import gettext_lazy

from console.actions import workloads
from console.kube.gvr import DEPLOYMENTS, REPLICA_SETS
from console.kube.projections.apps import Deployment
from console.ui import lists
from console.ui.core.container_actions import ShowLogs
from console.ui.core.deleting import DeleteOwner
from console.ui.core.kind import Nav, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.workloads import workload
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.wizards import examples
from console.wizards.quick import DEPLOYMENT


@register
@kind_panels(last=(DescriptionPanel(describe=workload, place="right"),))
class DeploymentKind(workloads.WorkloadKind):
    gvr, scope, nav = DEPLOYMENTS, Scope.NAMESPACED, Nav("workloads", 20, "workloads")
    short_names = ("deploy",)
    owns = (REPLICA_SETS,)
    created_by_operators = True
    checked_for_problems = True
    revisions = REPLICA_SETS
    projection = Deployment
    title = gettext_lazy("Deployments")
    singular = gettext_lazy("deployment")
    nouns = gettext_lazy("deployments")
    example = {"spec": {"replicas": 1, **workloads.OF_PODS}}
    wizard = DEPLOYMENT
    examples = examples.DEPLOYMENTS
    columns = (
        lists.StatusColumn(),
        workloads.READY,
        workloads.UPDATED,
        workloads.AVAILABLE,
        *workloads.TEMPLATE,
        lists.TextColumn(id="strategy", label=gettext_lazy("Strategy"), priority=4),
        lists.OwnerColumn(),
        lists.AgeColumn(id="changed", label=gettext_lazy("Last rollout"), priority=4),
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
        workloads.RollBackDeployment(),
        workloads.Pause(),
        workloads.Resume(),
        DeleteOwner(),
    )
