"""The Application kind (app.k8s.io). Columns as in the definition's printer columns."""

from django.utils.translation import gettext_lazy

from console.kube.gvr import APPLICATIONS
from console.kube.projections.application import Application
from console.ui import lists
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.wizards.applications import APPLICATION


@register
class ApplicationKind(ResourceKind):
    gvr, scope, nav = APPLICATIONS, Scope.NAMESPACED, Nav("workloads", 75, "workloads")
    projection = Application
    title = gettext_lazy("Applications")
    singular = gettext_lazy("application")
    nouns = gettext_lazy("applications")
    wizard = APPLICATION
    checked_for_problems = True
    columns = (
        lists.StatusColumn(),
        lists.TextColumn(id="version", label=gettext_lazy("Version"), priority=2),
        lists.TextColumn(id="ready", label=gettext_lazy("Ready components"), priority=1),
    )
    filters = (lists.STATE,)
    actions = (Delete(),)
