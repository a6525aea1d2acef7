"""The WorkspaceRole kind."""

from django.utils.translation import gettext_lazy

from access.roles.deleting import DeleteRole
from console.kube.gvr import WORKSPACE_ROLES
from console.kube.projections.roles import Role
from console.ui import lists
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.roles import role
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from rbac.levels import Level


@register
@kind_panels(DescriptionPanel(describe=role))
class WorkspaceRoleKind(ResourceKind):
    gvr, scope, nav = WORKSPACE_ROLES, Scope.CLUSTER, Nav("tenancy", 30)
    projection = Role
    title = gettext_lazy("Workspace roles")
    singular = gettext_lazy("workspace role")
    nouns = gettext_lazy("workspace roles")
    columns = (
        lists.TextColumn(id="workspace", label=gettext_lazy("Workspace"), priority=2),
        lists.TextColumn(id="description", label=gettext_lazy("Description"), priority=2),
        lists.NumberColumn(id="rules", label=gettext_lazy("Rules"), priority=3),
        lists.BoolColumn(id="template", label=gettext_lazy("Template"), priority=3),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name, label or description"),
        texts=lambda role: (role.alias, role.description, role.workspace),
    )
    filters = (lists.FieldFilter(param="workspace", label=gettext_lazy("Workspace")),)
    actions = (DeleteRole(level=Level.WORKSPACE),)
