"""Rankings of nodes and projects: first those with problems, then by reserved share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any

from django.urls import reverse

from console.kube.gvr import NAMESPACES, NODES, PODS
from console.kube.metrics_server import ResourceUsage
from console.kube.reservations import NO_RESERVATIONS, ReservationTotal, reservations_of
from console.kube.store import Entry
from console.kube.usage import UsageSample
from console.pages.capacity import counted_scope, usage_namespaces_of
from console.ui.core.links import list_url
from console.ui.core.page_data import PageData
from console.ui.core.text import escape_invisible
from console.ui.core.words import reason_text, translate
from console.ui.lists.columns import LinkTarget, StatusText, target_url
from console.ui.lists.selection import ensure_current
from console.ui.navigation.nav import level_problems, update_counts
from console.ui.navigation.projects import visible_namespaces
from console.ui.usage.gauges import CapacityGauge, ChartLine, Gauge, gauges, node_capacity, spark
from console.ui.usage.reading import can_see_node_usage

#: Maximum number of rows of each table.
MAX_ROWS = 10


@dataclass(frozen=True, slots=True)
class NodeRow:
    """Row of a node. `gauges` are CPU, memory and pods; `spark` is the CPU usage of the last hour,
    or None if unavailable.
    """

    name: str
    url: str
    status: StatusText
    gauges: tuple[Gauge, ...]
    spark: ChartLine | None


@dataclass(frozen=True, slots=True)
class ProjectRow:
    name: str
    url: str
    failing: int
    failing_url: str
    gauges: tuple[Gauge, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Top rows of a table. `url` links to the list of all `total` objects, or is "" if the viewer
    may not list them.
    """

    rows: Sequence[Any]
    total: int
    url: str
    measured: bool


async def rank_nodes(sight: PageData) -> Ranking | None:
    """Return the ranking of nodes, or None if the viewer may not list nodes."""
    seen = sight.get(NODES)
    if seen is None:
        return None
    held = await _held_by_node(sight)
    reading = sight.cluster.usage.read()
    used = reading.nodes if can_see_node_usage(sight.access) else {}
    here: Mapping[str, ReservationTotal] = held or {}

    def rank(entry: Entry[Any]) -> tuple[int, float, str]:
        name, node = entry.key.name, entry.projection
        share = node_capacity(node).share_of(here.get(name, NO_RESERVATIONS))
        return (node.status.severity.rank, -share, name)

    entries = seen.entries
    first = nsmallest(MAX_ROWS, entries, key=rank)
    rows = tuple(_node_row(sight, entry, held, used.get(entry.key.name)) for entry in first)
    url = list_url(sight.cluster.name, seen.kind.segment)
    return Ranking(rows, len(entries), url, bool(used))


async def _held_by_node(sight: PageData) -> dict[str, ReservationTotal] | None:
    """Return the reserved resources per node, or None if the viewer may not list all pods: a
    partial sum would be misleading.
    """
    pods = sight.get(PODS)
    if pods is None or pods.readable.namespaces is not None:
        return None
    reservations = reservations_of(pods.informer.store)
    await ensure_current(reservations)
    return reservations.by_node()


def _node_row(
    sight: PageData,
    entry: Entry[Any],
    held: dict[str, ReservationTotal] | None,
    used: ResourceUsage | None,
) -> NodeRow:
    node, name = entry.projection, entry.key.name
    status = StatusText(
        node.status.severity.value, translate(node.status.word), reason_text(node.status)
    )
    here = held.get(name, NO_RESERVATIONS) if held is not None else None
    history = sight.cluster.usage.of_node(name) if used is not None else None
    return NodeRow(
        escape_invisible(name),
        target_url(sight.cluster.name, LinkTarget("nodes", "", name)),
        status,
        gauges(node_capacity(node), here, used),
        spark(history.cpu) if history is not None else None,
    )


async def rank_projects(sight: PageData) -> Ranking | None:
    """Return the ranking of the viewer's projects, or None if the viewer may not list any pods."""
    pods = sight.get(PODS)
    if pods is None:
        return None
    names = visible_namespaces(sight.access)
    reservations = reservations_of(pods.informer.store)
    await ensure_current(reservations)
    await update_counts(sight.cluster)
    held = reservations.by_namespace(*counted_scope(pods.readable, ()))
    failing = level_problems(sight.access).failing

    def rank(name: str) -> tuple[int, float, str]:
        reserved = held.get(name, NO_RESERVATIONS).reserved
        return -failing["project", name], -reserved.cpu, name

    ranked = sorted(names, key=rank)
    reading, measured = sight.cluster.usage.read(), usage_namespaces_of(sight)
    rows = tuple(
        ProjectRow(
            escape_invisible(name),
            reverse("project_overview", args=(sight.cluster.name, name)),
            failing["project", name],
            f"{reverse('project_overview', args=(sight.cluster.name, name))}#attention",
            gauges(
                CapacityGauge(), held.get(name, NO_RESERVATIONS), _used(reading, measured, name)
            ),
        )
        for name in ranked[:MAX_ROWS]
    )
    listed = NAMESPACES in sight.seen
    url = list_url(sight.cluster.name, "namespaces") if listed else ""
    return Ranking(rows, len(ranked), url, reading.problem is None and measured != frozenset())


def _used(reading: UsageSample, measured: frozenset[str] | None, name: str) -> ResourceUsage | None:
    if reading.problem is not None or not (measured is None or name in measured):
        return None
    return reading.namespaces.get(name, ResourceUsage())
