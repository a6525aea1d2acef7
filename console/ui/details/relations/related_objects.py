"""The map of an object: its owners, owned objects, references and selectors, in both
directions.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR, PODS, Key
from console.kube.store import Entry
from console.ui.core.kind import Reference, ResourceKind
from console.ui.core.subject import Subject
from console.ui.details.panels import Panel
from console.ui.details.relations.object_panels import used_by
from console.ui.details.relations.owners import (
    owned_by,
    owned_types,
    owner_types,
    owners_of,
    pods_selected,
    selecting_types,
)
from console.ui.details.relations.references import references, referring_types
from console.ui.details.relations.visible_type import ObjectLine, VisibleType, how_text

#: Maximum objects shown of each sort: about 30 including the object itself and its owners.
MOST_USERS, MOST_OWNED, MOST_OF_THOSE, MOST_USED = 7, 6, 5, 7


@dataclass(frozen=True, slots=True)
class RelatedObject:
    """An object on the map.

    `column` is 0 for the object itself and negative for owners and users. `of` is the index of
    the object to which this one is connected. `says` describes the relation.
    """

    column: int
    kind: str | Promise
    line: ObjectLine
    of: int
    says: str


class RelatedObjects:
    """The related objects of a subject. `found[0]` is the object itself. `more` contains the number
    of omitted objects by column.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self.found: list[RelatedObject] = []
        self.more: dict[int, int] = {}
        self._above = list(owners_of(subject))
        self._mentions: dict[tuple[GVR, Key], list[Reference]] = {}
        for ref in references(subject.kind.gvr, subject.entry):
            self._mentions.setdefault((ref.gvr, ref.key), []).append(ref)
        self._add(0, subject.kind.gvr, self._line(subject.kind.gvr, subject.entry), 0, "")
        self._owners()
        self._users()
        self._owned()
        self._used()

    def _add(self, column: int, gvr: GVR, line: ObjectLine, of: int, says: str) -> int:
        self.found.append(
            RelatedObject(column, VisibleType(self._subject, gvr).singular, line, of, says)
        )
        return len(self.found) - 1

    def _line(self, gvr: GVR, entry: Entry[Any]) -> ObjectLine:
        return VisibleType(self._subject, gvr).line(entry)

    def _owners(self) -> None:
        below = 0
        for at, (gvr, key) in enumerate(self._above, start=1):
            line = VisibleType(self._subject, gvr).named(key, required=False)
            below = self._add(-at, gvr, line, below, _("owns"))

    def _users(self) -> None:
        kind = self._subject.kind
        by_name, by_selector = referring_types(kind), selecting_types(kind)
        found = [
            (gvr, entry)
            for gvr, entries in used_by(self._subject, by_name, by_selector)
            for entry in entries
        ]
        # A workload represents the objects it created, and no object is shown twice.
        uids = {entry.projection.uid for _gvr, entry in found} - {""}
        users = [
            (gvr, entry)
            for gvr, entry in found
            if getattr(entry.projection, "owner_uid", "") not in uids
            and (gvr, entry.key) not in self._above
            and (gvr, entry.key) not in self._mentions
        ]
        for gvr, entry in self._first(users, MOST_USERS, -1):
            says = _("selects") if gvr in by_selector else _("uses")
            self._add(-1, gvr, self._line(gvr, entry), 0, says)

    def _owned(self) -> None:
        """Add the owned and selected objects, and the objects that those own."""
        below = []
        children = self._children(self._subject.kind.gvr, self._subject.entry)
        for gvr, entry, says in self._first(children, MOST_OWNED, 1):
            place = self._add(1, gvr, self._line(gvr, entry), 0, says)
            below += [(place, *child) for child in self._children(gvr, entry)]
        for place, gvr, entry, says in self._first(below, MOST_OF_THOSE, 2):
            self._add(2, gvr, self._line(gvr, entry), place, says)

    def _children(self, owner: GVR, entry: Entry[Any]) -> list[tuple[GVR, Entry[Any], str]]:
        kind = VisibleType(self._subject, owner).kind
        found = [
            (gvr, child, _("owns"))
            for gvr in (kind.owns if kind is not None else ())
            for child in owned_by(entry, VisibleType(self._subject, gvr))
        ]
        pods = VisibleType(self._subject, PODS)
        selector = kind.pod_selector(entry) if kind is not None and kind.selects_pods else None
        if selector is not None and pods.informer is not None:
            chosen = pods.only_visible(pods_selected(selector, entry.key.namespace, pods.informer))
            found += [(PODS, pod, _("selects")) for pod in sorted(chosen, key=pods.rank)]
        return found

    def _used(self) -> None:
        for (gvr, key), refs in self._first(self._mentions.items(), MOST_USED, 1):
            required = not all(ref.optional for ref in refs)
            line = VisibleType(self._subject, gvr).named(key, required=required)
            self._add(1, gvr, line, 0, how_text(refs[0].how, refs[0].where))

    def _first(self, found: Iterable[Any], most: int, column: int) -> Iterator[Any]:
        listed = list(found)
        if len(listed) > most:
            self.more[column] = self.more.get(column, 0) + len(listed) - most
        return iter(listed[:most])


