"""What the kinds of role bindings have in common."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.projections.roles import Binding
from console.kube.store import Entry
from console.ui.actions import Delete
from console.ui.columns import ListColumn
from console.ui.filters import FieldFilter, LabelFilter, SearchFilter
from console.ui.kind import Fact, ResourceKind
from console.ui.text import visible

#: Who has the role.
SUBJECTS = (
    ListColumn(id="users", label=gettext_lazy("Users"), priority=2, most=2),
    ListColumn(id="groups", label=gettext_lazy("Groups"), priority=2, most=2),
    ListColumn(id="service_accounts", label=gettext_lazy("Service accounts"), priority=3),
)
SEARCH = SearchFilter(
    covers=gettext_lazy("Name, label, role or subject"),
    texts=lambda binding: (binding.role, *binding.subjects),
)
FILTERS = (
    LabelFilter(),
    FieldFilter(param="role", label=gettext_lazy("Role"), get=lambda binding: (binding.role,)),
    FieldFilter(
        param="subject", label=gettext_lazy("Subject"), get=lambda binding: binding.subjects
    ),
)


def binding_to(kind: str) -> Mapping[str, Any]:
    """An example that binds a role of this kind."""
    group = "rbac.authorization.k8s.io"
    return {
        "roleRef": {"apiGroup": group, "kind": kind, "name": "example"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": "example"}],
    }


class BindingKind(ResourceKind):
    projection = Binding
    actions = (Delete(),)

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        binding: Binding = entry.projection
        return [
            (_("Role"), visible(binding.role) or _("none")),
            (_("Lose it"), visible(", ".join(binding.subjects)) or _("nobody")),
        ]
