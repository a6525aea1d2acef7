"""The HTTPRoute and GRPCRoute kinds of the Gateway API."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import GATEWAYS, GRPC_ROUTES, HTTP_ROUTES, SERVICES
from console.kube.projections.gateway import Route
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, Reference, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.core.text import escape_invisible
from console.ui.details.descriptions.gateways import route
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.ui.details.relations.references import cross_namespace_targets
from console.wizards import examples
from console.wizards.network import HTTP_ROUTE


class _RouteKind(ResourceKind):
    projection = Route
    checked_for_problems = True
    referenced_types = (GATEWAYS, SERVICES)
    severity_words = {Severity.OK: gettext_lazy("Accepted")}
    columns = (
        lists.StatusColumn(),
        lists.ListColumn(id="hostnames", label=gettext_lazy("Hosts"), priority=2, most=2),
        lists.ListColumn(id="parents", label=gettext_lazy("Gateways"), priority=2),
        lists.ListColumn(id="backends", label=gettext_lazy("Services"), priority=3),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name, label, host or backend"),
        texts=lambda route: (*route.hostnames, *route.parents, *route.backends),
    )
    filters = (
        lists.STATE,
        lists.FieldFilter(
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
@kind_panels(DescriptionPanel(describe=route))
class HTTPRouteKind(_RouteKind):
    gvr, scope, nav = HTTP_ROUTES, Scope.NAMESPACED, Nav("network", 70, "network")
    title = gettext_lazy("HTTP routes")
    singular = gettext_lazy("HTTP route")
    nouns = gettext_lazy("HTTP routes")
    wizard = HTTP_ROUTE
    examples = examples.HTTP_ROUTES


@register
@kind_panels(DescriptionPanel(describe=route))
class GRPCRouteKind(_RouteKind):
    gvr, scope, nav = GRPC_ROUTES, Scope.NAMESPACED, Nav("network", 80, "network")
    title = gettext_lazy("gRPC routes")
    singular = gettext_lazy("gRPC route")
    nouns = gettext_lazy("gRPC routes")
