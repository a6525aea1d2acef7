"""A map of the objects related to an object, rendered as SVG on the server.

Each line of the map also appears as a sentence in the list below it, for accessibility.
"""

from collections.abc import Collection
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR, PODS
from console.ui.kind import ResourceKind
from console.ui.panels import Panel
from console.ui.relations.neighbours import RelatedObject, RelatedObjects
from console.ui.relations.owning import owned_types, owner_types
from console.ui.relations.references import referring_types
from console.ui.relations.selecting import selecting_types
from console.ui.subject import Subject

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
