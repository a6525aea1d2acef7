"""The WorkspaceRoleBinding kind."""

from django.utils.translation import gettext_lazy

from console.actions.role_bindings import ROLE, SUBJECT, SUBJECTS, BindingKind
from console.kube.gvr import WORKSPACE_ROLE_BINDINGS
from console.ui import lists
from console.ui.core.kind import Nav, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.roles import binding
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels


@register
@kind_panels(DescriptionPanel(describe=binding))
class WorkspaceRoleBindingKind(BindingKind):
    gvr, scope, nav = WORKSPACE_ROLE_BINDINGS, Scope.CLUSTER, Nav("tenancy", 40)
    title = gettext_lazy("Workspace role bindings")
    singular = gettext_lazy("workspace role binding")
    nouns = gettext_lazy("workspace role bindings")
    columns = (
        lists.TextColumn(id="role", label=gettext_lazy("Role"), priority=1),
        lists.TextColumn(id="workspace", label=gettext_lazy("Workspace"), priority=2),
        *SUBJECTS,
    )
    filters = (
        ROLE,
        SUBJECT,
        lists.FieldFilter(param="workspace", label=gettext_lazy("Workspace")),
    )
