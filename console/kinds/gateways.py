"""The Gateway kind of the Gateway API."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import GATEWAY_CLASSES, GATEWAYS, SECRETS, Key
from console.kube.projections.gateway import Gateway
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, Reference, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.core.text import escape_invisible
from console.ui.details.descriptions.gateways import gateway
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.ui.details.relations.references import cross_namespace_targets


@register
@kind_panels(DescriptionPanel(describe=gateway))
class GatewayKind(ResourceKind):
    gvr, scope, nav = GATEWAYS, Scope.NAMESPACED, Nav("network", 60, "network")
    short_names = ("gtw",)
    projection = Gateway
    checked_for_problems = True
    referenced_types = (SECRETS, GATEWAY_CLASSES)
    title = gettext_lazy("Gateways")
    singular = gettext_lazy("gateway")
    nouns = gettext_lazy("gateways")
    severity_words = {Severity.OK: gettext_lazy("Ready")}
    columns = (
        lists.StatusColumn(),
        lists.LinkColumn(
            id="class",
            label=gettext_lazy("Class"),
            priority=3,
            get=lambda gateway: gateway.class_name,
            leads_to=("gatewayclasses.gateway.networking.k8s.io",),
        ),
        lists.ListColumn(id="addresses", label=gettext_lazy("Addresses"), priority=2),
        lists.ListColumn(id="listeners", label=gettext_lazy("Listeners"), priority=3, most=2),
        lists.NumberColumn(id="routes", label=gettext_lazy("Routes"), priority=2),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name, label or address"),
        texts=lambda gateway: (*gateway.addresses, *gateway.listeners),
    )
    filters = (
        lists.STATE,
        lists.FieldFilter(
            param="class",
            names=GATEWAY_CLASSES,
            label=gettext_lazy("Class"),
            get=lambda gateway: (gateway.class_name,),
        ),
    )
    actions = (Delete(),)

    def references(self, item: Gateway) -> Iterable[Reference]:
        for gvr, key in cross_namespace_targets(item.uses, item.namespace):
            yield Reference(gvr, key, "certificate" if gvr == SECRETS else "")
        if item.class_name:
            yield Reference(GATEWAY_CLASSES, Key("", item.class_name), "class")

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        gateway: Gateway = entry.projection
        return [
            (_("Addresses"), escape_invisible(", ".join(gateway.addresses)) or _("none yet")),
            (_("Routes that use this gateway"), str(gateway.routes)),
        ]
