"""Read quotas of workspaces and projects from the cache and from form input."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from console.kube.gvr import NAMESPACES, RESOURCE_QUOTAS, WORKSPACE_QUOTAS, Key
from console.kube.host_runtime import get_runtime
from console.kube.indexes import indexes_of
from console.kube.projections.namespace import WORKSPACE_LABEL, Namespace
from console.kube.projections.tenancy import WorkspaceQuota
from console.kube.quantity import Amounts, lowest, parse_amounts, parse_quantity
from console.kube.store import Entry
from console.ui.core.clusters import clusters
from console.ui.core.kind_names import amount_text, resource_label
from console.ui.core.text import escape_invisible
from console.ui.usage.gauges import usage_severity
from workspaces.names import SHARE

#: Resources in the quota forms: KubeSphere's keys in its order.
RESOURCES = (
    "requests.cpu",
    "limits.cpu",
    "requests.memory",
    "limits.memory",
    "pods",
    "persistentvolumeclaims",
    "requests.storage",
    "services",
)


@dataclass(frozen=True, slots=True)
class QuotaUsage:
    """Usage and limit of one resource. `width` is the usage in percent, at most 100."""

    resource: str
    used: Decimal
    hard: Decimal

    @property
    def label(self) -> str:
        return escape_invisible(resource_label(clusters.host.kinds, self.resource))

    @property
    def used_text(self) -> str:
        return amount_text(self.resource, self.used)

    @property
    def hard_text(self) -> str:
        return amount_text(self.resource, self.hard)

    @property
    def share(self) -> int:
        return int(self.used * 100 / self.hard) if self.hard else 100 if self.used else 0

    @property
    def width(self) -> float:
        return min(100.0, float(self.share))

    @property
    def pressure(self) -> str:
        return usage_severity(self.share)

    @property
    def reached(self) -> bool:
        return self.used >= self.hard


def projects_of(workspace: str) -> list[Namespace]:
    """Return the workspace's projects, sorted by name."""
    store = get_runtime().informer(NAMESPACES).store
    found = indexes_of(store).by_label.get(f"{WORKSPACE_LABEL}={workspace}")
    return sorted((entry.projection for entry in found), key=lambda project: project.name)


def workspace_quota(workspace: str) -> Entry[WorkspaceQuota] | None:
    """Return the quota object of the workspace. KubeSphere's console gives it the name of the
    workspace.
    """
    found: Entry[WorkspaceQuota] | None
    found = get_runtime().informer(WORKSPACE_QUOTAS).store.get(Key("", workspace))
    return found


def workspace_hard(workspace: str) -> Amounts:
    """Return the lowest limit of each resource if there are several quotas, as the controllers do."""
    store = get_runtime().informer(WORKSPACE_QUOTAS).store
    entries = store.snapshot().entries.values()
    return lowest(
        parse_amounts(entry.projection.hard)
        for entry in entries
        if entry.projection.workspace == workspace and entry.projection.deleted is None
    )


def workspace_usage(workspace: str) -> list[QuotaUsage]:
    """Return the usage of the workspace quota: the sum of the usage of the project shares that
    kube-apiserver reports.
    """
    hard = workspace_hard(workspace)
    shares = [_status(project.name, SHARE) for project in projects_of(workspace)]
    return [
        QuotaUsage(name, sum((one.get(name, Decimal(0)) for one in shares), Decimal(0)), hard[name])
        for name in order_resources(hard)
    ]


def project_usage(project: str, quota: str) -> list[QuotaUsage]:
    """Return the usage of one of the project's quotas."""
    entry = quota_entry(project, quota)
    if entry is None:
        return []
    hard = parse_amounts((entry.original().get("spec") or {}).get("hard"))
    used = _status(project, quota)
    return [
        QuotaUsage(name, used.get(name, Decimal(0)), hard[name]) for name in order_resources(hard)
    ]


def quota_entry(project: str, quota: str) -> Entry[Any] | None:
    return get_runtime().informer(RESOURCE_QUOTAS).store.get(Key(project, quota))


def own_quotas(workspace: str, *, but: str) -> Iterator[Amounts]:
    """Yield the limits that the projects of a workspace have by their own quotas, except for
    project `but`.
    """
    store = get_runtime().informer(RESOURCE_QUOTAS).store
    for project in projects_of(workspace):
        if project.name == but or project.deleted is not None:
            continue
        yield lowest(
            parse_amounts((entry.original().get("spec") or {}).get("hard"))
            for entry in indexes_of(store).by_namespace.get(project.name)
            if entry.key.name != SHARE
        )


def order_resources(amounts: Mapping[str, Any]) -> list[str]:
    """Return the resource names: those in the forms first, the others sorted by name."""
    known = {name: at for at, name in enumerate(RESOURCES)}
    return sorted(amounts, key=lambda name: (known.get(name, len(known)), name))


def parse_amount(text: str) -> Decimal | None:
    """Parse an amount. Return None if it is not valid in a quota."""
    amount = parse_quantity(text)
    return amount if amount is not None and amount >= 0 else None


def _status(project: str, quota: str) -> Amounts:
    entry = quota_entry(project, quota)
    status = (entry.original().get("status") or {}) if entry is not None else {}
    return parse_amounts(status.get("used"))
