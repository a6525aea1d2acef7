"""The HorizontalPodAutoscaler kind. Columns as in `kubectl get horizontalpodautoscalers`."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.sections import EditLimits
from console.kube.group_kind import without_group
from console.kube.gvr import DEPLOYMENTS, HORIZONTAL_POD_AUTOSCALERS, REPLICA_SETS, STATEFUL_SETS
from console.kube.projections.autoscaler import Autoscaler
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, owner_fact, status_fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, Reference, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.autoscalers import autoscaler
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.ui.details.relations.references import targets_of
from console.wizards import examples
from console.wizards.policies import HORIZONTAL_POD_AUTOSCALER


@register
@kind_panels(DescriptionPanel(describe=autoscaler))
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
    wizard = HORIZONTAL_POD_AUTOSCALER
    examples = examples.HORIZONTAL_POD_AUTOSCALERS
    columns = (
        lists.StatusColumn(),
        lists.LinkColumn(
            id="target",
            label=gettext_lazy("Scale target"),
            get=lambda item: without_group(item.target),
            to=lambda item: lists.target_of(item.target, item.namespace),
            leads_to=lists.BY_KIND,
        ),
        lists.ListColumn(id="metrics", label=gettext_lazy("Metrics"), most=2),
        lists.NumberColumn(id="least", label=gettext_lazy("Minimum"), priority=3),
        lists.NumberColumn(id="most", label=gettext_lazy("Maximum"), priority=3),
        lists.NumberColumn(id="current", label=gettext_lazy("Replicas"), priority=2),
        lists.NumberColumn(id="desired", label=gettext_lazy("Desired"), priority=4),
        lists.AgeColumn(id="last_scaled", label=gettext_lazy("Last scaled"), priority=4),
        lists.OwnerColumn(),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name, label, target or metric"),
        texts=lambda item: (without_group(item.target), *item.metrics),
    )
    filters = (
        lists.STATE,
        lists.FieldFilter(
            param="target",
            label=gettext_lazy("Scale target"),
            get=lambda item: lists.reference_values(item.target),
        ),
        lists.OWNER,
    )
    actions = (EditLimits(), Delete())

    def references(self, item: Autoscaler) -> Iterable[Reference]:
        for gvr, key in targets_of((item.target,), item.namespace):
            yield Reference(gvr, key, "scales")

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        item: Autoscaler = entry.projection
        return [
            status_fact(item.status),
            text_fact(_("Scale target"), without_group(item.target)),
            (_("Replicas"), _("stay at %(count)s") % {"count": f"{item.current:,}"}),
            owner_fact(item.owner),
        ]
