"""What the kinds of workloads have in common."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.utils.translation import gettext_lazy

from console.kube.gvr import (
    CONFIG_MAPS,
    GVR,
    PERSISTENT_VOLUME_CLAIMS,
    PRIORITY_CLASSES,
    SECRETS,
    SERVICE_ACCOUNTS,
)
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.columns import (
    ContainersColumn,
    ImagesColumn,
    NumberColumn,
    RatioColumn,
    SelectorColumn,
)
from console.ui.facts import Fact, owner_fact, pods_fact, ready_fact, status_fact
from console.ui.filters import IMAGE, OWNER, STATE, USES, Filter, SearchFilter
from console.ui.kind import ResourceKind

READY = RatioColumn(
    id="ready",
    label=gettext_lazy("Ready"),
    part=lambda item: item.ready,
    whole=lambda item: item.desired,
)
UPDATED = NumberColumn(id="updated", label=gettext_lazy("Up to date"), priority=3)
AVAILABLE = NumberColumn(id="available", label=gettext_lazy("Available"), priority=3)
#: Of the template of its pods.
TEMPLATE = (ImagesColumn(), ContainersColumn(), SelectorColumn())
#: Examples: what keeps pods running, and what runs them once.
OF_PODS: Mapping[str, Any] = {
    "selector": {"matchLabels": {"app": "example"}},
    "template": {
        "metadata": {"labels": {"app": "example"}},
        "spec": {"containers": [{"name": "app", "image": "nginx"}]},
    },
}
RUN: Mapping[str, Any] = {
    "template": {
        "spec": {
            "restartPolicy": "Never",
            "containers": [{"name": "app", "image": "busybox", "command": ["date"]}],
        }
    }
}


#: What the specification of pods may name.
SPEC_NAMES = (
    CONFIG_MAPS,
    SECRETS,
    PERSISTENT_VOLUME_CLAIMS,
    SERVICE_ACCOUNTS,
    PRIORITY_CLASSES,
)


class WorkloadKind(ResourceKind):
    """`facts` are those of what keeps a number of pods running."""

    by_kind = True
    names: ClassVar[Sequence[GVR]] = SPEC_NAMES
    pod_spec: ClassVar[tuple[str, ...]] = ("spec", "template", "spec")
    severity_words = {Severity.OK: gettext_lazy("Running")}
    search = SearchFilter(
        covers=gettext_lazy("Name, label or image"), texts=lambda item: item.images
    )
    filters: ClassVar[Sequence[Filter]] = (STATE, IMAGE, OWNER, USES)

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        item = entry.projection
        return [
            status_fact(item.status),
            ready_fact(item.ready, item.desired),
            pods_fact(),
            owner_fact(item.owner),
        ]
