"""The HorizontalPodAutoscaler kind. Columns as in `kubectl get horizontalpodautoscalers`."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import DEPLOYMENTS, HORIZONTAL_POD_AUTOSCALERS, REPLICA_SETS, STATEFUL_SETS
from console.kube.projections.autoscaler import Autoscaler
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.core.action_texts import Fact, owner_fact, status_fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, Reference, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.relations.references import targets_of
from console.ui.lists.columns import (
    BY_KIND,
    AgeColumn,
    LinkColumn,
    ListColumn,
    NumberColumn,
    OwnerColumn,
    StatusColumn,
    target_of,
)
from console.ui.lists.filters import OWNER, STATE, FieldFilter, SearchFilter


@register
class AutoscalerKind(ResourceKind):
    api_kind = "HorizontalPodAutoscaler"
    gvr, scope, nav = (
        HORIZONTAL_POD_AUTOSCALERS,
        Scope.NAMESPACED,
        Nav("workloads", 80, "autoscaling"),
    )
    short_names = ("hpa",)
    projection = Autoscaler
    addressable_by_kind_name = True
    checked_for_problems = True
    referenced_types = (DEPLOYMENTS, STATEFUL_SETS, REPLICA_SETS)
    title = gettext_lazy("Autoscalers")
    singular = gettext_lazy("autoscaler")
    nouns = gettext_lazy("autoscalers")
    example = {
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "example"},
            "minReplicas": 1,
            "maxReplicas": 3,
            "metrics": [
                {
                    "type": "Resource",
                    "resource": {
                        "name": "cpu",
                        "target": {"type": "Utilization", "averageUtilization": 80},
                    },
                }
            ],
        }
    }
    severity_words = {
        Severity.OK: gettext_lazy("Active"),
        Severity.WARN: gettext_lazy("At its maximum"),
    }
    columns = (
        StatusColumn(),
        LinkColumn(
            id="target",
            label=gettext_lazy("Scale target"),
            to=lambda item: target_of(item.target, item.namespace),
            leads_to=BY_KIND,
        ),
        ListColumn(id="metrics", label=gettext_lazy("Metrics"), most=2),
        NumberColumn(id="least", label=gettext_lazy("Minimum"), priority=3),
        NumberColumn(id="most", label=gettext_lazy("Maximum"), priority=3),
        NumberColumn(id="current", label=gettext_lazy("Replicas"), priority=2),
        NumberColumn(id="desired", label=gettext_lazy("Desired"), priority=4),
        AgeColumn(id="last_scaled", label=gettext_lazy("Last scaled"), priority=4),
        OwnerColumn(),
    )
    search = SearchFilter(
        covers=gettext_lazy("Name, label, target or metric"),
        texts=lambda item: (item.target, *item.metrics),
    )
    filters = (
        STATE,
        FieldFilter(param="target", label=gettext_lazy("Scale target")),
        OWNER,
    )
    actions = (Delete(),)

    def references(self, item: Autoscaler) -> Iterable[Reference]:
        for gvr, key in targets_of((item.target,), item.namespace):
            yield Reference(gvr, key, "scales")

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        item: Autoscaler = entry.projection
        return [
            status_fact(item.status),
            text_fact(_("Scale target"), item.target),
            (_("Replicas"), _("stay at %(count)s") % {"count": f"{item.current:,}"}),
            owner_fact(item.owner),
        ]
