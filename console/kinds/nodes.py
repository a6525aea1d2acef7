"""The Node kind. Columns as in `kubectl get nodes -o wide`, plus KubeSphere's capacity columns."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.node_shell import NodeShell, NodeShellPanel
from console.actions.nodes import Cordon, EditTaints, Uncordon
from console.draining.actions import Drain, ResumeDrain, StopDrain
from console.draining.progress import progress_html
from console.kube.gvr import NODE_METRICS, NODES, PODS
from console.kube.projections.node import Node
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact, status_fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.details.descriptions.nodes import node
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels
from console.ui.details.relations.node_panels import NodeCapacityPanel, PodsPanel
from console.wizards.nodes import NODE


@register
@kind_panels(
    NodeCapacityPanel(),
    around=(PodsPanel(),),
    last=(DescriptionPanel(describe=node), NodeShellPanel()),
)
class NodeKind(ResourceKind):
    gvr, scope, nav = NODES, Scope.CLUSTER, Nav("cluster", 10, "nodes")
    short_names = ("no",)
    projection = Node
    can_be_copied = False
    addressable_by_kind_name = True
    checked_for_problems = True
    types_with_own_panel = (PODS,)
    title = gettext_lazy("Nodes")
    singular = gettext_lazy("node")
    nouns = gettext_lazy("nodes")
    severity_words = {
        Severity.ERROR: gettext_lazy("Not ready"),
        Severity.WARN: gettext_lazy("Under pressure"),
        Severity.OK: gettext_lazy("Ready"),
        Severity.PAUSED: gettext_lazy("Cordoned"),
    }
    columns = (
        lists.StatusColumn(),
        lists.ListColumn(id="roles", label=gettext_lazy("Roles"), most=2),
        lists.TextColumn(id="version", label=gettext_lazy("Version"), priority=2),
        lists.IpColumn(id="internal_ip", label=gettext_lazy("Internal IP"), priority=3),
        lists.QuantityColumn(id="cpu", label=gettext_lazy("CPU"), priority=3, unit="cores"),
        lists.QuantityColumn(id="memory", label=gettext_lazy("Memory"), priority=3, unit="bytes"),
        lists.QuantityColumn(
            id="pods", label=gettext_lazy("Pod capacity"), priority=3, unit="pieces"
        ),
        lists.ListColumn(id="taints", label=gettext_lazy("Taints"), priority=3),
        lists.IpColumn(id="external_ip", label=gettext_lazy("External IP"), priority=4),
        lists.TextColumn(id="os", label=gettext_lazy("Operating system"), priority=4),
        lists.TextColumn(id="architecture", label=gettext_lazy("Architecture"), priority=4),
        lists.TextColumn(id="kernel", label=gettext_lazy("Kernel"), priority=4),
        lists.TextColumn(id="runtime", label=gettext_lazy("Container runtime"), priority=4),
    )
    metrics = NODE_METRICS
    measured = (
        lists.UsageColumn(
            id="cpu_used",
            label=gettext_lazy("CPU used"),
            amount="cpu",
            after="cpu",
            priority=2,
            whole=lambda item: item.cpu,
        ),
        lists.UsageColumn(
            id="memory_used",
            label=gettext_lazy("Memory used"),
            amount="memory",
            after="memory",
            priority=2,
            whole=lambda item: item.memory,
        ),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name, label, IP, version or taint"),
        texts=lambda item: (
            item.internal_ip,
            item.external_ip,
            item.version,
            item.os,
            item.runtime,
            *item.taints,
        ),
    )
    filters = (
        lists.STATE,
        lists.FieldFilter(param="role", label=gettext_lazy("Role"), get=lambda item: item.roles),
        lists.FieldFilter(param="version", label=gettext_lazy("Version")),
    )
    actions = (
        Cordon(),
        Uncordon(),
        Drain(),
        StopDrain(),
        ResumeDrain(),
        EditTaints(),
        NodeShell(),
        Delete(),
    )
    wizard = NODE
    confirm_by_name = True
    progress = staticmethod(progress_html)

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        item: Node = entry.projection
        return [
            status_fact(item.status),
            text_fact(_("Roles"), item.roles),
            (_("Pods"), _("are lost, including pods that no controller recreates")),
            (_("Machine"), _("keeps running; its kubelet may register the node again")),
        ]
