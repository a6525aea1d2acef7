"""The Role kind."""

from django.utils.translation import gettext_lazy

from access.roles.deleting import DeleteRole
from access.roles.lookup import new_url
from console.actions.role_bindings import DESCRIBED, READS_PODS
from console.kube.gvr import ROLES
from console.kube.projections.roles import Role
from console.ui import lists
from console.ui.core.clusters import HOST
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.roles import role
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from rbac.levels import Level, RoleScope


@register
@kind_panels(DescriptionPanel(describe=role))
class RoleKind(ResourceKind):
    gvr, scope, nav = ROLES, Scope.NAMESPACED, Nav("access", 60, "access")
    projection = Role
    title = gettext_lazy("Roles")
    singular = gettext_lazy("role")
    nouns = gettext_lazy("roles")
    example = READS_PODS
    columns = (
        lists.NumberColumn(id="rules", label=gettext_lazy("Rules"), priority=2),
        lists.TextColumn(id="description", label=gettext_lazy("Description"), priority=3),
        lists.BoolColumn(id="template", label=gettext_lazy("Template"), priority=4),
    )
    search = DESCRIBED
    actions = (DeleteRole(level=Level.PROJECT),)

    def create_url(self, cluster: str, namespace: str) -> str:
        """Return the URL of the role form for a project of the host cluster, otherwise of the YAML
        editor.
        """
        if cluster != HOST or not namespace:
            return super().create_url(cluster, namespace)
        return new_url(RoleScope(Level.PROJECT, namespace=namespace))
