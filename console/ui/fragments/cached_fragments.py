"""Cached fragments: parts of pages that are rendered once and shared by all pages and websockets.

A cached fragment depends only on its template, values and language. It has placeholders for
everything that depends on the request, the user or the time (see
`console.ui.fragments.placeholders`). So it may be shown to every user who may see the values.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from sys import getsizeof
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import get_language, override

from console.ui.core.lru_cache import WeightedLruCache
from console.ui.fragments.placeholders import (
    Placeholder,
    add_placeholders,
    age_between,
    collect_placeholders,
    placeholder,
    split_at_placeholders,
    utc_now,
)
from console.ui.lists.rows import ActionBar, Cell, ListRow, MenuItem

#: Bytes of cached parts and cells, in addition to rows, and the overhead of each cached fragment in
#: bytes. Most parts have about 1 kB and cells a few hundred bytes, but the menu of thousands of
#: projects is also a part. The overhead includes the values.
ROOM, ROOM_OF_CELLS, _AROUND = 32 * 2**20, 16 * 2**20, 2_000

#: Returns the request's value for a name in a template, as HTML.
RequestValues = Callable[[str], str]


def no_request(name: str) -> str:
    raise LookupError(f"{name} needs a request, but this fragment is rendered without one")


@dataclass(frozen=True, slots=True)
class CachedFragment:
    """A cached fragment: `pieces` of HTML with one of the `collect_placeholders` between each pair."""

    pieces: tuple[str, ...]
    placeholders: tuple[Placeholder, ...]

    def html(self) -> SafeString:
        """Render the fragment in the active language."""
        return _safe(self.fill(utc_now(), _language()))

    def fill(self, now: datetime, lang: str, given: RequestValues = no_request) -> Sequence[str]:
        """Return the pieces with filled placeholders. `lang` must be the active language. `given`
        returns values of the request.
        """
        if not self.placeholders:
            return self.pieces
        filled = [""] * (len(self.pieces) + len(self.placeholders))
        filled[::2] = self.pieces
        filled[1::2] = add_placeholders(self.placeholders) or self._words(now, lang, given)
        return filled

    def _words(self, now: datetime, lang: str, given: RequestValues) -> list[str]:
        # Resolve each name once: a nonce occurs many times.
        asked = {gap: given(gap) for gap in set(self.placeholders) if isinstance(gap, str)}
        return [
            age_between(gap, now, lang)
            if isinstance(gap, datetime)
            else asked[gap]
            if isinstance(gap, str)
            else gap.html(lang)
            for gap in self.placeholders
        ]


def rows_html(rows: Iterable[ListRow], lang: str) -> SafeString:
    """Return the HTML of rows for pages and websockets. It is cached with each row, once per
    language.
    """
    now = utc_now()
    with nullcontext() if get_language() == lang else override(lang):
        return _safe([piece for row in rows for piece in _row_drawing(row, lang).fill(now, lang)])


def _row_drawing(row: ListRow, lang: str) -> CachedFragment:
    drawing: CachedFragment | None = row.rendered.get(lang)
    if drawing is None:
        drawing = row.rendered[lang] = render_fragment("ui/_row.html", {"row": row})
    return drawing


def cell_html(cell: Cell) -> SafeString:
    """Return the HTML of a cell in the active language. Its template must not use anything but the
    cell.
    """
    lang = _language()
    found = cell_cache.get(
        (cell, type(cell.value).__name__, lang),
        lambda: render_fragment(cell.template, {"cell": cell}),
    )
    return _safe(found.fill(utc_now(), lang))


def _weight(drawing: CachedFragment) -> int:
    # With a single emoji, a text has four bytes for each character. Long texts are usually in the
    # values too.
    size = sum(map(getsizeof, drawing.pieces))
    return max(_AROUND, size) + size


#: Most cells occur in many rows, and most cells of a changed row are unchanged.
cell_cache: WeightedLruCache[tuple[Cell, str, str], CachedFragment] = WeightedLruCache(
    ROOM_OF_CELLS, _weight
)


def part_html(
    template: str, values: tuple[tuple[str, Any], ...], given: RequestValues = no_request
) -> SafeString:
    """Return the HTML of a part in the active language. `values` are pairs of name and hashable
    value.
    """
    # SafeString and str compare equal, but must not share a cache entry.
    types = tuple([type(value) for _name, value in values])
    lang = _language()
    found = part_cache.get(
        (template, values, types, lang), lambda: render_fragment(template, dict(values))
    )
    return _safe(found.fill(utc_now(), lang, given))


part_cache: WeightedLruCache[tuple[Any, ...], CachedFragment] = WeightedLruCache(ROOM, _weight)


class _ObjectText(str):
    """The name of a text of an object, rendered as a placeholder."""

    __slots__ = ()

    def __str__(self) -> str:
        return placeholder(str.__str__(self)) or ""

    __html__ = __str__


def actions_html(template: str, actions: ActionBar, **texts: str) -> SafeString:
    """Return the HTML of an object's actions in the active language.

    The template is rendered once for all objects with the same actions. Its context is `actions` and
    `texts`. It may output the texts of the object, but its conditions must not use them.
    """
    groups = (actions.buttons, actions.others, actions.destructive)
    # A list, because a generator would cost one call for each action.
    key = tuple([tuple([item.action for item in group]) for group in groups])
    found = part_cache.get(
        (template, key, _language()),
        lambda: render_fragment(template, _shared_context(actions, texts)),
    )
    items = (item for group in groups for item in group)
    filled = {name: escape(text) for name, text in texts.items()}
    filled.update((f"url-{number}", escape(item.url)) for number, item in enumerate(items))
    html = [""] * (len(found.pieces) + len(found.placeholders))
    html[::2] = found.pieces
    html[1::2] = [filled[str(one)] for one in found.placeholders]
    return _safe(html)


def _shared_context(actions: ActionBar, texts: Iterable[str]) -> dict[str, Any]:
    """Return the context of a template with the actions of all objects."""
    numbers = count()

    def shared(items: tuple[MenuItem, ...]) -> tuple[MenuItem, ...]:
        return tuple(MenuItem(one.action, _ObjectText(f"url-{next(numbers)}")) for one in items)

    bar = ActionBar(shared(actions.buttons), shared(actions.others), shared(actions.destructive))
    return {"actions": bar, **{name: _ObjectText(name) for name in texts}}


def _language() -> str:
    return get_language() or settings.LANGUAGE_CODE


def _safe(pieces: Iterable[str]) -> SafeString:
    return SafeString("".join(pieces))  # templates drew them, and escaped


def render_fragment(template: str, values: dict[str, Any]) -> CachedFragment:
    """Render the template now. `CachedFragment.html` is cheap afterwards."""
    with collect_placeholders() as left:
        html = render_to_string(template, values)
    return CachedFragment(split_at_placeholders(html), tuple(left))
