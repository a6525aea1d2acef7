"""Parts of pages that are drawn once, by their templates, and shared by all pages and sockets.

A drawing depends on the template, the values it is given and the language, and on nothing else: there is
no request, no viewer and no clock in it, but gaps for what these have (see `console.ui.gaps`). So it may
be shown to whoever may see the values.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language, override

from console.ui.ages import age_between, present
from console.ui.gaps import Gap, gaps, leave_all, split_at_gaps
from console.ui.rows import Cell, Row
from console.ui.shelf import Weighed

#: Bytes of drawings that are kept beside those of rows, about: parts are mostly of a kilobyte, but the
#: menu of thousands of projects is a part as well; cells are of some hundred. Around each are the values
#: that it was made of.
ROOM, ROOM_OF_CELLS, _AROUND = 32 * 2**20, 16 * 2**20, 2_000

#: What the request has under a name that a template uses, as HTML.
Given = Callable[[str], str]


def no_request(name: str) -> str:
    raise LookupError(f"{name} is for parts of whole pages")


@dataclass(frozen=True, slots=True)
class Drawing:
    """`pieces` of HTML with one of the `gaps` after each but the last."""

    pieces: tuple[str, ...]
    gaps: tuple[Gap, ...]

    def html(self) -> SafeString:
        """As it looks now, in the language that is active."""
        return _safe(self.filled(present(), _language()))

    def filled(self, now: datetime, lang: str, given: Given = no_request) -> Sequence[str]:
        """`lang` is the language that is active, `given` knows what the request has."""
        if not self.gaps:
            return self.pieces
        filled = [""] * (len(self.pieces) + len(self.gaps))
        filled[::2] = self.pieces
        filled[1::2] = leave_all(self.gaps) or self._words(now, lang, given)
        return filled

    def _words(self, now: datetime, lang: str, given: Given) -> list[str]:
        # A nonce stands in many places.
        asked = {gap: given(gap) for gap in set(self.gaps) if isinstance(gap, str)}
        return [
            age_between(gap, now, lang)
            if isinstance(gap, datetime)
            else asked[gap]
            if isinstance(gap, str)
            else gap.html(lang)
            for gap in self.gaps
        ]


def row_html(row: Row, lang: str) -> SafeString:
    """A row as pages and sockets show it. Kept with the row, once for each language."""
    return rows_html((row,), lang)


def rows_html(rows: Iterable[Row], lang: str) -> SafeString:
    now = present()
    with nullcontext() if get_language() == lang else override(lang):
        return _safe([piece for row in rows for piece in _row_drawing(row, lang).filled(now, lang)])


def _row_drawing(row: Row, lang: str) -> Drawing:
    drawing: Drawing | None = row.drawings.get(lang)
    if drawing is None:
        drawing = row.drawings[lang] = draw("ui/_row.html", {"row": row})
    return drawing


def cell_html(cell: Cell) -> SafeString:
    """A cell whose template needs nothing else, in the language that is active."""
    lang = _language()
    return _safe(_cell(cell, type(cell.value).__name__, lang).filled(present(), lang))


def _weight(drawing: Drawing) -> int:
    return _AROUND + sum(map(len, drawing.pieces))


#: Most cells of a list are the same in many rows, and most of a row's when it changes are as they were.
cells: Weighed[tuple[Cell, str, str], Drawing] = Weighed(ROOM_OF_CELLS, _weight)


def _cell(cell: Cell, value_type: str, lang: str) -> Drawing:
    return cells.get((cell, value_type, lang), lambda: draw(cell.template, {"cell": cell}))


def part_html(
    template: str, values: tuple[tuple[str, Any], ...], given: Given = no_request
) -> SafeString:
    """A part in the language that is active. `values` can be hashed, names and what they stand for."""
    # Escaped text and text that is yet to be escaped are equal, and must not be taken for each other.
    types = tuple(type(value) for _name, value in values)
    lang = _language()
    return _safe(_part(template, values, types, lang).filled(present(), lang, given))


parts: Weighed[tuple[Any, ...], Drawing] = Weighed(ROOM, _weight)


def _part(
    template: str, values: tuple[tuple[str, Any], ...], types: tuple[type, ...], lang: str
) -> Drawing:
    return parts.get((template, values, types, lang), lambda: draw(template, dict(values)))


def _language() -> str:
    return get_language() or settings.LANGUAGE_CODE


def _safe(pieces: Iterable[str]) -> SafeString:
    return SafeString("".join(pieces))  # templates drew them, and escaped


def draw(template: str, values: dict[str, Any]) -> Drawing:
    """Draws it now. `Drawing.html` is then cheap."""
    with gaps() as left:
        html = render_to_string(template, values)
    return Drawing(split_at_gaps(html), tuple(left))
