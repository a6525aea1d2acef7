"""What an object owns, and what those own in turn."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube import gvr as types
from console.kube.gvr import GVR
from console.kube.store import Entry
from console.ui.panels import Panel
from console.ui.relations.owning import OF_CUSTOMS, OWNED, owned_by
from console.ui.relations.references import KINDS
from console.ui.relations.seeing import FIRST, Line, Seeing
from console.ui.relations.words import title_of
from console.ui.subject import Subject

_KIND_OF = {gvr: kind for kind, gvr in KINDS.items()}
#: Generations that are shown, the object itself left out.
DEEPEST = 3


@dataclass(frozen=True, slots=True)
class Branch:
    """Objects of one type with the same owner. `total`: of those that may be seen; `url`: all of them."""

    title: str | Promise
    total: int
    nodes: tuple["Node", ...]
    url: str

    @property
    def more(self) -> int:
        return self.total - len(self.nodes)


@dataclass(frozen=True, slots=True)
class Node:
    line: Line
    branches: tuple[Branch, ...]


@dataclass(frozen=True, kw_only=True)
class OwnedPanel(Panel):
    """`gvr`: the kind whose objects it is shown for."""

    id: str = "owned"
    title: str | Promise = gettext_lazy("Owns")
    gvr: GVR

    def needs(self) -> Collection[GVR]:
        return owned_types(self.gvr)

    def html(self, subject: Subject) -> SafeString:
        branches = branches_of(subject, self.gvr, subject.entry, DEEPEST)
        if not branches:
            return SafeString("")
        return render_to_string("ui/relations/tree.html", {"branches": branches})


def owned_types(gvr: GVR) -> Collection[GVR]:
    """Those of all that an object of type `gvr` may own, over all generations."""
    found = dict.fromkeys(_next(gvr))
    for one in tuple(found):
        found |= dict.fromkeys(owned_types(one))
    return found


def _next(gvr: GVR) -> Collection[GVR]:
    return OWNED.get(gvr, () if gvr.group in types.BUILT_IN_GROUPS else OF_CUSTOMS)


def branches_of(subject: Subject, gvr: GVR, owner: Entry[Any], depth: int) -> tuple[Branch, ...]:
    """What `owner`, of type `gvr`, owns: so many generations of it."""
    found = []
    for owned in _next(gvr) if depth else ():
        seeing = Seeing(subject, owned)
        entries = owned_by(owner, seeing)
        if not entries:
            continue
        nodes = tuple(
            Node(
                seeing.line(entry, _note(owned, entry)),
                branches_of(subject, owned, entry, depth - 1),
            )
            for entry in entries[:FIRST]
        )
        found.append(Branch(title_of(owned), len(entries), nodes, _url(seeing, gvr, owner)))
    return tuple(found)


def _note(gvr: GVR, entry: Entry[Any]) -> str:
    revision = entry.projection.revision if gvr == types.REPLICA_SETS else None
    return _("revision %(number)s") % {"number": revision} if revision is not None else ""


def _url(seeing: Seeing, gvr: GVR, owner: Entry[Any]) -> str:
    if seeing.kind is None or not any(item.param == "owner" for item in seeing.kind.filters):
        return ""
    key, kind = owner.key, _KIND_OF.get(gvr) or seeing.subject.kind.api_kind
    return seeing.all_url(("namespace", key.namespace), ("owner", f"{kind}/{key.name}"))
