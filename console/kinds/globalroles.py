"""The GlobalRole kind: platform roles."""

from django.utils.translation import gettext_lazy

from access.roles.deleting import DeleteRole
from access.roles.lookup import new_url
from console.kube.gvr import GLOBAL_ROLES
from console.kube.projections.roles import Role
from console.ui import lists
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.roles import role
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from rbac.builtin import PLATFORM_ROLES
from rbac.levels import Level, RoleScope


def origin(role: Role) -> str:
    if role.template:
        return "template"
    return "platform" if role.name in PLATFORM_ROLES else "own"


@register
@kind_panels(DescriptionPanel(describe=role))
class GlobalRoleKind(ResourceKind):
    gvr, scope, nav = GLOBAL_ROLES, Scope.CLUSTER, Nav("access", 20)
    projection = Role
    title = gettext_lazy("Platform roles")
    singular = gettext_lazy("platform role")
    nouns = gettext_lazy("platform roles")
    columns = (
        lists.TextColumn(id="description", label=gettext_lazy("Description"), priority=2),
        lists.NumberColumn(id="rules", label=gettext_lazy("Rules"), priority=2),
        lists.BoolColumn(id="template", label=gettext_lazy("Template"), priority=3),
        lists.TextColumn(id="creator", label=gettext_lazy("Creator"), priority=4),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name, label or description"),
        texts=lambda role: (role.alias, role.description, role.creator),
    )
    filters = (
        lists.ChoiceFilter(
            param="origin",
            label=gettext_lazy("Origin"),
            choices=(
                ("platform", gettext_lazy("Built-in platform role")),
                ("template", gettext_lazy("Template")),
                ("own", gettext_lazy("Custom")),
            ),
            get=origin,
        ),
    )
    actions = (DeleteRole(level=Level.GLOBAL),)

    def create_url(self, cluster: str, namespace: str) -> str:
        return new_url(RoleScope(Level.GLOBAL))
