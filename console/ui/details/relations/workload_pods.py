"""The pods of a workload as a table, with their state, usage and actions."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR, NODES, POD_METRICS, PODS
from console.ui.core.kind import ResourceKind
from console.ui.core.subject import Subject
from console.ui.details.panels import NOTHING, Panel
from console.ui.details.relations.owners import pods_selected
from console.ui.details.relations.visible_type import VisibleType
from console.ui.lists.column_selection import shown_columns
from console.ui.lists.rows import RowBuilder
from console.ui.usage.reading import usage_access_of

#: Maximum pods in the table, the worst first.
MOST = 20
#: Columns of the pod list that the table shows.
COLUMNS = ("name", "status", "ready", "restarts", "cpu_used", "memory_used", "node", "ip", "age")


@dataclass(frozen=True, kw_only=True)
class WorkloadPodsPanel(Panel):
    """The selected pods, with the rows of the pod list.

    Usage has no informer. `POD_METRICS` is listed for its permission check.
    """

    id: str = "pods"
    title: str | Promise = gettext_lazy("Pods")
    place: Literal["above", "left", "right"] = "above"

    def needs(self, kind: ResourceKind) -> Collection[GVR]:
        return (PODS, NODES, POD_METRICS)

    def html(self, subject: Subject) -> SafeString:
        seeing, namespace = VisibleType(subject, PODS), subject.key.namespace
        selector, kind = subject.kind.pod_selector(subject.entry), seeing.kind
        if (
            seeing.informer is None
            or selector is None
            or kind is None
            or not seeing.readable.may_include(namespace)
        ):
            return NOTHING
        found = seeing.only_visible(pods_selected(selector, namespace, seeing.informer))
        if not found:
            return NOTHING
        reach = usage_access_of(kind, subject.access)
        meter = reach.read() if reach is not None else None
        builder = RowBuilder(kind, subject.access, COLUMNS, meter)
        worst = sorted(found, key=seeing.rank)[:MOST]
        context = {
            "columns": shown_columns(kind, COLUMNS, meter is not None and meter.available),
            "rows": [builder.row(entry) for entry in worst],
            "more": len(found) - len(worst),
            "total": len(found),
            "url": seeing.all_url(("namespace", namespace), ("label", str(selector))),
        }
        return render_to_string("ui/relations/workload_pods.html", context)
