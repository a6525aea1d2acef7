"""The IngressClass kind."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import INGRESS_CLASSES
from console.kube.projections.network import IngressClass
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.network import ingress_class
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels


@register
@kind_panels(DescriptionPanel(describe=ingress_class))
class IngressClassKind(ResourceKind):
    gvr, scope, nav = INGRESS_CLASSES, Scope.CLUSTER, Nav("network", 50)
    projection = IngressClass
    title = gettext_lazy("Ingress classes")
    singular = gettext_lazy("ingress class")
    nouns = gettext_lazy("ingress classes")
    example = {"spec": {"controller": "example.com/controller"}}
    columns = (
        lists.BoolColumn(id="default", label=gettext_lazy("Default"), priority=2),
        lists.TextColumn(id="controller", label=gettext_lazy("Controller"), priority=2),
        lists.TextColumn(id="parameters", label=gettext_lazy("Parameters"), priority=3),
    )
    search = lists.SearchFilter(texts=lambda found: (found.controller,))
    actions = (Delete(),)

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        found: IngressClass = entry.projection
        default = (
            _("yes: used by ingresses that don't set an ingress class")
            if found.default
            else _("no")
        )
        return [
            text_fact(_("Controller"), found.controller),
            (_("Default"), default),
        ]
