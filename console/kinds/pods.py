"""The Pod kind."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.debugging import Debug
from console.actions.eviction import Evict
from console.actions.workloads.base import SPEC_NAMES
from console.kube.gvr import NODES, POD_METRICS, PODS, Key
from console.kube.projections.pod import Pod
from console.kube.status import Severity
from console.kube.store import Entry
from console.logs.peek import last_lines
from console.proxying.actions import OpenPort
from console.ui import lists
from console.ui.core.access import Access
from console.ui.core.action_texts import Fact, owner_fact, status_fact
from console.ui.core.container_actions import EXEC, READ_LOG, OpenTerminal, ShowLog
from console.ui.core.deleting import DeletePod
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.links import files_url, label_log_url
from console.ui.core.registry import register
from console.ui.core.text import escape_invisible
from console.ui.details.panels.ports import FORWARD, PortsPanel
from console.ui.details.panels.standard import kind_panels
from console.ui.details.relations.usage_panels import PodUsagePanel
from console.ui.diagnosis.diagnosis import diagnose
from console.views.peek import peek_part


def cpu_limit_of(pod: Pod) -> str:
    """Return the CPU limit of a pod with a single container, or "". With several containers, some
    may have no limit.
    """
    held = pod.reserved
    return f"{held.cpu_limit}m" if held is not None and pod.containers == 1 else ""


def memory_limit_of(pod: Pod) -> str:
    """Return the memory limit of a pod with a single container, or ""."""
    held = pod.reserved
    return str(held.memory_limit) if held is not None and pod.containers == 1 else ""


@register
@peek_part(last_lines)
@kind_panels(PodUsagePanel(), last=(PortsPanel(),))
class PodKind(ResourceKind):
    gvr, scope, nav = PODS, Scope.NAMESPACED, Nav("workloads", 10, "pods")
    short_names = ("po",)
    projection = Pod
    addressable_by_kind_name = True
    created_by_operators = True
    checked_for_problems = True
    states_with_logs = frozenset({"Crash loop", "Failed", "Out of memory", "Not ready"})
    referenced_types = (*SPEC_NAMES, NODES)
    pod_spec = ("spec",)
    title = gettext_lazy("Pods")
    singular = gettext_lazy("pod")
    nouns = gettext_lazy("pods")
    example = {"spec": {"containers": [{"name": "app", "image": "nginx"}]}}
    severity_words = {Severity.OK: gettext_lazy("Running")}
    columns = (
        lists.NameColumn(owner=lambda pod: pod.owner),
        lists.NamespaceColumn(),
        lists.StatusColumn(),
        lists.RatioColumn(
            id="ready",
            label=gettext_lazy("Ready"),
            part=lambda pod: pod.ready,
            whole=lambda pod: pod.containers,
        ),
        lists.NumberColumn(id="restarts", label=gettext_lazy("Restarts"), priority=2),
        lists.LinkColumn(
            id="node",
            label=gettext_lazy("Node"),
            priority=3,
            to=lambda pod: lists.target_of(f"Node/{pod.node}", ""),
            leads_to=("nodes",),
        ),
        lists.IpColumn(id="ip", label=gettext_lazy("IP"), priority=4),
    )
    metrics = POD_METRICS
    measured = (
        lists.UsageColumn(
            id="cpu_used",
            label=gettext_lazy("CPU"),
            amount="cpu",
            after="restarts",
            whole=cpu_limit_of,
        ),
        lists.UsageColumn(
            id="memory_used",
            label=gettext_lazy("Memory"),
            amount="memory",
            after="restarts",
            whole=memory_limit_of,
        ),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name, label, image, node or IP"),
        texts=lambda pod: (pod.node, pod.ip, *pod.images),
    )
    filters = (
        lists.STATE,
        lists.FieldFilter(param="node", label=gettext_lazy("Node")),
        lists.IMAGE,
        lists.OWNER,
        lists.USES,
    )
    actions = (ShowLog(), OpenTerminal(), Debug(), Evict(), OpenPort(), DeletePod())
    panels_ask = FORWARD

    def tab_pages(self, access: Access, key: Key) -> Sequence[tuple[str | Promise, str]]:
        if not all(one.granted(access, self.gvr, key) for one in EXEC):
            return ()
        return ((gettext_lazy("Files"), files_url(access.cluster.name, self.segment, key)),)

    def diagnosis(self, entry: Entry[Any], manifest: Mapping[str, Any], access: Access) -> str:
        found = diagnose(manifest)
        return str(found.text) if found is not None else ""

    def owner(self, item: Pod) -> str:
        """Return the owner of a pod. For a deployment's pod, this is the deployment.

        The ReplicaSet's name consists of the deployment's name and the pod-template-hash label,
        so no ReplicaSet has to be read.
        """
        word, _slash, name = item.owner.partition("/")
        made = item.labels.get("pod-template-hash", "") if word == "ReplicaSet.apps" else ""
        if made and name.endswith(f"-{made}"):
            return f"Deployment.apps/{name.removesuffix(f'-{made}')}"
        return item.owner

    def logs_url(self, access: Access, namespaces: Sequence[str], labels: Sequence[str]) -> str:
        """Return the URL of the combined logs of pods selected by labels in a single project, or
        "".
        """
        if not labels or len(namespaces) != 1:
            return ""
        [namespace] = namespaces
        if not READ_LOG.granted(access, self.gvr, Key(namespace, "")):
            return ""
        return label_log_url(access.cluster.name, namespace, ",".join(labels))

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        pod: Pod = entry.projection
        return [
            status_fact(pod.status),
            (_("Node"), escape_invisible(pod.node) or _("none yet")),
            owner_fact(pod.owner),
        ]
