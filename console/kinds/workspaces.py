"""The Workspace kind.

A controller creates each workspace from its template and recreates deleted ones. Deleting a
workspace therefore means deleting its template, and no action is offered here.
"""

from django.urls import reverse
from django.utils.translation import gettext_lazy

from console.kube.gvr import WORKSPACES, Key
from console.kube.projections.tenancy import Workspace
from console.kube.status import Severity
from console.ui import lists
from console.ui.core.clusters import HOST
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register


@register
class WorkspaceKind(ResourceKind):
    gvr, scope, nav = WORKSPACES, Scope.CLUSTER, Nav("tenancy", 10)
    projection = Workspace
    can_be_copied = False
    title = gettext_lazy("Workspaces")
    singular = gettext_lazy("workspace")
    nouns = gettext_lazy("workspaces")
    severity_words = {Severity.OK: gettext_lazy("Active")}
    columns = (
        lists.TextColumn(id="alias", label=gettext_lazy("Alias"), priority=2),
        lists.StatusColumn(),
        lists.TextColumn(id="manager", label=gettext_lazy("Manager"), priority=2),
        lists.BoolColumn(id="isolated", label=gettext_lazy("Network isolated"), priority=3),
        lists.TextColumn(id="description", label=gettext_lazy("Description"), priority=3),
    )
    search = lists.SearchFilter(texts=lambda found: (found.alias, found.manager, found.description))
    filters = (lists.FieldFilter(param="manager", label=gettext_lazy("Manager")),)

    def page_url(self, cluster: str, key: Key) -> str:
        """Return the URL of the workspace page. Only workspaces of the host cluster have one."""
        return reverse("workspace", args=(key.name,)) if cluster == HOST else ""

    def create_url(self, cluster: str, namespace: str) -> str:
        return reverse("workspace_new")
