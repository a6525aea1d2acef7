"""The IngressClass kind."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import INGRESS_CLASSES
from console.kube.projections.network import IngressClass
from console.kube.store import Entry
from console.ui.core.action_texts import Fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.lists.columns import BoolColumn, TextColumn
from console.ui.lists.filters import SearchFilter


@register
class IngressClassKind(ResourceKind):
    gvr, scope, nav = INGRESS_CLASSES, Scope.CLUSTER, Nav("network", 50)
    projection = IngressClass
    title = gettext_lazy("Ingress classes")
    singular = gettext_lazy("ingress class")
    nouns = gettext_lazy("ingress classes")
    example = {"spec": {"controller": "example.com/controller"}}
    columns = (
        BoolColumn(id="default", label=gettext_lazy("Default"), priority=2),
        TextColumn(id="controller", label=gettext_lazy("Controller"), priority=2),
        TextColumn(id="parameters", label=gettext_lazy("Parameters"), priority=3),
    )
    search = SearchFilter(texts=lambda found: (found.controller,))
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
