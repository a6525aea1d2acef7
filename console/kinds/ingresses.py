"""The Ingress kind."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.sections import EditRules
from console.kube.gvr import INGRESS_CLASSES, INGRESSES, SECRETS, SERVICES, Key
from console.kube.projections.network import Ingress
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, Reference, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.core.text import escape_invisible
from console.ui.details.descriptions.network import ingress
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.wizards import examples
from console.wizards.network import INGRESS


@register
@kind_panels(DescriptionPanel(describe=ingress))
class IngressKind(ResourceKind):
    gvr, scope, nav = INGRESSES, Scope.NAMESPACED, Nav("network", 20, "network")
    short_names = ("ing",)
    projection = Ingress
    referenced_types = (SERVICES, SECRETS, INGRESS_CLASSES)
    title = gettext_lazy("Ingresses")
    singular = gettext_lazy("ingress")
    nouns = gettext_lazy("ingresses")
    example = {
        "spec": {
            "rules": [
                {
                    "host": "example.com",
                    "http": {
                        "paths": [
                            {
                                "path": "/",
                                "pathType": "Prefix",
                                "backend": {"service": {"name": "example", "port": {"number": 80}}},
                            }
                        ]
                    },
                }
            ]
        }
    }
    severity_words = {Severity.OK: gettext_lazy("Active")}
    wizard = INGRESS
    examples = examples.INGRESSES
    columns = (
        lists.StatusColumn(),
        lists.LinkColumn(
            id="class",
            label=gettext_lazy("Class"),
            priority=3,
            get=lambda ingress: ingress.class_name,
            leads_to=("ingressclasses",),
        ),
        lists.ListColumn(id="hosts", label=gettext_lazy("Hosts"), priority=2, most=2),
        lists.ListColumn(id="addresses", label=gettext_lazy("Addresses"), priority=3),
        lists.ListColumn(id="backends", label=gettext_lazy("Services"), priority=3),
        lists.BoolColumn(id="tls", label=gettext_lazy("HTTPS"), priority=3),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name, label, host or backend"),
        texts=lambda ingress: (*ingress.hosts, *ingress.addresses, *ingress.backends),
    )
    filters = (
        lists.FieldFilter(
            param="class",
            names=INGRESS_CLASSES,
            label=gettext_lazy("Class"),
            get=lambda ingress: (ingress.class_name,),
        ),
        lists.FieldFilter(
            param="service",
            names=SERVICES,
            label=gettext_lazy("Service"),
            get=lambda ingress: ingress.backends,
        ),
    )
    actions = (EditRules(), Delete())

    def references(self, item: Ingress) -> Iterable[Reference]:
        for name in item.backends:
            yield Reference(SERVICES, Key(item.namespace, name), "backend")
        for name in item.tls_secrets:
            yield Reference(SECRETS, Key(item.namespace, name), "certificate")
        if item.class_name:
            yield Reference(INGRESS_CLASSES, Key("", item.class_name), "class")

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        ingress: Ingress = entry.projection
        return [
            (_("Hosts"), escape_invisible(", ".join(ingress.hosts))),
            text_fact(_("Services"), ingress.backends),
        ]
