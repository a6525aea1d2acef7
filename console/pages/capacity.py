"""Capacity, requests and usage of a cluster or of projects."""

from dataclasses import dataclass
from decimal import Decimal

from console.kube.gvr import NODES, PODS, Key
from console.kube.metrics_server import ResourceUsage
from console.kube.reservations import ReservationTotal, reservations_of
from console.kube.usage import TOTAL, UsageSample
from console.kube.usage_history import UsageHistory
from console.ui.core.amounts import seconds_text
from console.ui.core.page_data import PageData, VisibleKind
from console.ui.core.permissions import Readable
from console.ui.lists.selection import ensure_current
from console.ui.usage.gauges import HOUR, CapacityGauge, gauges, node_capacity, plots
from console.ui.usage.reading import (
    DENIED,
    CapacityView,
    TimeRange,
    UsageNote,
    can_see_node_usage,
    history_note,
    usage_namespaces,
    usage_note,
)


@dataclass(frozen=True, slots=True)
class MeasuredUsage:
    used: ResourceUsage | None
    history: UsageHistory
    note: UsageNote | None


async def capacity(sight: PageData, seconds: int = HOUR) -> CapacityView | None:
    """Return the capacity of the cluster or of the given projects, or None if the viewer may list
    neither pods nor nodes.

    `seconds` is the time range of the plots. Ranges above one hour are queried from Prometheus,
    if configured.
    """
    held = await _held(sight)
    nodes = sight.get(NODES)
    room = total_capacity(nodes) if nodes is not None else CapacityGauge()
    if held is None and nodes is None:
        return None
    measured = _measured(sight)
    history, note = measured.history, measured.note
    namespaces, prometheus = usage_namespaces_of(sight), sight.cluster.prometheus
    if prometheus is not None and not prometheus.url:
        prometheus = None
    if seconds != HOUR and prometheus is not None and namespaces != frozenset():
        past = await prometheus.usage_history(namespaces, seconds=seconds)
        history, note = past.history, history_note(past.problem) or note
    spans = _spans(seconds) if prometheus is not None and namespaces != frozenset() else ()
    return CapacityView(gauges(room, held, measured.used), plots(history, seconds), note, spans)


#: Time ranges in seconds by their value in the URL.
TIME_RANGES = {seconds_text(seconds): seconds for seconds in (HOUR, 6 * 3600, 86_400, 7 * 86_400)}


def _spans(chosen: int) -> tuple[TimeRange, ...]:
    return tuple(
        TimeRange(label, "?" if seconds == HOUR else f"?range={label}", seconds == chosen)
        for label, seconds in TIME_RANGES.items()
    )


def total_capacity(nodes: VisibleKind) -> CapacityGauge:
    """Return the total allocatable resources of the nodes that the viewer may list. Amounts are
    parsed once per node.
    """
    cpu = memory = pods = Decimal(0)
    for entry in nodes.entries:
        room = node_capacity(entry.projection)
        cpu += room.cpu or 0
        memory += room.memory or 0
        pods += room.pods or 0
    return CapacityGauge(cpu, memory, pods)


async def _held(sight: PageData) -> ReservationTotal | None:
    pods = sight.get(PODS)
    if pods is None:
        return None
    reservations = reservations_of(pods.informer.store)
    await ensure_current(reservations)
    return reservations.total(*counted_scope(pods.readable, pods.wanted))


def counted_scope(
    readable: Readable, wanted: tuple[str, ...]
) -> tuple[frozenset[str] | None, set[Key]]:
    """Return the namespaces and single objects to count, in the format of
    `console.kube.reservations`.
    """
    if not wanted:
        return readable.namespaces, set(readable.names)
    whole = frozenset(n for n in wanted if readable.namespaces is None or n in readable.namespaces)
    names = {Key(key.namespace or n, key.name) for key in readable.names for n in wanted}
    return whole, {key for key in names if key.namespace in wanted}


def _measured(sight: PageData) -> MeasuredUsage:
    usage = sight.cluster.usage
    reading = usage.read()
    if not sight.namespaces and NODES in sight.seen and can_see_node_usage(sight.access):
        return MeasuredUsage(
            reading.nodes.get(TOTAL), usage.of_node(TOTAL), usage_note(reading.node_problem)
        )
    namespaces = usage_namespaces_of(sight)
    if namespaces is not None and not namespaces:
        return MeasuredUsage(None, UsageHistory(), DENIED)
    if reading.problem is not None:
        return MeasuredUsage(None, usage.of_namespaces(namespaces), usage_note(reading.problem))
    return MeasuredUsage(usage_in(reading, namespaces), usage.of_namespaces(namespaces), None)


def usage_namespaces_of(sight: PageData) -> frozenset[str] | None:
    """Return the namespaces whose usage the viewer may see, or None for all.

    Requires permission to list both the pods and their metrics.
    """
    pods = sight.get(PODS)
    if pods is None:
        return frozenset()
    listed, _names = counted_scope(pods.readable, pods.wanted)
    measured = usage_namespaces(sight.access)
    if listed is None or measured is None:
        return measured if listed is None else listed
    return listed & measured


def usage_in(reading: UsageSample, namespaces: frozenset[str] | None) -> ResourceUsage:
    if namespaces is None:
        return reading.namespaces.get(TOTAL, ResourceUsage())
    found = ResourceUsage()
    for namespace in namespaces:
        found = found.plus(reading.namespaces.get(namespace, ResourceUsage()))
    return found
