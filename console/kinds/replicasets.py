"""The ReplicaSet kind. Columns as in `kubectl get replicasets -o wide`, plus the revision."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.workloads.base import OF_PODS, READY, TEMPLATE, WorkloadKind
from console.kube.gvr import PODS, REPLICA_SETS
from console.kube.projections.apps import ReplicaSet
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.container_actions import ShowLogs
from console.ui.core.deleting import DeleteOwner
from console.ui.core.kind import Nav, Scope
from console.ui.core.registry import register
from console.ui.details.panels.standard import kind_panels
from console.ui.details.relations.object_panels import OwnedPanel


@register
@kind_panels(OwnedPanel())
class ReplicaSetKind(WorkloadKind):
    gvr, scope, nav = REPLICA_SETS, Scope.NAMESPACED, Nav("workloads", 50)
    short_names = ("rs",)
    owns = (PODS,)
    projection = ReplicaSet
    title = gettext_lazy("ReplicaSets")
    singular = gettext_lazy("ReplicaSet")
    nouns = gettext_lazy("ReplicaSets")
    example = {"spec": {"replicas": 1, **OF_PODS}}
    columns = (
        lists.StatusColumn(),
        READY,
        lists.NumberColumn(id="current", label=gettext_lazy("Current"), priority=3),
        lists.NumberColumn(id="revision", label=gettext_lazy("Revision"), priority=3),
        lists.OwnerColumn(priority=3),
        *TEMPLATE,
    )
    filters = (
        lists.IMAGE,
        lists.OWNER,
        lists.USES,
    )
    actions = (
        ShowLogs(),
        DeleteOwner(),
    )

    def order_among_owned(self, entry: Entry[Any]) -> tuple[Any, ...] | None:
        """Return a sort key that puts ReplicaSets with pods first, then the newest revision."""
        item: ReplicaSet = entry.projection
        return not (item.desired or item.current), -(item.revision or 0)

    def note_among_owned(self, entry: Entry[Any]) -> str:
        revision = entry.projection.revision
        return _("revision %(number)s") % {"number": revision} if revision is not None else ""
