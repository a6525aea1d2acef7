"""The capacity panel of a node's detail page."""

from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from console.kube.gvr import NODE_METRICS, PODS
from console.kube.metricslist import ResourceUsage
from console.kube.reservations import ReservationTotal, reservations_of
from console.kube.usage import UsageHistory
from console.ui.decisions import Denied, readable
from console.ui.gauges import gauges, node_capacity, plots
from console.ui.metered import DENIED, CapacityView, UsageNote, can_see_node_usage, usage_note
from console.ui.panels import Panel
from console.ui.registry import kinds
from console.ui.subject import Subject


@dataclass(frozen=True, kw_only=True)
class NodeCapacityPanel(Panel):
    """The node's allocatable resources, the sum of the pods' requests, and the usage.

    Requests are shown only to viewers who can list all pods, because a partial sum would be
    misleading. Usage is not a Kubernetes object and is read from the cluster instead of the
    subject.
    """

    id: str = "capacity"
    title: str | Promise = gettext_lazy("Capacity")
    # Usage has no informer. `NODE_METRICS` is listed for its permission check.
    also = (PODS, NODE_METRICS)

    def html(self, subject: Subject) -> SafeString:
        used, history, note = _used(subject)
        room = node_capacity(subject.entry.projection)
        found = CapacityView(gauges(room, _held(subject), used), plots(history), note)
        return render_to_string("ui/_capacity.html", {"capacity": found})


def _held(subject: Subject) -> ReservationTotal | None:
    pods, kind = subject.informers.get(PODS), kinds.by_type(PODS)
    if pods is None or kind is None or not pods.freshness.synced:
        return None
    try:
        if readable(kind, subject.access).namespaces is not None:
            return None
    except Denied:
        return None
    return reservations_of(pods.store).of_node(subject.key.name, None)


def _used(subject: Subject) -> tuple[ResourceUsage | None, UsageHistory, UsageNote | None]:
    if not can_see_node_usage(subject.access):
        return None, UsageHistory(), DENIED
    usage = subject.access.cluster.usage
    reading, name = usage.read(), subject.key.name
    return reading.nodes.get(name), usage.of_node(name), usage_note(reading.node_problem)
