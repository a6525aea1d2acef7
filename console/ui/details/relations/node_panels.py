"""Panels of a node: its pods with their resource requests, and its capacity."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import NODE_METRICS, PODS, Key
from console.kube.indexes import indexes_of
from console.kube.metrics_server import ResourceUsage
from console.kube.projections.pod import Pod
from console.kube.projections.reserved import NO_RESOURCES
from console.kube.quantity import parse_quantity
from console.kube.reservations import ReservationTotal, reservations_of
from console.kube.store import Entry
from console.kube.usage_history import UsageHistory
from console.ui.core.amounts import bytes_text, cores_text, number_text
from console.ui.core.subject import Subject
from console.ui.details.panels import Panel
from console.ui.details.relations.rollout import Bar
from console.ui.details.relations.visible_type import ObjectLine, VisibleType
from console.ui.usage.gauges import gauges, node_capacity, plots
from console.ui.usage.reading import DENIED, CapacityView, UsageNote, can_see_node_usage, usage_note

#: Maximum pods shown, those with the largest requests first. A node rarely has more than 110.
MOST = 50
#: Percentage from which a bar is a warning.
NEARLY_FULL = 90


@dataclass(frozen=True, slots=True)
class NodePod:
    line: ObjectLine
    cpu: str
    memory: str


@dataclass(frozen=True, kw_only=True)
class PodsPanel(Panel):
    """Pods on a node. The bars count only pods that the viewer can list, and a note says so if pods
    may be missing.
    """

    id: str = "pods"
    title: str | Promise = gettext_lazy("Pods on this node")
    also = (PODS,)

    def html(self, subject: Subject) -> SafeString:
        seeing = VisibleType(subject, PODS)
        if seeing.informer is None or seeing.not_listable:
            return SafeString("")
        found = seeing.only_visible(indexes_of(seeing.informer.store).by_node.get(subject.key.name))
        placed = sorted(found, key=_most_first)
        # Terminated pods are listed but use no resources.
        running = [held for entry in placed if (held := entry.projection.reserved) is not None]
        node = subject.entry.projection
        cpu, memory = sum(held.cpu for held in running), sum(held.memory for held in running)
        context = {
            "bars": (
                _bar(_("CPU requested"), _cores(cpu), node.cpu, cores_text),
                _bar(_("Memory requested"), Decimal(memory), node.memory, bytes_text),
                _bar(_("Pods"), Decimal(len(running)), node.pods, number_text),
            ),
            "partial": seeing.readable.namespaces is not None,
            "pods": [_placed(seeing, entry) for entry in placed[:MOST]],
            "total": len(found),
            "more": max(0, len(found) - MOST),
            "url": seeing.all_url(("node", subject.key.name)),
        }
        return render_to_string("ui/relations/node_pods.html", context)


def _most_first(entry: Entry[Pod]) -> tuple[int, int, Key]:
    held = entry.projection.reserved or NO_RESOURCES
    return (-held.cpu, -held.memory, entry.key)


def _placed(seeing: VisibleType, entry: Entry[Pod]) -> NodePod:
    held = entry.projection.reserved or NO_RESOURCES
    return NodePod(
        seeing.line(entry), cores_text(_cores(held.cpu)), bytes_text(Decimal(held.memory))
    )


def _cores(thousandths: int) -> Decimal:
    return Decimal(thousandths) / 1000


def _bar(label: str, used: Decimal, whole: str, text: Callable[[Decimal], str]) -> Bar:
    amount = parse_quantity(whole)
    if not amount or amount < 0:
        return Bar(label, text(used), "", None)
    share = int(min(used / amount, Decimal(100)) * 100)
    level = "error" if share > 100 else "warn" if share >= NEARLY_FULL else "ok"
    return Bar(label, text(used), text(amount), share, level)


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
    pods = VisibleType(subject, PODS)
    if pods.informer is None or pods.readable.namespaces is not None:
        return None
    return reservations_of(pods.informer.store).of_node(subject.key.name, None)


def _used(subject: Subject) -> tuple[ResourceUsage | None, UsageHistory, UsageNote | None]:
    if not can_see_node_usage(subject.access):
        return None, UsageHistory(), DENIED
    usage = subject.access.cluster.usage
    reading, name = usage.read(), subject.key.name
    return reading.nodes.get(name), usage.of_node(name), usage_note(reading.node_problem)
