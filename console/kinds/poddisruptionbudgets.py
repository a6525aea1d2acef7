"""The PodDisruptionBudget kind. Columns as in `kubectl get poddisruptionbudgets`, plus the health."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import POD_DISRUPTION_BUDGETS
from console.kube.projections.budget import Budget
from console.kube.selectors import LabelSelector
from console.kube.status import Severity, Status
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, after_deletion_fact, status_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.core.text import escape_invisible
from console.ui.details.descriptions.quotas import disruption_budget
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.ui.details.relations.object_panels import SelectedPodsPanel
from console.wizards import examples
from console.wizards.policies import POD_DISRUPTION_BUDGET

#: Maximum digits of a number of pods.
MAX_DIGITS = 10


def bound_sort_key(bound: str) -> tuple[int, int, str]:
    """Return the sort key of `minAvailable` or `maxUnavailable`: numbers, percentages, invalid
    values, then empty values.
    """
    digits = bound.removesuffix("%")
    known = digits.isascii() and digits.isdigit() and len(digits) <= MAX_DIGITS
    if not known:
        return (2 if bound else 3, 0, bound)
    return (int(bound.endswith("%")), int(digits), "")


@register
@kind_panels(DescriptionPanel(describe=disruption_budget), SelectedPodsPanel())
class BudgetKind(ResourceKind):
    api_kind = "PodDisruptionBudget"
    gvr, scope, nav = POD_DISRUPTION_BUDGETS, Scope.NAMESPACED, Nav("workloads", 90, "autoscaling")
    short_names = ("pdb",)
    projection = Budget
    checked_for_problems = True
    addressable_by_kind_name = True
    selects_pods = True
    title = gettext_lazy("Disruption budgets")
    singular = gettext_lazy("disruption budget")
    nouns = gettext_lazy("disruption budgets")
    example = {"spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "example"}}}}
    severity_words = {
        Severity.OK: gettext_lazy("Allows eviction"),
        Severity.WARN: gettext_lazy("Blocks eviction"),
    }
    wizard = POD_DISRUPTION_BUDGET
    examples = examples.POD_DISRUPTION_BUDGETS
    columns = (
        lists.StatusColumn(),
        lists.TextColumn(
            id="least",
            label=gettext_lazy("Min available"),
            priority=3,
            align="end",
            order=lambda item: bound_sort_key(item.least),
        ),
        lists.TextColumn(
            id="most",
            label=gettext_lazy("Max unavailable"),
            priority=3,
            align="end",
            order=lambda item: bound_sort_key(item.most),
        ),
        lists.NumberColumn(id="allowed", label=gettext_lazy("Allowed disruptions"), priority=2),
        lists.RatioColumn(
            id="ready",
            label=gettext_lazy("Healthy"),
            part=lambda item: item.healthy,
            whole=lambda item: item.expected,
        ),
        lists.NumberColumn(id="needed", label=gettext_lazy("Desired healthy"), priority=4),
        lists.SelectorColumn(),
        lists.OwnerColumn(),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name, label or selector"), texts=lambda item: (item.selector,)
    )
    filters = (lists.STATE, lists.OWNER)
    actions = (Delete(),)

    def is_problem(self, status: Status) -> bool:
        """Return True for errors only, because most budgets block evictions as intended."""
        return status.severity is Severity.ERROR

    def pod_selector(self, entry: Entry[Any]) -> LabelSelector | None:
        if entry.projection.selector:
            return super().pod_selector(entry)
        # The projection does not distinguish an empty selector ({}), which matches all pods, from a
        # missing one.
        spec = entry.original().get("spec")
        return LabelSelector() if isinstance(spec, dict) and spec.get("selector") == {} else None

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        item: Budget = entry.projection
        return [
            status_fact(item.status),
            (_("Selector"), escape_invisible(item.selector) or _("all pods of the project")),
            after_deletion_fact(
                _("all pods selected by the budget may be evicted at the same time")
            ),
        ]
