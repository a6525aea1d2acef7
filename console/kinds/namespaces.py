"""The Namespace kind, displayed as projects. Columns as in kubectl and in KubeSphere."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.contents import DeleteNamespace
from console.kube.gvr import NAMESPACES, WORKSPACES, Key
from console.kube.projections.namespace import Namespace
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, status_fact, text_fact
from console.ui.core.kind import Nav, ResourceKind, Scope, segment_of
from console.ui.core.registry import register
from console.ui.core.text import escape_invisible
from workspaces.pages.project_actions import AssignWorkspace, EditProject, EditQuota

WORKSPACE_SEGMENT = segment_of(WORKSPACES)


@register
class NamespaceKind(ResourceKind):
    gvr, scope, nav = NAMESPACES, Scope.CLUSTER, Nav("cluster", 20, "projects")
    short_names = ("ns",)
    projection = Namespace
    can_be_copied = False
    addressable_by_kind_name = True
    title = gettext_lazy("Projects")
    singular = gettext_lazy("project")
    nouns = gettext_lazy("projects")
    example: ClassVar[Mapping[str, Any]] = {}
    severity_words = {
        Severity.OK: gettext_lazy("Active"),
        Severity.WARN: gettext_lazy("Deletion blocked"),
    }
    columns = (
        lists.StatusColumn(),
        lists.TextColumn(id="alias", label=gettext_lazy("Alias"), priority=3),
        lists.LinkColumn(
            id="workspace",
            label=gettext_lazy("Workspace"),
            priority=2,
            leads_to=(WORKSPACE_SEGMENT,),
        ),
        lists.TextColumn(id="creator", label=gettext_lazy("Creator"), priority=3),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name, label, workspace or creator"),
        texts=lambda item: (item.alias, item.workspace, item.creator),
    )
    filters = (
        lists.FieldFilter(param="workspace", label=gettext_lazy("Workspace")),
        lists.FieldFilter(param="creator", label=gettext_lazy("Creator")),
    )
    actions = (EditProject(), EditQuota(), AssignWorkspace(), DeleteNamespace())
    confirm_by_name = True

    def page_url(self, cluster: str, key: Key) -> str:
        return reverse("project_overview", args=(cluster, key.name))

    def deleted_with(self, name: str) -> str:
        return _("Deleting project %(name)s also deletes everything in the project.") % {
            "name": escape_invisible(name)
        }

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        item: Namespace = entry.projection
        return [
            status_fact(item.status),
            text_fact(_("Workspace"), item.workspace),
        ]
