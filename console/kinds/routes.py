"""The HTTPRoute and GRPCRoute kinds of the Gateway API."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import GATEWAYS, GRPC_ROUTES, HTTP_ROUTES, SERVICES
from console.kube.projections.gateway import Route
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.core.action_texts import Fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, Reference, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.core.text import escape_invisible
from console.ui.details.relations.references import cross_namespace_targets
from console.ui.lists.columns import ListColumn, StatusColumn
from console.ui.lists.filters import FieldFilter, SearchFilter


class _RouteKind(ResourceKind):
    projection = Route
    referenced_types = (GATEWAYS, SERVICES)
    severity_words = {Severity.OK: gettext_lazy("Accepted")}
    columns = (
        StatusColumn(),
        ListColumn(id="hostnames", label=gettext_lazy("Hosts"), priority=2, most=2),
        ListColumn(id="parents", label=gettext_lazy("Gateways"), priority=2),
        ListColumn(id="backends", label=gettext_lazy("Services"), priority=3),
    )
    search = SearchFilter(
        covers=gettext_lazy("Name, label, host or backend"),
        texts=lambda route: (*route.hostnames, *route.parents, *route.backends),
    )
    filters = (
        FieldFilter(
            param="service", label=gettext_lazy("Service"), get=lambda route: route.backends
        ),
    )
    actions = (Delete(),)

    def references(self, item: Route) -> Iterable[Reference]:
        words = {GATEWAYS: "gateway", SERVICES: "backend"}
        for gvr, key in cross_namespace_targets(item.uses, item.namespace):
            yield Reference(gvr, key, words.get(gvr, ""))

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        route: Route = entry.projection
        return [
            (
                _("Hosts"),
                escape_invisible(", ".join(route.hostnames)) or _("the hosts of its gateways"),
            ),
            text_fact(_("Services"), route.backends),
        ]


@register
class HTTPRouteKind(_RouteKind):
    gvr, scope, nav = HTTP_ROUTES, Scope.NAMESPACED, Nav("network", 70, "network")
    title = gettext_lazy("HTTP routes")
    singular = gettext_lazy("HTTP route")
    nouns = gettext_lazy("HTTP routes")


@register
class GRPCRouteKind(_RouteKind):
    gvr, scope, nav = GRPC_ROUTES, Scope.NAMESPACED, Nav("network", 80, "network")
    title = gettext_lazy("gRPC routes")
    singular = gettext_lazy("gRPC route")
    nouns = gettext_lazy("gRPC routes")
