"""The WorkspaceTemplate kind: desired state of a workspace and its clusters."""

from django.urls import reverse
from django.utils.translation import gettext_lazy

from console.kube.gvr import WORKSPACE_TEMPLATES, Key
from console.kube.projections.tenancy import Workspace
from console.kube.status import Severity
from console.ui import lists
from console.ui.core.clusters import HOST
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from workspaces.pages.deleting import DeleteWorkspace


@register
class WorkspaceTemplateKind(ResourceKind):
    gvr, scope, nav = WORKSPACE_TEMPLATES, Scope.CLUSTER, Nav("tenancy", 20)
    projection = Workspace
    can_be_copied = False
    title = gettext_lazy("Workspace templates")
    singular = gettext_lazy("workspace template")
    nouns = gettext_lazy("workspace templates")
    severity_words = {Severity.OK: gettext_lazy("Active")}
    columns = (
        lists.TextColumn(id="alias", label=gettext_lazy("Alias"), priority=2),
        lists.StatusColumn(),
        lists.TextColumn(id="manager", label=gettext_lazy("Manager"), priority=2),
        lists.ListColumn(
            id="clusters",
            label=gettext_lazy("Clusters"),
            priority=2,
            get=lambda found: found.clusters or (("*",) if found.everywhere else ()),
            most=3,
        ),
        lists.BoolColumn(id="isolated", label=gettext_lazy("Network isolated"), priority=3),
        lists.TextColumn(id="creator", label=gettext_lazy("Creator"), priority=4),
    )
    search = lists.SearchFilter(texts=lambda found: (found.alias, found.manager, *found.clusters))
    filters = (
        lists.FieldFilter(param="manager", label=gettext_lazy("Manager")),
        lists.FieldFilter(
            param="cluster", label=gettext_lazy("Cluster"), get=lambda found: found.clusters
        ),
    )
    actions = (DeleteWorkspace(),)
    confirm_by_name = True

    def page_url(self, cluster: str, key: Key) -> str:
        """Return the URL of the workspace page. Only workspaces of the host cluster have one."""
        return reverse("workspace", args=(key.name,)) if cluster == HOST else ""

    def create_url(self, cluster: str, namespace: str) -> str:
        return reverse("workspace_new")
