"""The WorkspaceRoleBinding kind."""

from django.utils.translation import gettext_lazy

from console.actions.role_bindings import ROLE, SUBJECT, SUBJECTS, BindingKind
from console.kube.gvr import WORKSPACE_ROLE_BINDINGS
from console.ui.core.kind import Nav, Scope
from console.ui.core.registry import register
from console.ui.lists.columns import TextColumn
from console.ui.lists.filters import FieldFilter


@register
class WorkspaceRoleBindingKind(BindingKind):
    gvr, scope, nav = WORKSPACE_ROLE_BINDINGS, Scope.CLUSTER, Nav("tenancy", 40)
    title = gettext_lazy("Workspace role bindings")
    singular = gettext_lazy("workspace role binding")
    nouns = gettext_lazy("workspace role bindings")
    columns = (
        TextColumn(id="role", label=gettext_lazy("Role"), priority=1),
        TextColumn(id="workspace", label=gettext_lazy("Workspace"), priority=2),
        *SUBJECTS,
    )
    filters = (
        ROLE,
        SUBJECT,
        FieldFilter(param="workspace", label=gettext_lazy("Workspace")),
    )
