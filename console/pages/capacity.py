"""Capacity, requests and usage of a cluster or of projects."""

from dataclasses import dataclass
from decimal import Decimal

from console.kube.gvr import NODES, PODS, Key
from console.kube.metricslist import Used
from console.kube.reservations import Held, reservations_of
from console.kube.usage import TOTAL, Reading, UsageHistory
from console.ui.amounts import seconds_text
from console.ui.decisions import Readable
from console.ui.gauges import HOUR, Room, gauges, node_room, plots
from console.ui.metered import (
    DENIED,
    Capacity,
    NotMetered,
    Span,
    sees_node_usage,
    usage_namespaces,
    why_no_past,
    why_not,
)
from console.ui.selection import brought_up
from console.ui.sight import Seen, Sight


@dataclass(frozen=True, slots=True)
class Measured:
    used: Used | None
    history: UsageHistory
    note: NotMetered | None


async def capacity(sight: Sight, seconds: int = HOUR) -> Capacity | None:
    """Return the capacity of the cluster or of the given projects, or None if the viewer may list
    neither pods nor nodes.

    `seconds` is the time range of the plots. Ranges above one hour are queried from Prometheus,
    if configured.
    """
    held = await _held(sight)
    nodes = sight.get(NODES)
    room = room_of(nodes) if nodes is not None else Room()
    if held is None and nodes is None:
        return None
    measured = _measured(sight)
    history, note = measured.history, measured.note
    namespaces, prometheus = used_namespaces(sight), sight.cluster.prometheus
    if seconds != HOUR and prometheus is not None and namespaces != frozenset():
        past = await prometheus.usage_history(namespaces, seconds=seconds)
        history, note = past.history, why_no_past(past.problem) or note
    spans = _spans(seconds) if prometheus is not None and namespaces != frozenset() else ()
    return Capacity(gauges(room, held, measured.used), plots(history, seconds), note, spans)


#: Time ranges in seconds by their value in the URL.
SPANS = {seconds_text(seconds): seconds for seconds in (HOUR, 6 * 3600, 86_400, 7 * 86_400)}


def _spans(chosen: int) -> tuple[Span, ...]:
    return tuple(
        Span(label, "?" if seconds == HOUR else f"?range={label}", seconds == chosen)
        for label, seconds in SPANS.items()
    )


def room_of(nodes: Seen) -> Room:
    """Return the total allocatable resources of the nodes that the viewer may list. Amounts are
    parsed once per node.
    """
    cpu = memory = pods = Decimal(0)
    for entry in nodes.entries:
        room = node_room(entry.projection)
        cpu += room.cpu or 0
        memory += room.memory or 0
        pods += room.pods or 0
    return Room(cpu, memory, pods)


async def _held(sight: Sight) -> Held | None:
    pods = sight.get(PODS)
    if pods is None:
        return None
    reservations = reservations_of(pods.informer.store)
    await brought_up(reservations)
    return reservations.total(*places(pods.readable, pods.wanted))


def places(readable: Readable, wanted: tuple[str, ...]) -> tuple[frozenset[str] | None, set[Key]]:
    """Return the namespaces and single objects to count, in the format of
    `console.kube.reservations`.
    """
    if not wanted:
        return readable.namespaces, set(readable.names)
    whole = frozenset(n for n in wanted if readable.namespaces is None or n in readable.namespaces)
    names = {Key(key.namespace or n, key.name) for key in readable.names for n in wanted}
    return whole, {key for key in names if key.namespace in wanted}


def _measured(sight: Sight) -> Measured:
    usage = sight.cluster.usage
    reading = usage.read()
    if not sight.namespaces and NODES in sight.seen and sees_node_usage(sight.access):
        return Measured(
            reading.nodes.get(TOTAL), usage.of_node(TOTAL), why_not(reading.node_problem)
        )
    namespaces = used_namespaces(sight)
    if namespaces is not None and not namespaces:
        return Measured(None, UsageHistory(), DENIED)
    if reading.problem is not None:
        return Measured(None, usage.of_namespaces(namespaces), why_not(reading.problem))
    return Measured(used_in(reading, namespaces), usage.of_namespaces(namespaces), None)


def used_namespaces(sight: Sight) -> frozenset[str] | None:
    """Return the namespaces whose usage the viewer may see, or None for all.

    Requires permission to list both the pods and their metrics.
    """
    pods = sight.get(PODS)
    if pods is None:
        return frozenset()
    listed, _names = places(pods.readable, pods.wanted)
    measured = usage_namespaces(sight.access)
    if listed is None or measured is None:
        return measured if listed is None else listed
    return listed & measured


def used_in(reading: Reading, namespaces: frozenset[str] | None) -> Used:
    if namespaces is None:
        return reading.namespaces.get(TOTAL, Used())
    found = Used()
    for namespace in namespaces:
        found = found.plus(reading.namespaces.get(namespace, Used()))
    return found
