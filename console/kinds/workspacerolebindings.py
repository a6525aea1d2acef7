"""Who has which role in a workspace."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import WORKSPACE_ROLE_BINDINGS
from console.kube.projections.roles import Binding
from console.kube.store import Entry
from console.ui.actions import Delete
from console.ui.columns import AgeColumn, ListColumn, NameColumn, TextColumn
from console.ui.filters import FieldFilter, LabelFilter, SearchFilter
from console.ui.kind import Fact, Nav, ResourceKind, Scope
from console.ui.registry import register
from console.ui.text import visible


@register
class WorkspaceRoleBindingKind(ResourceKind):
    gvr, scope, nav = WORKSPACE_ROLE_BINDINGS, Scope.CLUSTER, Nav("tenancy", 40)
    projection = Binding
    title = gettext_lazy("Workspace role bindings")
    singular = gettext_lazy("workspace role binding")
    nouns = gettext_lazy("workspace role bindings")
    columns = (
        NameColumn(),
        TextColumn(
            id="role", label=gettext_lazy("Role"), priority=1, get=lambda binding: binding.role
        ),
        TextColumn(
            id="workspace",
            label=gettext_lazy("Workspace"),
            priority=2,
            get=lambda binding: binding.workspace,
        ),
        ListColumn(
            id="users",
            label=gettext_lazy("Users"),
            priority=2,
            get=lambda binding: binding.users,
            most=2,
        ),
        ListColumn(
            id="groups",
            label=gettext_lazy("Groups"),
            priority=2,
            get=lambda binding: binding.groups,
            most=2,
        ),
        ListColumn(
            id="service_accounts",
            label=gettext_lazy("Service accounts"),
            priority=3,
            get=lambda binding: binding.service_accounts,
        ),
        AgeColumn(priority=1),
    )
    filters = (
        SearchFilter(
            covers=gettext_lazy("Name, label, role or subject"),
            texts=lambda binding: (binding.role, *binding.subjects),
        ),
        LabelFilter(),
        FieldFilter(param="role", label=gettext_lazy("Role"), get=lambda binding: (binding.role,)),
        FieldFilter(
            param="subject", label=gettext_lazy("Subject"), get=lambda binding: binding.subjects
        ),
        FieldFilter(
            param="workspace",
            label=gettext_lazy("Workspace"),
            get=lambda binding: (binding.workspace,),
        ),
    )
    actions = (Delete(),)

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        binding: Binding = entry.projection
        return [
            (_("Role"), visible(binding.role) or _("none")),
            (_("Lose it"), visible(", ".join(binding.subjects)) or _("nobody")),
        ]
