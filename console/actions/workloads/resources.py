"""Current usage of a workload's containers, beside the form that sets their resources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from console.kube.metrics_server import ContainerKey, ResourceUsage
from console.ui.core.subject import Subject
from console.ui.details.relations.usage_panels import (
    bounds_of,
    pod_usage_reading,
    running_containers,
    running_pods,
)
from console.ui.usage.gauges import ResourceAmount, resource_amounts


@dataclass(frozen=True, slots=True)
class ContainerUsage:
    """The highest usage of a container in `pods` measured pods."""

    pods: int
    amounts: Sequence[ResourceAmount]


@dataclass(frozen=True, slots=True)
class CurrentUsage:
    """Usage by container. `note` is the reason if it is missing."""

    by_container: Mapping[str, ContainerUsage] = field(default_factory=dict)
    note: str = ""


def current_usage(subject: Subject) -> CurrentUsage:
    """Return the usage of a workload's pods that the viewer can list, by container of the template."""
    pods, reading = running_pods(subject), pod_usage_reading(subject)
    if reading is None or reading.note is not None:
        return CurrentUsage(note=str(reading.note.text) if reading and reading.note else "")
    found = {}
    for container in running_containers(subject.entry.original()):
        keys = (ContainerKey(entry.key, container.name) for entry in pods)
        used = [one for key in keys if (one := reading.container(key)) is not None]
        amounts = resource_amounts(_most(used), bounds_of(container.spec))
        found[container.name] = ContainerUsage(len(used), amounts)
    return CurrentUsage(found)


def _most(used: Sequence[ResourceUsage]) -> ResourceUsage | None:
    if not used:
        return None
    return ResourceUsage(max(one.cpu for one in used), max(one.memory for one in used))
