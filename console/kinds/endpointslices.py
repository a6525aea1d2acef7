"""The EndpointSlice kind. A controller creates EndpointSlices from services and recreates deleted
ones.
"""

from collections.abc import Iterable

from django.utils.translation import gettext_lazy

from console.kube.gvr import ENDPOINT_SLICES, SERVICES, Key
from console.kube.projections.network import EndpointSlice
from console.kube.status import Severity
from console.ui.core.kind import Nav, Reference, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.lists.columns import (
    LinkColumn,
    LinkTarget,
    ListColumn,
    RatioColumn,
    StatusColumn,
    TextColumn,
)
from console.ui.lists.filters import FieldFilter, SearchFilter


def service_of(endpoints: EndpointSlice) -> LinkTarget | None:
    if not endpoints.service:
        return None
    return LinkTarget("services", endpoints.namespace, endpoints.service)


@register
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
        StatusColumn(),
        LinkColumn(
            id="service",
            label=gettext_lazy("Service"),
            priority=2,
            to=service_of,
            leads_to=("services",),
        ),
        RatioColumn(
            id="ready",
            label=gettext_lazy("Ready"),
            priority=2,
            part=lambda endpoints: endpoints.ready,
            whole=lambda endpoints: endpoints.endpoints,
        ),
        TextColumn(id="address_type", label=gettext_lazy("Address type"), priority=4),
        ListColumn(id="ports", label=gettext_lazy("Ports"), priority=3, most=3),
        ListColumn(id="addresses", label=gettext_lazy("Addresses"), priority=3, most=3),
    )
    search = SearchFilter(
        covers=gettext_lazy("Name, label or address"),
        texts=lambda endpoints: endpoints.addresses,
    )
    filters = (FieldFilter(param="service", label=gettext_lazy("Service")),)

    def references(self, item: EndpointSlice) -> Iterable[Reference]:
        if item.service:
            yield Reference(SERVICES, Key(item.namespace, item.service), "endpoints")
