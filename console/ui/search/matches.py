"""The texts of an object that match a search, for display beside the result."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from console.kube.store import Entry
from console.ui.core.kind import ResourceKind
from console.ui.core.text import escape_invisible
from console.ui.lists.columns import NameColumn, NamespaceColumn
from console.ui.search.query import SearchQuery

#: Maximum matches of an object, and maximum characters before and after the matched text.
MOST, AROUND = 3, 40
NAME = "name"


@dataclass(frozen=True, slots=True)
class MatchedText:
    """A text that contains a search word.

    `field` identifies the field: `name`, `label`, `owner`, the ID of a column, or `text`. `before`
    and `after` are shortened. All texts are safe to display.
    """

    field: str
    label: str | Promise
    before: str
    matched: str
    after: str


#: ID, label and text of a field.
_Field = tuple[str, str | Promise, str]


def matches_of(
    kind: ResourceKind, entry: Entry[Any], query: SearchQuery
) -> tuple[MatchedText, ...]:
    """Return the first text that matches each word and each label condition."""
    fields = (*metadata_fields(entry.key.name, entry.projection.labels), *_other(kind, entry))
    return matched_texts(fields, query.words_for(kind), query)


def matched_texts(
    fields: Iterable[_Field], words: Sequence[str], query: SearchQuery
) -> tuple[MatchedText, ...]:
    """Return the first of the fields that matches each word and each label condition."""
    every = [*fields]
    keys = [one.key for selector in query.selectors for one in selector.requirements]
    found = [
        *(_first(every, word) for word in words),
        *(_first([one for one in every if one[0] == "label"], f"{key}=") for key in keys),
    ]
    return tuple(dict.fromkeys(one for one in found if one is not None))[:MOST]


def metadata_fields(name: str, labels: Mapping[str, str] | None) -> Iterator[_Field]:
    yield NAME, _("Name"), name
    for key, value in (labels or {}).items():
        yield "label", _("Label"), f"{key}={value}"


def _other(kind: ResourceKind, entry: Entry[Any]) -> Iterator[_Field]:
    """Yield the columns, and then the searchable texts that no column shows."""
    for column in kind.columns:
        if isinstance(column, NameColumn | NamespaceColumn):
            continue
        text = column.plain(entry)
        if isinstance(text, str):
            yield column.id, column.label, text
    yield "owner", _("Owner"), getattr(entry.projection, "owner", "")
    for text in kind.search.texts(entry.projection):
        yield "text", _("Other field"), text


def _first(fields: Iterable[_Field], word: str) -> MatchedText | None:
    for field, label, text in fields:
        at = text.casefold().find(word)
        if at >= 0:
            # Casefolding changes the length of a few characters. The position is then unknown.
            exact = len(text.casefold()) == len(text)
            start, end = (at, at + len(word)) if exact else (0, 0)
            before, after = text[:start], text[end:]
            if field != NAME:
                before = f"…{before[-AROUND:]}" if len(before) > AROUND else before
                after = f"{after[:AROUND]}…" if len(after) > AROUND else after
            shown = (escape_invisible(part) for part in (before, text[start:end], after))
            return MatchedText(field, label, *shown)
    return None
