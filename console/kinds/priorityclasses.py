"""The PriorityClass kind."""

from collections.abc import Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import PRIORITY_CLASSES
from console.kube.projections.limits import PriorityClass
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, after_deletion_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.wizards import examples
from console.wizards.policies import PRIORITY_CLASS

PREEMPTION: dict[str, str | Promise] = {
    "PreemptLowerPriority": gettext_lazy("Preempts lower priority"),
    "Never": gettext_lazy("Never preempts"),
}


@register
class PriorityClassKind(ResourceKind):
    gvr, scope, nav = PRIORITY_CLASSES, Scope.CLUSTER, Nav("cluster", 60)
    short_names = ("pc",)
    projection = PriorityClass
    title = gettext_lazy("Priority classes")
    singular = gettext_lazy("priority class")
    nouns = gettext_lazy("priority classes")
    example = {"value": 1000, "globalDefault": False, "description": ""}
    wizard = PRIORITY_CLASS
    examples = examples.PRIORITY_CLASSES
    columns = (
        lists.NumberColumn(id="value", label=gettext_lazy("Value"), priority=1),
        lists.BoolColumn(id="default", label=gettext_lazy("Default"), priority=2),
        lists.WordColumn(
            id="preemption", label=gettext_lazy("Preemption"), priority=3, words=PREEMPTION
        ),
        lists.TextColumn(id="description", label=gettext_lazy("Description"), priority=3),
    )
    search = lists.SearchFilter(texts=lambda found: (found.description,))
    filters = (
        lists.ChoiceFilter(
            param="preemption",
            label=gettext_lazy("Preemption"),
            choices=tuple(PREEMPTION.items()),
            get=lambda found: found.preemption,
        ),
    )
    actions = (Delete(),)

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        found: PriorityClass = entry.projection
        default = (
            _("yes: used by pods that don't set a priority class") if found.default else _("no")
        )
        return [
            (_("Value"), f"{found.value:,}"),
            (_("Default"), default),
            after_deletion_fact(
                _(
                    "existing pods keep their priority; new pods that use this priority class are "
                    "rejected"
                )
            ),
        ]
