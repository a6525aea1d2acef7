"""The RoleBinding kind."""

from django.utils.translation import gettext_lazy

from console.actions.role_bindings import SUBJECTS, NativeBindingKind, binding_to
from console.kube.gvr import ROLE_BINDINGS, ROLES
from console.kube.projections.roles import Binding
from console.ui import lists
from console.ui.core.kind import Nav, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.roles import binding
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels


def role_of(binding: Binding) -> lists.LinkTarget | None:
    if not binding.role:
        return None
    if binding.role_kind == "ClusterRole":
        return lists.LinkTarget("clusterroles", "", binding.role)
    return lists.LinkTarget("roles", binding.namespace, binding.role)


@register
@kind_panels(DescriptionPanel(describe=binding))
class RoleBindingKind(NativeBindingKind):
    gvr, scope, nav = ROLE_BINDINGS, Scope.NAMESPACED, Nav("access", 70, "access")
    title = gettext_lazy("Role bindings")
    singular = gettext_lazy("role binding")
    nouns = gettext_lazy("role bindings")
    referenced_types = (ROLES, *NativeBindingKind.referenced_types)
    example = binding_to("Role")
    columns = (
        lists.LinkColumn(
            id="role",
            label=gettext_lazy("Role"),
            priority=1,
            get=lambda binding: f"{binding.role_kind}/{binding.role}",
            to=role_of,
            leads_to=("clusterroles", "roles"),
        ),
        *SUBJECTS,
    )
