"""Roles of workspaces."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import WORKSPACE_ROLES
from console.kube.projections.roles import Role
from console.kube.store import Entry
from console.ui.actions import Delete
from console.ui.columns import AgeColumn, BoolColumn, NameColumn, NumberColumn, TextColumn
from console.ui.filters import FieldFilter, LabelFilter, SearchFilter
from console.ui.kind import Fact, Nav, ResourceKind, Scope
from console.ui.registry import register
from console.ui.text import visible


@register
class WorkspaceRoleKind(ResourceKind):
    gvr, scope, nav = WORKSPACE_ROLES, Scope.CLUSTER, Nav("tenancy", 30)
    projection = Role
    title = gettext_lazy("Workspace roles")
    singular = gettext_lazy("workspace role")
    nouns = gettext_lazy("workspace roles")
    columns = (
        NameColumn(),
        TextColumn(
            id="workspace",
            label=gettext_lazy("Workspace"),
            priority=2,
            get=lambda role: role.workspace,
        ),
        TextColumn(
            id="description",
            label=gettext_lazy("Description"),
            priority=2,
            get=lambda role: role.description,
        ),
        NumberColumn(
            id="rules", label=gettext_lazy("Rules"), priority=3, get=lambda role: role.rules
        ),
        BoolColumn(
            id="template",
            label=gettext_lazy("Template"),
            priority=3,
            get=lambda role: role.template,
        ),
        AgeColumn(priority=1),
    )
    filters = (
        SearchFilter(
            covers=gettext_lazy("Name, label or description"),
            texts=lambda role: (role.alias, role.description, role.workspace),
        ),
        LabelFilter(),
        FieldFilter(
            param="workspace",
            label=gettext_lazy("Workspace"),
            get=lambda role: (role.workspace,),
        ),
    )
    actions = (Delete(),)

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        role: Role = entry.projection
        afterwards = _("its bindings stay and grant nothing until there is such a role again")
        return [
            (_("Workspace"), visible(role.workspace) or _("none")),
            (_("Afterwards"), afterwards),
        ]
