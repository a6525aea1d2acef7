"""The objects that an object owns, over several generations."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR
from console.kube.store import Entry
from console.ui.kind import ResourceKind
from console.ui.panels import Panel
from console.ui.relations.owning import owned_by, owned_types
from console.ui.relations.seeing import FIRST, ObjectLine, VisibleType
from console.ui.relations.words import title_of
from console.ui.subject import Subject

#: Maximum generations shown below the object.
DEEPEST = 3


@dataclass(frozen=True, slots=True)
class Branch:
    """Objects of one type with the same owner. `total` counts the visible objects, and `url` is the
    list of all of them.
    """

    title: str | Promise
    total: int
    nodes: tuple["Node", ...]
    url: str

    @property
    def more(self) -> int:
        return self.total - len(self.nodes)


@dataclass(frozen=True, slots=True)
class Node:
    line: ObjectLine
    branches: tuple[Branch, ...]


@dataclass(frozen=True, kw_only=True)
class OwnedPanel(Panel):
    id: str = "owned"
    title: str | Promise = gettext_lazy("Owns")

    def needs(self, kind: ResourceKind) -> Collection[GVR]:
        return owned_types(kind)

    def html(self, subject: Subject) -> SafeString:
        branches = branches_of(subject, subject.kind, subject.entry, DEEPEST)
        if not branches:
            return SafeString("")
        return render_to_string("ui/relations/tree.html", {"branches": branches})


def branches_of(
    subject: Subject, kind: ResourceKind | None, owner: Entry[Any], depth: int
) -> tuple[Branch, ...]:
    """Return the visible objects owned by `owner`, down to `depth` generations."""
    found: list[Branch] = []
    if kind is None or not depth:
        return ()
    for owned in kind.owns:
        seeing = VisibleType(subject, owned)
        entries = owned_by(owner, seeing)
        if not entries:
            continue
        nodes = tuple(
            Node(
                seeing.line(entry, seeing.kind.note_among_owned(entry) if seeing.kind else ""),
                branches_of(subject, seeing.kind, entry, depth - 1),
            )
            for entry in entries[:FIRST]
        )
        found.append(Branch(title_of(owned), len(entries), nodes, _owned_url(seeing, kind, owner)))
    return tuple(found)


def _owned_url(seeing: VisibleType, kind: ResourceKind, owner: Entry[Any]) -> str:
    if seeing.kind is None or not any(item.param == "owner" for item in seeing.kind.every_filter):
        return ""
    key = owner.key
    return seeing.all_url(("namespace", key.namespace), ("owner", f"{kind.api_kind}/{key.name}"))
