"""Base classes, columns, examples and containers of workloads and their actions."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.group_kind import without_group
from console.kube.gvr import (
    CONFIG_MAPS,
    GVR,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    PRIORITY_CLASSES,
    SECRETS,
    SERVICE_ACCOUNTS,
)
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.action_texts import Fact, owner_fact, pods_fact, ready_fact, status_fact
from console.ui.core.actions import Action
from console.ui.core.kind import FindCause, ResourceKind
from console.ui.core.manifests import mappings_at
from console.ui.core.registry import kinds
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.details.detail import start_informers
from console.ui.details.relations.owners import owned_types
from console.ui.details.relations.rollout import pods_cause
from console.ui.lists.columns import (
    ContainersColumn,
    ImagesColumn,
    NumberColumn,
    PodsCause,
    RatioColumn,
    SelectorColumn,
)
from console.ui.lists.filters import IMAGE, OWNER, STATE, USES, Filter, SearchFilter


class WorkloadAction(Action):
    def facts(self, kind: ResourceKind, entry: Entry[Any]) -> Sequence[Fact]:
        """Return the facts of the object, including the owner that may revert changes."""
        item, found = entry.projection, [*super().facts(kind, entry)]
        if hasattr(item, "desired"):
            found.append(ready_fact(item.ready, item.desired))
        if item.owner:
            found.append((_("Managed by"), escape_invisible(without_group(item.owner))))
        return found


READY = RatioColumn(
    id="ready",
    label=gettext_lazy("Ready"),
    part=lambda item: item.ready,
    whole=lambda item: item.desired,
)
UPDATED = NumberColumn(id="updated", label=gettext_lazy("Up to date"), priority=3)
AVAILABLE = NumberColumn(id="available", label=gettext_lazy("Available"), priority=3)
#: Columns of the pod template.
TEMPLATE = (ImagesColumn(), ContainersColumn(), SelectorColumn())
#: Specs of example manifests: for workloads that keep pods running, and for jobs.
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


#: Groups of containers in a pod template that users can edit.
GROUPS = ("containers", "initContainers")
TEMPLATE_PATH = ("spec", "template", "spec")


def template_containers(
    manifest: Mapping[str, Any],
) -> Iterator[tuple[str, int, str, Mapping[str, Any]]]:
    """Yield the group, index, name and manifest of the pod template's containers, init containers
    last.
    """
    for group in GROUPS:
        for at, found in enumerate(mappings_at(manifest, *TEMPLATE_PATH, group)):
            if isinstance(name := found.get("name"), str):
                yield group, at, name, found


#: Types that a pod spec can refer to.
SPEC_NAMES = (
    CONFIG_MAPS,
    SECRETS,
    PERSISTENT_VOLUME_CLAIMS,
    SERVICE_ACCOUNTS,
    PRIORITY_CLASSES,
)


class WorkloadKind(ResourceKind):
    """Base of workload kinds. The default `facts` are for kinds with a number of replicas."""

    addressable_by_kind_name = True
    referenced_types: ClassVar[Sequence[GVR]] = SPEC_NAMES
    pod_spec: ClassVar[tuple[str, ...]] = TEMPLATE_PATH
    severity_words = {Severity.OK: gettext_lazy("Running")}
    search = SearchFilter(
        covers=gettext_lazy("Name, label or image"), texts=lambda item: item.images
    )
    filters: ClassVar[Sequence[Filter]] = (STATE, IMAGE, OWNER, USES)

    @cached_property
    def checked_permissions(self) -> frozenset[tuple[str, GVR, str]]:
        """The permissions of the kind and of pods, because the overview shows rows of the pod list and
        the list shows problems of pods.
        """
        pods = kinds.by_type(PODS)
        found: frozenset[tuple[str, GVR, str]] = super().checked_permissions
        found |= {("list", gvr, "") for gvr in self.cause_types()}
        return found | pods.checked_permissions if pods is not None else found

    def cause_types(self) -> Collection[GVR]:
        """Return the types of the pods and of their owners, for kinds that create pods themselves or
        through revisions.
        """
        return owned_types(self) if PODS in self.owns or self.revisions is not None else ()

    def cause_finder(self, access: Access) -> FindCause | None:
        types = self.cause_types()
        if not types:
            return None
        informers = start_informers(types, access)

        def find(entry: Entry[Any]) -> PodsCause | None:
            return pods_cause(
                Subject(self, entry.key, entry, access, informers, access.cluster.name)
            )

        return find

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        item = entry.projection
        return [
            status_fact(item.status),
            ready_fact(item.ready, item.desired),
            pods_fact(),
            owner_fact(item.owner),
        ]
