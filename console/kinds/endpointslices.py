"""The EndpointSlice kind. A controller creates EndpointSlices from services and recreates deleted
ones.
"""

from collections.abc import Iterable

from django.utils.translation import gettext_lazy

from console.kube.gvr import ENDPOINT_SLICES, SERVICES, Key
from console.kube.projections.network import EndpointSlice
from console.kube.status import Severity
from console.ui import lists
from console.ui.core.kind import Nav, Reference, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.network import endpoint_slice
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels


def service_of(endpoints: EndpointSlice) -> lists.LinkTarget | None:
    if not endpoints.service:
        return None
    return lists.LinkTarget("services", endpoints.namespace, endpoints.service)


@register
@kind_panels(DescriptionPanel(describe=endpoint_slice))
class EndpointSliceKind(ResourceKind):
    gvr, scope, nav = ENDPOINT_SLICES, Scope.NAMESPACED, Nav("network", 30)
    projection = EndpointSlice
    referenced_types = (SERVICES,)
    title = gettext_lazy("Endpoint slices")
    singular = gettext_lazy("endpoint slice")
    nouns = gettext_lazy("endpoint slices")
    example = {
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["192.0.2.1"]}],
        "ports": [{"name": "http", "protocol": "TCP", "port": 80}],
    }
    severity_words = {
        Severity.ERROR: gettext_lazy("No endpoints ready"),
        Severity.WARN: gettext_lazy("Partially ready"),
        Severity.OK: gettext_lazy("Ready"),
        Severity.PAUSED: gettext_lazy("No endpoints"),
    }
    columns = (
        lists.StatusColumn(),
        lists.LinkColumn(
            id="service",
            label=gettext_lazy("Service"),
            priority=2,
            to=service_of,
            leads_to=("services",),
        ),
        lists.RatioColumn(
            id="ready",
            label=gettext_lazy("Ready"),
            priority=2,
            part=lambda endpoints: endpoints.ready,
            whole=lambda endpoints: endpoints.endpoints,
        ),
        lists.TextColumn(id="address_type", label=gettext_lazy("Address type"), priority=4),
        lists.ListColumn(id="ports", label=gettext_lazy("Ports"), priority=3, most=3),
        lists.ListColumn(id="addresses", label=gettext_lazy("Addresses"), priority=3, most=3),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name, label or address"),
        texts=lambda endpoints: endpoints.addresses,
    )
    filters = (lists.FieldFilter(param="service", label=gettext_lazy("Service")),)

    def references(self, item: EndpointSlice) -> Iterable[Reference]:
        if item.service:
            yield Reference(SERVICES, Key(item.namespace, item.service), "endpoints")
