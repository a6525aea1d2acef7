"""The GlobalRoleBinding kind: assignments of platform roles."""

from collections.abc import Iterable
from dataclasses import replace

from django.utils.translation import gettext_lazy

from console.actions.role_bindings import ROLE, SUBJECT, BindingKind
from console.kube.gvr import GLOBAL_ROLE_BINDINGS
from console.kube.projections.tenancy import GlobalRoleBinding
from console.ui import lists
from console.ui.core.kind import Nav, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.roles import binding
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels


def subject_names_of_kind(binding: GlobalRoleBinding, kind: str) -> tuple[str, ...]:
    return tuple(subject.name for subject in binding.subjects if subject.kind == kind)


@register
@kind_panels(DescriptionPanel(describe=binding))
class GlobalRoleBindingKind(BindingKind):
    gvr, scope, nav = GLOBAL_ROLE_BINDINGS, Scope.CLUSTER, Nav("access", 30)
    projection = GlobalRoleBinding
    title = gettext_lazy("Platform role bindings")
    singular = gettext_lazy("platform role binding")
    nouns = gettext_lazy("platform role bindings")
    columns = (
        lists.LinkColumn(
            id="role",
            label=gettext_lazy("Role"),
            priority=1,
            leads_to=("globalroles.iam.kubesphere.io",),
        ),
        lists.ListColumn(
            id="users",
            label=gettext_lazy("Users"),
            priority=2,
            get=lambda binding: subject_names_of_kind(binding, "User"),
            most=2,
        ),
        lists.ListColumn(
            id="groups",
            label=gettext_lazy("Groups"),
            priority=2,
            get=lambda binding: subject_names_of_kind(binding, "Group"),
            most=2,
        ),
    )
    search = lists.SearchFilter(
        covers=BindingKind.search.covers,
        texts=lambda binding: (binding.role, *(subject.name for subject in binding.subjects)),
    )
    filters = (
        ROLE,
        replace(SUBJECT, get=lambda binding: (subject.name for subject in binding.subjects)),
    )

    def subject_names(self, binding: GlobalRoleBinding) -> Iterable[str]:
        return (subject.name for subject in binding.subjects)
