"""The WorkspaceRoleBinding kind."""

from django.utils.translation import gettext_lazy

from console.kube.gvr import WORKSPACE_ROLE_BINDINGS
from console.ui.bindings import ROLE, SUBJECT, SUBJECTS, BindingKind
from console.ui.columns import AgeColumn, NameColumn, TextColumn
from console.ui.filters import FieldFilter
from console.ui.kind import Nav, Scope
from console.ui.registry import register


@register
class WorkspaceRoleBindingKind(BindingKind):
    gvr, scope, nav = WORKSPACE_ROLE_BINDINGS, Scope.CLUSTER, Nav("tenancy", 40)
    title = gettext_lazy("Workspace role bindings")
    singular = gettext_lazy("workspace role binding")
    nouns = gettext_lazy("workspace role bindings")
    columns = (
        NameColumn(),
        TextColumn(id="role", label=gettext_lazy("Role"), priority=1),
        TextColumn(id="workspace", label=gettext_lazy("Workspace"), priority=2),
        *SUBJECTS,
        AgeColumn(priority=1),
    )
    filters = (
        ROLE,
        SUBJECT,
        FieldFilter(param="workspace", label=gettext_lazy("Workspace")),
    )
