"""Panels with the CPU and memory usage of a pod's containers, and of a workload's pods, next to their
requests and limits.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy, ngettext

from console.kube.gvr import POD_METRICS, PODS
from console.kube.metrics_server import ContainerKey, ResourceUsage, UsageProblem
from console.kube.projections.reserved import NO_RESOURCES
from console.kube.quantity import parse_quantity
from console.kube.store import Entry
from console.ui.core.manifests import mapping, mappings_at, text
from console.ui.core.podspecs import ContainerView, containers_of
from console.ui.core.subject import Subject
from console.ui.details.panels import NOTHING, Panel
from console.ui.details.relations.owners import pods_selected
from console.ui.details.relations.visible_type import VisibleType
from console.ui.usage.gauges import (
    HOUR,
    Bounds,
    Plot,
    ResourceAmount,
    ResourceBounds,
    plots,
    resource_amounts,
)
from console.ui.usage.reading import UsageReading, usage_access_of

#: Maximum containers of a pod with a chart, and maximum containers in the chart of a workload.
CHARTS, CHARTED = 4, 500
#: Problems for which lists have no usage columns, and pages no usage panel.
_HIDDEN = frozenset({UsageProblem.ABSENT, UsageProblem.FORBIDDEN})


@dataclass(frozen=True, slots=True)
class UsageGroup:
    """Usage of a container, or of all pods of a workload. `title` is "" if there is only one group."""

    title: str
    amounts: tuple[ResourceAmount, ...]
    plots: tuple[Plot, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _UsagePanel(Panel):
    id: str = "usage"
    title: str | Promise = gettext_lazy("Usage")
    place: Literal["above", "left", "right"] = "left"

    def hint(self, subject: Subject) -> str:
        return ""

    def groups(self, subject: Subject, reading: UsageReading) -> Iterator[UsageGroup]:
        raise NotImplementedError

    def html(self, subject: Subject) -> SafeString:
        reading = pod_usage_reading(subject)
        if reading is None or reading.problem in _HIDDEN:
            return NOTHING
        groups = [*self.groups(subject, reading)]
        if not groups:
            return NOTHING
        context = {"groups": groups, "note": reading.note, "hint": self.hint(subject)}
        return render_to_string("ui/panels/usage.html", context)


def pod_usage_reading(subject: Subject) -> UsageReading | None:
    """Return the usage of pods, or None if the viewer can't see it in the object's namespace."""
    kind = subject.access.cluster.kinds.of(PODS)
    reach = usage_access_of(kind, subject.access) if kind is not None else None
    covered = reach is not None and reach.covers(subject.key.namespace)
    return reach.read() if reach is not None and covered else None


class PodUsagePanel(_UsagePanel):
    """Usage of a pod's containers. Hidden after the pod has terminated.

    Usage has no informer. `POD_METRICS` is listed for its permission check and its changes.
    """

    also = (POD_METRICS,)

    def groups(self, subject: Subject, reading: UsageReading) -> Iterator[UsageGroup]:
        if subject.entry.projection.ended:
            return
        found = [*running_containers(subject.manifest)]
        for number, container in enumerate(found):
            key, bounds = ContainerKey(subject.key, container.name), bounds_of(container.spec)
            history = reading.history((key,)) if number < CHARTS else None
            yield UsageGroup(
                container.name if len(found) > 1 else "",
                resource_amounts(reading.container(key), bounds),
                plots(history, HOUR, bounds) if history is not None else (),
            )


class WorkloadUsagePanel(_UsagePanel):
    """Total usage of a workload's pods that the viewer can list."""

    also = (PODS, POD_METRICS)

    def hint(self, subject: Subject) -> str:
        count = len(subject.cached(running_pods))
        return ngettext("Total of %(n)s pod.", "Total of %(n)s pods.", count) % {"n": f"{count:,}"}

    def groups(self, subject: Subject, reading: UsageReading) -> Iterator[UsageGroup]:
        pods = subject.cached(running_pods)
        if not pods:
            return
        bounds, used = _total_bounds(pods), None
        for entry in pods:
            one = reading.used(entry)
            if one is not None:
                used = one.plus(used or ResourceUsage())
        names = [container.name for container in running_containers(subject.manifest)]
        keys = [ContainerKey(entry.key, name) for entry in pods for name in names]
        drawn = plots(reading.history(keys), HOUR, bounds) if len(keys) <= CHARTED else ()
        yield UsageGroup("", resource_amounts(used, bounds), drawn)


def running_pods(subject: Subject) -> list[Entry[Any]]:
    """Return the selected pods of a workload that the viewer can list and that have not terminated."""
    seeing, selector = VisibleType(subject, PODS), subject.kind.pod_selector(subject.entry)
    if seeing.informer is None or selector is None:
        return []
    found = seeing.only_visible(pods_selected(selector, subject.key.namespace, seeing.informer))
    return [entry for entry in found if not entry.projection.ended]


def running_containers(manifest: Mapping[str, Any]) -> Iterator[ContainerView]:
    """Yield the containers that run as long as the pod: all except init containers that end."""
    starting = {
        text(one.get("name"))
        for path in (("spec",), ("spec", "template", "spec"))
        for one in mappings_at(manifest, *path, "initContainers")
        if one.get("restartPolicy") != "Always"
    }
    return (one for one in containers_of(manifest) if one.name not in starting)


def bounds_of(spec: Mapping[str, Any]) -> ResourceBounds:
    """Return the requests and limits of a container. A missing request equals the limit."""
    requests, limits = mapping(spec, "resources", "requests"), mapping(spec, "resources", "limits")
    cpu, memory = (
        Bounds(_quantity(requests.get(name)) or limit, limit)
        for name in ("cpu", "memory")
        for limit in (_quantity(limits.get(name)),)
    )
    return ResourceBounds(cpu, memory)


def _quantity(value: Any) -> Decimal | None:
    """Return a positive quantity, or None."""
    found = parse_quantity(text(value))
    return found if found is not None and found > 0 else None


def _total_bounds(pods: Collection[Entry[Any]]) -> ResourceBounds:
    """Return the sums of requests and limits of pods.

    The sum of a limit is None if a container of the first pod has no such limit, because a partial
    sum would look like the limit of all containers. The pods of a workload rarely differ.
    """
    total = NO_RESOURCES
    for entry in pods:
        total = total.plus(entry.projection.reserved or NO_RESOURCES)
    first = min(pods, key=lambda entry: entry.key)
    own = [bounds_of(one.spec) for one in running_containers(first.original())]
    return ResourceBounds(
        Bounds(
            Decimal(total.cpu) / 1000 or None,
            Decimal(total.cpu_limit) / 1000 if all(one.cpu.limit for one in own) else None,
        ),
        Bounds(
            Decimal(total.memory) or None,
            Decimal(total.memory_limit) if all(one.memory.limit for one in own) else None,
        ),
    )
