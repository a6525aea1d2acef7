"""The ConfigMap kind. Shows the keys of the data, but no values."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext, pgettext_lazy

from console.actions.data_keys.edit import EditKeys
from console.kube.gvr import CONFIG_MAPS
from console.kube.projections.config import ConfigMap
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.core.text import escape_invisible
from console.ui.details.panels.data import DataPanel
from console.ui.details.panels.standard import kind_panels
from console.ui.details.relations.object_panels import UsedByPanel
from console.wizards import examples
from console.wizards.configuration import CONFIG_MAP

#: Maximum number of keys listed in the delete confirmation.
MAX_LISTED_KEYS = 10


@register
@kind_panels(DataPanel(), UsedByPanel())
class ConfigMapKind(ResourceKind):
    gvr, scope, nav = CONFIG_MAPS, Scope.NAMESPACED, Nav("config", 10, "config")
    short_names = ("cm",)
    projection = ConfigMap
    created_by_operators = True
    title = gettext_lazy("ConfigMaps")
    singular = gettext_lazy("ConfigMap")
    nouns = gettext_lazy("ConfigMaps")
    example = {"data": {"key": "value"}}
    wizard = CONFIG_MAP
    examples = examples.CONFIG_MAPS
    columns = (
        lists.NumberColumn(
            id="fields",
            label=pgettext_lazy("data", "Keys"),
            priority=2,
            get=lambda found: len(found.keys),
        ),
        lists.ListColumn(id="keys", label=gettext_lazy("Key names"), priority=3, most=3),
        lists.QuantityColumn(
            id="size",
            label=gettext_lazy("Size"),
            priority=2,
            get=lambda found: str(found.size),
            unit="bytes",
        ),
        lists.BoolColumn(id="immutable", label=gettext_lazy("Immutable"), priority=4),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name, label or key"), texts=lambda found: found.keys
    )
    actions = (EditKeys(), Delete())

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        found: ConfigMap = entry.projection
        keys = ", ".join(found.keys[:MAX_LISTED_KEYS])
        more = len(found.keys) - MAX_LISTED_KEYS
        shown = escape_invisible(keys) if more <= 0 else f"{escape_invisible(keys)} +{more}"
        return [(pgettext("data", "Keys"), shown or _("none"))]
