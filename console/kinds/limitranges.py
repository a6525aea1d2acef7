"""The LimitRange kind: default and permitted resources of containers, pods and claims in a project."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import LIMIT_RANGES
from console.kube.projections.limits import LimitRange
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, after_deletion_fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.quotas import limit_range
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.wizards import examples
from console.wizards.policies import LIMIT_RANGE


@register
@kind_panels(DescriptionPanel(describe=limit_range))
class LimitRangeKind(ResourceKind):
    gvr, scope, nav = LIMIT_RANGES, Scope.NAMESPACED, Nav("config", 50, "quota")
    short_names = ("limits",)
    projection = LimitRange
    title = gettext_lazy("Limit ranges")
    singular = gettext_lazy("limit range")
    nouns = gettext_lazy("limit ranges")
    example = {
        "spec": {
            "limits": [
                {
                    "type": "Container",
                    "default": {"cpu": "500m", "memory": "256Mi"},
                    "defaultRequest": {"cpu": "100m", "memory": "128Mi"},
                }
            ]
        }
    }
    wizard = LIMIT_RANGE
    examples = examples.LIMIT_RANGES
    columns = (
        lists.ListColumn(id="types", label=gettext_lazy("Applies to"), priority=2, most=3),
        lists.ListColumn(
            id="default_requests", label=gettext_lazy("Default requests"), priority=2, most=2
        ),
        lists.ListColumn(
            id="default_limits", label=gettext_lazy("Default limits"), priority=2, most=2
        ),
        lists.ListColumn(id="least", label=gettext_lazy("Minimum"), priority=3),
        lists.ListColumn(id="most", label=gettext_lazy("Maximum"), priority=3),
    )
    search = lists.SearchFilter(texts=lambda found: found.types)
    actions = (Delete(),)

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        found: LimitRange = entry.projection
        return [
            text_fact(_("Default requests"), found.default_requests),
            text_fact(_("Default limits"), found.default_limits),
            after_deletion_fact(
                _(
                    "new containers get no default requests or limits; running containers are not "
                    "affected"
                )
            ),
        ]
