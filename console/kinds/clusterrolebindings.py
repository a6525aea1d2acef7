"""The ClusterRoleBinding kind."""

from dataclasses import replace

from django.utils.translation import gettext_lazy

from console.actions.role_bindings import ROLE, SUBJECT, SUBJECTS, NativeBindingKind, binding_to
from console.kube.gvr import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES
from console.kube.projections.roles import Binding
from console.ui import lists
from console.ui.core.kind import Nav, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.roles import binding
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels


def role_of(binding: Binding) -> lists.LinkTarget | None:
    return lists.LinkTarget("clusterroles", "", binding.role) if binding.role else None


@register
@kind_panels(DescriptionPanel(describe=binding))
class ClusterRoleBindingKind(NativeBindingKind):
    gvr, scope, nav = CLUSTER_ROLE_BINDINGS, Scope.CLUSTER, Nav("access", 50, "access")
    title = gettext_lazy("Cluster role bindings")
    singular = gettext_lazy("cluster role binding")
    nouns = gettext_lazy("cluster role bindings")
    example = binding_to("ClusterRole")
    columns = (
        lists.LinkColumn(
            id="role",
            label=gettext_lazy("Role"),
            priority=1,
            get=lambda binding: f"{binding.role_kind}/{binding.role}",
            to=role_of,
            leads_to=("clusterroles",),
        ),
        *SUBJECTS,
    )
    filters = (
        replace(ROLE, names=CLUSTER_ROLES),
        SUBJECT,
    )