#: Size of a box and of the gaps between boxes, in pixels.
WIDTH, HEIGHT, ACROSS, DOWN, MARGIN = 176, 40, 52, 10, 2
#: Maximum characters of a name in a box.
FITS = 22


@dataclass(frozen=True, slots=True)
class Box:
    """A box of the map.

    `short` is the shortened name that fits the box. `url` is "" for the object itself and for
    objects without a page.
    """

    x: int
    y: int
    kind: str | Promise
    name: str
    short: str
    url: str
    severity: str
    word: str | Promise
    here: bool

    @property
    def text_y(self) -> tuple[int, int]:
        """Baselines of the kind and the name."""
        return self.y + 15, self.y + 31

    @property
    def mark(self) -> tuple[int, int]:
        return self.x + WIDTH - 20, self.y + 6


@dataclass(frozen=True, slots=True)
class OmittedCount:
    """The number of objects omitted from a column."""

    x: int
    y: int
    number: int


@dataclass(frozen=True, kw_only=True)
class MapPanel(Panel):
    id: str = "map"
    title: str | Promise = gettext_lazy("Map")

    def needs(self, kind: ResourceKind) -> Collection[GVR]:
        pods = (PODS,) if kind.selects_pods else ()
        users = (*referring_types(kind), *selecting_types(kind))
        found = (*owner_types(kind.gvr), *owned_types(kind), *pods, *kind.referenced_types, *users)
        return tuple(dict.fromkeys(found))

    def html(self, subject: Subject) -> SafeString:
        around = RelatedObjects(subject)
        if len(around.found) < 2:
            return SafeString("")
        return render_to_string("ui/relations/map.html", _drawn(around))


def _drawn(around: RelatedObjects) -> dict[str, object]:
    columns: dict[int, list[int]] = {}
    for at, neighbour in enumerate(around.found):
        columns.setdefault(neighbour.column, []).append(at)
    order = sorted(columns)
    tallest = max(len(places) + (column in around.more) for column, places in columns.items())
    height = tallest * (HEIGHT + DOWN) - DOWN + 2 * MARGIN
    boxes: dict[int, Box] = {}
    more = []
    for across, column in enumerate(order):
        x, places = MARGIN + across * (WIDTH + ACROSS), columns[column]
        rows = len(places) + (column in around.more)
        y = (height - rows * (HEIGHT + DOWN) + DOWN) // 2
        for place in places:
            boxes[place] = _box(around.found[place], x, y, here=not place)
            y += HEIGHT + DOWN
        if column in around.more:
            more.append(OmittedCount(x + 12, y + 24, around.more[column]))
    return {
        "width": len(order) * (WIDTH + ACROSS) - ACROSS + 2 * MARGIN,
        "height": height,
        "box_width": WIDTH,
        "box_height": HEIGHT,
        "boxes": [boxes[at] for at in sorted(boxes)],
        "more": more,
        "paths": [_path(boxes[at], boxes[one.of]) for at, one in enumerate(around.found) if at],
        "sentences": [_sentence(one, around.found[one.of]) for one in around.found[1:]],
    }


def _box(one: RelatedObject, x: int, y: int, *, here: bool) -> Box:
    line = one.line
    name = f"{line.namespace}/{line.name}" if line.namespace else line.name
    url = "" if here else line.url
    return Box(x, y, one.kind, name, _short(name), url, line.severity, line.word, here)


def _short(name: str) -> str:
    """Shorten the middle of a name. The end is kept because it distinguishes replicas."""
    if len(name) <= FITS:
        return name
    return f"{name[: FITS // 2 - 1]}…{name[-FITS // 2 :]}"


def _path(box: Box, other: Box) -> str:
    """Return the SVG path from the right edge of the left box to the left edge of the right box."""
    left, right = (box, other) if box.x < other.x else (other, box)
    x1, y1 = left.x + WIDTH, left.y + HEIGHT // 2
    x2, y2 = right.x, right.y + HEIGHT // 2
    middle = (x1 + x2) // 2
    return f"M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}"


def _sentence(one: RelatedObject, other: RelatedObject) -> dict[str, object]:
    """Return the context of a sentence. The subject is the object further left on the map."""
    first, second = (one, other) if one.column < other.column else (other, one)
    return {"who": _named(first), "what": one.says, "whom": _named(second)}


def _named(one: RelatedObject) -> str:
    return _("%(kind)s %(name)s") % {"kind": one.kind, "name": one.line.name}
