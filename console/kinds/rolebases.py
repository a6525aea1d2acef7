"""The RoleBase kind: base roles that are copied into new workspaces and projects."""

from django.utils.translation import gettext_lazy

from console.kube.gvr import ROLE_BASES
from console.kube.projections.roles import RoleBase
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.lists.columns import BoolColumn, NumberColumn, TextColumn
from console.ui.lists.filters import FieldFilter, SearchFilter


@register
class RoleBaseKind(ResourceKind):
    gvr, scope, nav = ROLE_BASES, Scope.CLUSTER, Nav("tenancy", 70)
    projection = RoleBase
    title = gettext_lazy("RoleBases")
    singular = gettext_lazy("RoleBase")
    nouns = gettext_lazy("RoleBases")
    columns = (
        TextColumn(id="role", label=gettext_lazy("Role"), priority=1),
        TextColumn(id="role_kind", label=gettext_lazy("Kind"), priority=2),
        BoolColumn(id="for_projects", label=gettext_lazy("For projects"), priority=3),
        NumberColumn(id="rules", label=gettext_lazy("Rules"), priority=3),
    )
    search = SearchFilter(covers=gettext_lazy("Name or role"), texts=lambda base: (base.role,))
    filters = (FieldFilter(param="role_kind", label=gettext_lazy("Kind")),)
