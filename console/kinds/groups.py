"""The Group kind: departments of a workspace."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import GROUPS
from console.kube.projections.tenancy import Group
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, after_deletion_fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register


@register
class GroupKind(ResourceKind):
    gvr, scope, nav = GROUPS, Scope.CLUSTER, Nav("tenancy", 50)
    projection = Group
    title = gettext_lazy("Departments")
    singular = gettext_lazy("department")
    nouns = gettext_lazy("departments")
    columns = (
        lists.TextColumn(id="title", label=gettext_lazy("Alias"), priority=1),
        lists.TextColumn(id="workspace", label=gettext_lazy("Workspace"), priority=2),
        lists.TextColumn(id="parent", label=gettext_lazy("Parent department"), priority=2),
    )
    search = lists.SearchFilter(texts=lambda group: (group.title, group.workspace))
    filters = (
        lists.FieldFilter(param="workspace", label=gettext_lazy("Workspace")),
        lists.FieldFilter(param="parent", label=gettext_lazy("Parent department")),
    )
    actions = (Delete(),)

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        group: Group = entry.projection
        return [
            text_fact(_("Alias"), group.title),
            text_fact(_("Workspace"), group.workspace),
            after_deletion_fact(
                _("subdepartments and the roles granted through the department are also deleted")
            ),
        ]
