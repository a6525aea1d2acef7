"""The RoleBase kind: base roles that are copied into new workspaces and projects."""

from django.utils.translation import gettext_lazy

from console.kube.gvr import ROLE_BASES
from console.kube.projections.roles import RoleBase
from console.ui import lists
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.roles import role_base
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels


@register
@kind_panels(DescriptionPanel(describe=role_base))
class RoleBaseKind(ResourceKind):
    gvr, scope, nav = ROLE_BASES, Scope.CLUSTER, Nav("tenancy", 70)
    projection = RoleBase
    title = gettext_lazy("RoleBases")
    singular = gettext_lazy("RoleBase")
    nouns = gettext_lazy("RoleBases")
    columns = (
        lists.TextColumn(id="role", label=gettext_lazy("Role"), priority=1),
        lists.TextColumn(id="role_kind", label=gettext_lazy("Kind"), priority=2),
        lists.BoolColumn(id="for_projects", label=gettext_lazy("For projects"), priority=3),
        lists.NumberColumn(id="rules", label=gettext_lazy("Rules"), priority=3),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name or role"), texts=lambda base: (base.role,)
    )
    filters = (lists.FieldFilter(param="role_kind", label=gettext_lazy("Kind")),)
