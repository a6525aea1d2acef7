"""The GlobalRoleBinding kind: assignments of platform roles."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import GLOBAL_ROLE_BINDINGS
from console.kube.projections.iam import GlobalRoleBinding
from console.kube.store import Entry
from console.ui.core.action_texts import Fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.lists.columns import LinkColumn, ListColumn
from console.ui.lists.filters import FieldFilter, SearchFilter


def subject_names_of_kind(binding: GlobalRoleBinding, kind: str) -> tuple[str, ...]:
    return tuple(subject.name for subject in binding.subjects if subject.kind == kind)


def subject_names(binding: GlobalRoleBinding) -> tuple[str, ...]:
    return tuple(subject.name for subject in binding.subjects)


@register
class GlobalRoleBindingKind(ResourceKind):
    gvr, scope, nav = GLOBAL_ROLE_BINDINGS, Scope.CLUSTER, Nav("access", 30)
    projection = GlobalRoleBinding
    title = gettext_lazy("Platform role bindings")
    singular = gettext_lazy("platform role binding")
    nouns = gettext_lazy("platform role bindings")
    columns = (
        LinkColumn(
            id="role",
            label=gettext_lazy("Role"),
            priority=1,
            leads_to=("globalroles.iam.kubesphere.io",),
        ),
        ListColumn(
            id="users",
            label=gettext_lazy("Users"),
            priority=2,
            get=lambda binding: subject_names_of_kind(binding, "User"),
            most=2,
        ),
        ListColumn(
            id="groups",
            label=gettext_lazy("Groups"),
            priority=2,
            get=lambda binding: subject_names_of_kind(binding, "Group"),
            most=2,
        ),
    )
    search = SearchFilter(
        covers=gettext_lazy("Name, label, role or subject"),
        texts=lambda binding: (binding.role, *subject_names(binding)),
    )
    filters = (
        FieldFilter(param="role", label=gettext_lazy("Role")),
        FieldFilter(param="subject", label=gettext_lazy("Subject"), get=subject_names),
    )
    actions = (Delete(),)

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        binding: GlobalRoleBinding = entry.projection
        return [
            text_fact(_("Role"), binding.role),
            text_fact(_("Subjects that lose the role"), subject_names(binding)),
        ]
