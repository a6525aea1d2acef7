"""The GatewayClass kind of the Gateway API."""

from django.utils.translation import gettext_lazy

from console.kube.gvr import GATEWAY_CLASSES
from console.kube.projections.gateway import GatewayClass
from console.kube.status import Severity
from console.ui.actions import Delete
from console.ui.columns import AgeColumn, NameColumn, StatusColumn, TextColumn
from console.ui.filters import SearchFilter
from console.ui.kind import Nav, ResourceKind, Scope
from console.ui.registry import register


@register
class GatewayClassKind(ResourceKind):
    gvr, scope, nav = GATEWAY_CLASSES, Scope.CLUSTER, Nav("network", 90)
    short_names = ("gc",)
    projection = GatewayClass
    title = gettext_lazy("Gateway classes")
    singular = gettext_lazy("gateway class")
    nouns = gettext_lazy("gateway classes")
    severity_words = {Severity.OK: gettext_lazy("Accepted")}
    columns = (
        NameColumn(),
        StatusColumn(),
        TextColumn(id="controller", label=gettext_lazy("Controller"), priority=2),
        TextColumn(id="description", label=gettext_lazy("Description"), priority=3),
        AgeColumn(priority=1),
    )
    search = SearchFilter(texts=lambda found: (found.controller, found.description))
    actions = (Delete(),)
