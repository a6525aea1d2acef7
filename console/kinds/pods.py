"""Pods."""

import socket
import sys
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import PODS
from console.kube.projections.pod import Pod
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.actions import Delete
from console.ui.columns import (
    AgeColumn,
    NameColumn,
    NamespaceColumn,
    NumberColumn,
    StatusColumn,
    TextColumn,
)
from console.ui.filters import LabelFilter, NamespaceFilter, SearchFilter, StatusFilter
from console.ui.kind import Fact, Nav, ResourceKind, Scope
from console.ui.registry import register
from console.ui.text import visible
from console.ui.words import translate


def ready_text(pod: Pod) -> str:
    return f"{pod.ready}/{pod.containers}"


def ready_order(pod: Pod) -> tuple[float, int]:
    """The least ready first; among equals the smaller pod."""
    return (pod.ready / pod.containers if pod.containers else 0.0, pod.containers)


def ip_order(pod: Pod) -> tuple[int, bytes]:
    """IPv4 by number, then IPv6, then those without an address."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            return family, socket.inet_pton(family, pod.ip)
        except OSError:
            continue
    return sys.maxsize, b""


@register
class PodKind(ResourceKind):
    gvr, scope, nav = PODS, Scope.NAMESPACED, Nav("workloads", 10)
    projection = Pod
    title = gettext_lazy("Pods")
    singular = gettext_lazy("pod")
    nouns = gettext_lazy("pods")
    severity_words = {Severity.OK: gettext_lazy("Running")}
    columns = (
        NameColumn(owner=lambda pod: pod.owner),
        NamespaceColumn(),
        StatusColumn(),
        TextColumn(
            id="ready",
            label=gettext_lazy("Ready"),
            align="end",
            priority=2,
            get=ready_text,
            order=ready_order,
        ),
        NumberColumn(
            id="restarts", label=gettext_lazy("Restarts"), priority=2, get=lambda pod: pod.restarts
        ),
        TextColumn(id="node", label=gettext_lazy("Node"), priority=3, get=lambda pod: pod.node),
        TextColumn(
            id="ip", label=gettext_lazy("IP"), priority=3, get=lambda pod: pod.ip, order=ip_order
        ),
        AgeColumn(priority=1),
    )
    filters = (
        SearchFilter(texts=lambda pod: (pod.node, pod.ip, *pod.images)),
        NamespaceFilter(),
        LabelFilter(),
        StatusFilter(),
    )
    actions = (Delete(),)

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        pod: Pod = entry.projection
        status = translate(pod.status.word)
        return [
            (_("Status"), f"{status} {visible(pod.status.reason)}".strip()),
            (_("Node"), pod.node or _("none yet")),
            (_("Managed by"), _managed(pod)),
        ]


def _managed(pod: Pod) -> str:
    if not pod.owner:
        return _("nobody: nothing will create it again")
    kind, _slash, name = pod.owner.partition("/")
    return _("%(kind)s %(name)s, which will create a new one") % {"kind": kind, "name": name}
