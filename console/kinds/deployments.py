"""The Deployment kind. Columns as in `kubectl get deployments -o wide` and in KubeSphere."""

from django.utils.translation import gettext_lazy

from console.kube.gvr import DEPLOYMENTS, REPLICA_SETS
from console.kube.projections.deployment import Deployment
from console.ui.columns import (
    AgeColumn,
    NameColumn,
    NamespaceColumn,
    OwnerColumn,
    StatusColumn,
    TextColumn,
)
from console.ui.deleting import DeleteOwner
from console.ui.kind import Nav, Scope
from console.ui.logs import ShowLogs
from console.ui.registry import register
from console.ui.workloads.autoscaling import Autoscale
from console.ui.workloads.environment import EditEnvironment
from console.ui.workloads.images import SetImage
from console.ui.workloads.kind import AVAILABLE, OF_PODS, READY, TEMPLATE, UPDATED, WorkloadKind
from console.ui.workloads.probes import EditProbes
from console.ui.workloads.resources import SetResources
from console.ui.workloads.rollbacks import RollBackDeployment
from console.ui.workloads.rollouts import Pause, Restart, Resume
from console.ui.workloads.scaling import Scale
from console.ui.workloads.strategies import EditDeploymentStrategy
from console.ui.workloads.volumes import EditVolumes


@register
class DeploymentKind(WorkloadKind):
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
    example = {"spec": {"replicas": 1, **OF_PODS}}
    columns = (
        NameColumn(),
        NamespaceColumn(),
        StatusColumn(),
        READY,
        UPDATED,
        AVAILABLE,
        *TEMPLATE,
        TextColumn(id="strategy", label=gettext_lazy("Strategy"), priority=4),
        OwnerColumn(),
        AgeColumn(id="changed", label=gettext_lazy("Last rollout"), priority=4),
        AgeColumn(priority=1),
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
        EditDeploymentStrategy(),
        RollBackDeployment(),
        Pause(),
        Resume(),
        DeleteOwner(),
    )
