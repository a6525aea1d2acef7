"""The pods on a node and their resource requests."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import PODS, Key
from console.kube.indexes import indexes_of
from console.kube.projections.pod import Pod
from console.kube.projections.reserved import NO_RESOURCES
from console.kube.quantity import parse_quantity
from console.kube.store import Entry
from console.ui.amounts import bytes_text, cores_text, number_text
from console.ui.panels import Panel
from console.ui.relations.bars import Bar
from console.ui.relations.seeing import ObjectLine, VisibleType
from console.ui.subject import Subject

#: Maximum pods shown, those with the largest requests first. A node rarely has more than 110.
MOST = 50
#: Percentage from which a bar is a warning.
NEARLY_FULL = 90


@dataclass(frozen=True, slots=True)
class NodePod:
    line: ObjectLine
    cpu: str
    memory: str


@dataclass(frozen=True, kw_only=True)
class PodsPanel(Panel):
    """Pods on a node. The bars count only pods that the viewer can list, and a note says so if pods
    may be missing.
    """

    id: str = "pods"
    title: str | Promise = gettext_lazy("Pods on this node")
    also = (PODS,)

    def html(self, subject: Subject) -> SafeString:
        seeing = VisibleType(subject, PODS)
        if seeing.informer is None or seeing.not_listable:
            return SafeString("")
        found = seeing.only_visible(indexes_of(seeing.informer.store).by_node.get(subject.key.name))
        placed = sorted(found, key=_most_first)
        # Terminated pods are listed but use no resources.
        running = [held for entry in placed if (held := entry.projection.reserved) is not None]
        node = subject.entry.projection
        cpu, memory = sum(held.cpu for held in running), sum(held.memory for held in running)
        context = {
            "bars": (
                _bar(_("CPU requested"), _cores(cpu), node.cpu, cores_text),
                _bar(_("Memory requested"), Decimal(memory), node.memory, bytes_text),
                _bar(_("Pods"), Decimal(len(running)), node.pods, number_text),
            ),
            "partial": seeing.readable.namespaces is not None,
            "pods": [_placed(seeing, entry) for entry in placed[:MOST]],
            "total": len(found),
            "more": max(0, len(found) - MOST),
            "url": seeing.all_url(("node", subject.key.name)),
        }
        return render_to_string("ui/relations/node_pods.html", context)


def _most_first(entry: Entry[Pod]) -> tuple[int, int, Key]:
    held = entry.projection.reserved or NO_RESOURCES
    return (-held.cpu, -held.memory, entry.key)


def _placed(seeing: VisibleType, entry: Entry[Pod]) -> NodePod:
    held = entry.projection.reserved or NO_RESOURCES
    return NodePod(
        seeing.line(entry), cores_text(_cores(held.cpu)), bytes_text(Decimal(held.memory))
    )


def _cores(thousandths: int) -> Decimal:
    return Decimal(thousandths) / 1000


def _bar(label: str, used: Decimal, whole: str, text: Callable[[Decimal], str]) -> Bar:
    amount = parse_quantity(whole)
    if not amount or amount < 0:
        return Bar(label, text(used), "", None)
    share = int(min(used / amount, Decimal(100)) * 100)
    level = "error" if share > 100 else "warn" if share >= NEARLY_FULL else "ok"
    return Bar(label, text(used), text(amount), share, level)
