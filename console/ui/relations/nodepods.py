"""The pods that are placed on a node, and what they ask of it."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR, PODS
from console.kube.indexes import indexes_of
from console.kube.quantity import parse_quantity
from console.kube.store import Entry
from console.ui.amounts import bytes_text, cores_text, number_text
from console.ui.panels import Panel
from console.ui.relations.requests import Requests, requests_of, total
from console.ui.relations.seeing import Line, Seeing
from console.ui.subject import Subject

#: Pods that are shown, those that ask for most first; a node has seldom more than 110.
MOST = 50


@dataclass(frozen=True, slots=True)
class Bar:
    """`share` of the whole, in percent; None where there is no whole. `full`: it is nearly used up."""

    label: str | Promise
    used: str
    whole: str
    share: int | None

    @property
    def width(self) -> int:
        return min(100, self.share or 0)

    @property
    def level(self) -> str:
        """A word for the colour: nothing is said by it that the figures do not say."""
        return "error" if (self.share or 0) > 100 else "warn" if (self.share or 0) >= 90 else "ok"


@dataclass(frozen=True, slots=True)
class Placed:
    line: Line
    cpu: str
    memory: str


@dataclass(frozen=True, kw_only=True)
class PodsPanel(Panel):
    """Bars count the pods that the viewer may list, and say so if these need not be all."""

    id: str = "pods"
    title: str | Promise = gettext_lazy("Pods on this node")

    def needs(self) -> Collection[GVR]:
        return (PODS,)

    def html(self, subject: Subject) -> SafeString:
        seeing = Seeing(subject, PODS)
        if seeing.informer is None or seeing.nothing:
            return SafeString("")
        found = seeing.among(indexes_of(seeing.informer.store).by_node.get(subject.key.name))
        asked = [(entry, requests_of(entry)) for entry in found]
        asked.sort(key=_most_first)
        running = [requests for _entry, requests in asked if requests is not None]
        node, whole = subject.entry.projection, total(running)
        context = {
            "bars": (
                _bar(_("CPU requested"), whole.cpu, node.cpu, cores_text),
                _bar(_("Memory requested"), whole.memory, node.memory, bytes_text),
                _bar(_("Pods"), Decimal(len(running)), node.pods, number_text),
            ),
            "partial": seeing.readable.namespaces is not None,
            "pods": [_placed(seeing, entry, requests) for entry, requests in asked[:MOST]],
            "total": len(found),
            "more": max(0, len(found) - MOST),
            "url": seeing.all_url(("node", subject.key.name)),
        }
        return render_to_string("ui/relations/node_pods.html", context)


def _most_first(asked: tuple[Entry[Any], Requests | None]) -> tuple[Any, ...]:
    entry, requests = asked
    amounts = requests or Requests()
    return (-amounts.cpu, -amounts.memory, entry.key)


def _placed(seeing: Seeing, entry: Entry[Any], requests: Requests | None) -> Placed:
    cpu, memory = requests or Requests()
    return Placed(seeing.line(entry), cores_text(cpu), bytes_text(memory))


def _bar(label: str, used: Decimal, whole: str, text: Callable[[Decimal], str]) -> Bar:
    amount = parse_quantity(whole)
    if not amount or amount < 0:
        return Bar(label, text(used), "", None)
    return Bar(label, text(used), text(amount), int(min(used / amount, Decimal(100)) * 100))
