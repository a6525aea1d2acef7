"""The Deployment kind. Columns as in `kubectl get deployments -o wide` and in KubeSphere."""

from django.utils.translation import gettext_lazy

from console.actions.workloads.autoscaling import Autoscale
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
from console.actions.workloads.rollbacks import RollBackDeployment
from console.actions.workloads.rollouts import Pause, Restart, Resume
from console.actions.workloads.scaling import Scale
from console.actions.workloads.strategies import EditDeploymentStrategy
from console.actions.workloads.volumes import EditVolumes
from console.kube.gvr import DEPLOYMENTS, REPLICA_SETS
from console.kube.projections.apps import Deployment
from console.ui.core.container_actions import ShowLogs
from console.ui.core.deleting import DeleteOwner
from console.ui.core.kind import Nav, Scope
from console.ui.core.registry import register
from console.ui.lists.columns import AgeColumn, OwnerColumn, StatusColumn, TextColumn


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
        StatusColumn(),
        READY,
        UPDATED,
        AVAILABLE,
        *TEMPLATE,
        TextColumn(id="strategy", label=gettext_lazy("Strategy"), priority=4),
        OwnerColumn(),
        AgeColumn(id="changed", label=gettext_lazy("Last rollout"), priority=4),
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
