"""Which columns a list shows: those that its kind declares, or those that its address names.

`columns=name,status,label:app` names declared columns by their ids, and labels by their keys.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from django.utils.translation import gettext as _

from console.kube.selectors import SelectorError, parse_labels
from console.ui.columns import Column, TextColumn, UsageColumn
from console.ui.filters import BadValue
from console.ui.kind import ResourceKind
from console.ui.words import spoken

LABEL = "label:"
#: Labels that a list shows, and characters of the whole parameter.
MOST_LABELS, MAX_LENGTH = 8, 1000
#: Sets of columns that are kept.
KEPT = 500


def read_columns(kind: ResourceKind, texts: Sequence[str]) -> tuple[str, ...]:
    """The ids that are asked for, () for those of the kind. The name is always one. Raises `BadValue`."""
    if sum(map(len, texts)) > MAX_LENGTH:
        raise BadValue(_("Longer than %(count)s characters.") % {"count": MAX_LENGTH})
    given = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    declared = tuple(column.id for column in kind.every_column)
    ids = dict.fromkeys(_known(text, declared) for text in given)
    if sum(text.startswith(LABEL) for text in ids) > MOST_LABELS:
        raise BadValue(_("At most %(count)s labels.") % {"count": MOST_LABELS})
    name = kind.name_column.id
    found = tuple(ids) if name in ids or not ids else (name, *ids)
    return () if found == declared else found


def _known(text: str, declared: tuple[str, ...]) -> str:
    if text in declared:
        return text
    key = text.removeprefix(LABEL)
    try:
        requirements = parse_labels(key).requirements if key != text else ()
    except SelectorError as error:
        raise BadValue(spoken(error.sentence)) from error
    if len(requirements) == 1 and requirements[0].op == "exists":
        return f"{LABEL}{requirements[0].key}"
    known = ", ".join((*declared, f"{LABEL}key"))
    raise BadValue(_("Not a column. Known are: %(known)s.") % {"known": known})


@lru_cache(KEPT)
def shown_columns(
    kind: ResourceKind, chosen: tuple[str, ...], metered: bool = False
) -> tuple[Column, ...]:
    """`chosen`: as `read_columns` gives them. Who chose a column sees it on all but small windows.

    `metered`: usage is measured and may be shown; without it its columns are left out, chosen or not.
    """
    columns = tuple(_columns(kind, chosen)) if chosen else kind.every_column
    return columns if metered else tuple(c for c in columns if not isinstance(c, UsageColumn))


def _columns(kind: ResourceKind, chosen: tuple[str, ...]) -> Iterator[Column]:
    declared = {column.id: column for column in kind.every_column}
    for name in chosen:
        column = declared.get(name)
        if column is None:
            yield _label_column(name, name.removeprefix(LABEL))
        else:
            yield replace(column, priority=min(column.priority, 3))


def _label_column(name: str, key: str) -> TextColumn:
    """The value of one label."""

    def value(item: Any) -> str:
        text: str = item.labels.get(key, "")
        return text

    return TextColumn(id=name, label=key, priority=3, sortable=False, get=value)
