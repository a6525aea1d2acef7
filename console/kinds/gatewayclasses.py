"""The GatewayClass kind of the Gateway API."""

from django.utils.translation import gettext_lazy

from console.kube.gvr import GATEWAY_CLASSES
from console.kube.projections.gateway import GatewayClass
from console.kube.status import Severity
from console.ui import lists
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.gateways import gateway_class
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels


@register
@kind_panels(DescriptionPanel(describe=gateway_class))
class GatewayClassKind(ResourceKind):
    gvr, scope, nav = GATEWAY_CLASSES, Scope.CLUSTER, Nav("network", 90)
    short_names = ("gc",)
    projection = GatewayClass
    title = gettext_lazy("Gateway classes")
    singular = gettext_lazy("gateway class")
    nouns = gettext_lazy("gateway classes")
    severity_words = {Severity.OK: gettext_lazy("Accepted")}
    columns = (
        lists.StatusColumn(),
        lists.TextColumn(id="controller", label=gettext_lazy("Controller"), priority=2),
        lists.TextColumn(id="description", label=gettext_lazy("Description"), priority=3),
    )
    search = lists.SearchFilter(texts=lambda found: (found.controller, found.description))
    actions = (Delete(),)
