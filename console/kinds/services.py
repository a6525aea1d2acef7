"""The Service kind."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.external_access import ExternalAccess
from console.actions.sections import EditService
from console.kube.gvr import ENDPOINT_SLICES, SERVICES
from console.kube.projections.network import Service
from console.kube.status import Severity
from console.kube.store import Entry
from console.proxying.actions import OpenPort
from console.ui import lists
from console.ui.core.action_texts import Fact, text_fact
from console.ui.core.container_actions import ShowLogs
from console.ui.core.deleting import DeleteOwner
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.core.text import escape_invisible
from console.ui.details.descriptions.network import service
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.ports import FORWARD, PortsPanel
from console.ui.details.panels.standard import kind_panels
from console.ui.details.relations.health_panels import EndpointsCause, EndpointsPanel
from console.ui.details.relations.object_panels import SelectedPodsPanel
from console.wizards import examples
from console.wizards.network import SERVICE

TYPES = ("ClusterIP", "NodePort", "LoadBalancer", "ExternalName")


@register
@kind_panels(
    EndpointsCause(),
    EndpointsPanel(),
    SelectedPodsPanel(),
    PortsPanel(),
    DescriptionPanel(describe=service),
    around=(EndpointsPanel(),),
)
class ServiceKind(ResourceKind):
    gvr, scope, nav = SERVICES, Scope.NAMESPACED, Nav("network", 10, "network")
    short_names = ("svc",)
    owns = (ENDPOINT_SLICES,)
    projection = Service
    selects_pods = True
    created_by_operators = True
    checked_for_problems = True
    types_with_own_panel = (ENDPOINT_SLICES,)
    title = gettext_lazy("Services")
    singular = gettext_lazy("service")
    nouns = gettext_lazy("services")
    example = {"spec": {"selector": {"app": "example"}, "ports": [{"port": 80, "targetPort": 80}]}}
    severity_words = {Severity.DONE: gettext_lazy("Active")}
    wizard = SERVICE
    examples = examples.SERVICES
    columns = (
        lists.StatusColumn(),
        lists.TextColumn(id="type", label=gettext_lazy("Type"), priority=2),
        lists.IpColumn(id="cluster_ip", label=gettext_lazy("Cluster IP"), priority=3),
        lists.ListColumn(id="external", label=gettext_lazy("External access"), priority=2),
        lists.ListColumn(id="ports", label=gettext_lazy("Ports"), priority=2, most=2),
        lists.SelectorColumn(),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name, label, address, port or selector"),
        texts=lambda service: (
            service.cluster_ip,
            service.selector,
            *service.external,
            *service.ports,
        ),
    )
    filters = (
        lists.STATE,
        lists.ChoiceFilter(
            param="type",
            label=gettext_lazy("Type"),
            choices=tuple((name, name) for name in TYPES),
            get=lambda service: service.type,
        ),
    )
    actions = (ShowLogs(), EditService(), ExternalAccess(), OpenPort(), DeleteOwner())
    panels_ask = FORWARD

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        service: Service = entry.projection
        return [
            text_fact(_("Cluster IP"), service.cluster_ip),
            (
                _("External access"),
                escape_invisible(", ".join(service.external)) or _("not reachable"),
            ),
            (
                _("Selector"),
                escape_invisible(service.selector) or _("none: endpoints are managed manually"),
            ),
        ]
