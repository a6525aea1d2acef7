"""The RoleBinding kind."""

from django.utils.translation import gettext_lazy

from console.actions.role_bindings import SUBJECTS, NativeBindingKind, binding_to
from console.kube.gvr import ROLE_BINDINGS, ROLES
from console.kube.projections.roles import Binding
from console.ui.core.kind import Nav, Scope
from console.ui.core.registry import register
from console.ui.lists.columns import LinkColumn, LinkTarget


def role_of(binding: Binding) -> LinkTarget | None:
    if not binding.role:
        return None
    if binding.role_kind == "ClusterRole":
        return LinkTarget("clusterroles", "", binding.role)
    return LinkTarget("roles", binding.namespace, binding.role)


@register
class RoleBindingKind(NativeBindingKind):
    gvr, scope, nav = ROLE_BINDINGS, Scope.NAMESPACED, Nav("access", 70, "access")
    title = gettext_lazy("Role bindings")
    singular = gettext_lazy("role binding")
    nouns = gettext_lazy("role bindings")
    referenced_types = (ROLES, *NativeBindingKind.referenced_types)
    example = binding_to("Role")
    columns = (
        LinkColumn(
            id="role",
            label=gettext_lazy("Role"),
            priority=1,
            get=lambda binding: f"{binding.role_kind}/{binding.role}",
            to=role_of,
            leads_to=("clusterroles", "roles"),
        ),
        *SUBJECTS,
    )
