"""The GroupBinding kind: members of a department."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import GROUP_BINDINGS
from console.kube.projections.tenancy import GroupBinding
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.core.text import escape_invisible


@register
class GroupBindingKind(ResourceKind):
    gvr, scope, nav = GROUP_BINDINGS, Scope.CLUSTER, Nav("tenancy", 60)
    projection = GroupBinding
    title = gettext_lazy("Department members")
    singular = gettext_lazy("department membership")
    nouns = gettext_lazy("department memberships")
    columns = (
        lists.LinkColumn(
            id="group",
            label=gettext_lazy("Department"),
            priority=1,
            leads_to=("groups.iam.kubesphere.io",),
        ),
        lists.ListColumn(id="users", label=gettext_lazy("Users"), priority=1, most=3),
        lists.TextColumn(id="workspace", label=gettext_lazy("Workspace"), priority=2),
    )
    search = lists.SearchFilter(texts=lambda binding: (binding.group, *binding.users))
    filters = (
        lists.FieldFilter(param="group", label=gettext_lazy("Department")),
        lists.FieldFilter(
            param="user", label=gettext_lazy("User"), get=lambda binding: binding.users
        ),
        lists.FieldFilter(param="workspace", label=gettext_lazy("Workspace")),
    )
    actions = (Delete(),)

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        binding: GroupBinding = entry.projection
        users = escape_invisible(", ".join(binding.users)) or _("none")
        return [
            text_fact(_("Department"), binding.group),
            (_("Users who leave the department"), users),
        ]
