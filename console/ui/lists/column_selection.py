"""Column selection: the columns of a list come from its kind or from the query string.

`columns=name,status,label:app,annotation:note` names columns by ID, and labels and annotations by
key.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from django.utils.translation import gettext as _

from console.kube.selectors import SelectorError, is_qualified, parse_labels
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import LAST_APPLIED
from console.ui.core.words import translate_message
from console.ui.lists.columns import AnnotationColumn, Column, TextColumn, UsageColumn
from console.ui.lists.filters import InvalidFilterValue

LABEL, ANNOTATION = "label:", "annotation:"
#: Maximum number of label and annotation columns, and of characters in the query parameter.
MOST_LABELS, MAX_LENGTH = 8, 1000
#: Number of column sets to cache.
CACHE_SIZE = 500


def read_columns(kind: ResourceKind, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the IDs of the requested columns, or () for the default of the kind. The name column
    is always included. Raise `InvalidFilterValue` for unknown columns.
    """
    if sum(map(len, texts)) > MAX_LENGTH:
        raise InvalidFilterValue(_("Use at most %(count)s characters.") % {"count": MAX_LENGTH})
    given = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    declared = tuple(column.id for column in kind.every_column)
    ids = dict.fromkeys(_known(text, declared) for text in given)
    if sum(text.startswith((LABEL, ANNOTATION)) for text in ids) > MOST_LABELS:
        text = _("Use at most %(count)s labels and annotations.")
        raise InvalidFilterValue(text % {"count": MOST_LABELS})
    name = kind.name_column.id
    found = tuple(ids) if name in ids or not ids else (name, *ids)
    return () if found == declared else found


def _known(text: str, declared: tuple[str, ...]) -> str:
    if text in declared:
        return text
    annotation = text.removeprefix(ANNOTATION)
    # The copy of the object in this annotation may contain values that are masked elsewhere.
    if annotation not in (text, LAST_APPLIED) and is_qualified(annotation.lower()):
        return text
    key = text.removeprefix(LABEL)
    try:
        requirements = parse_labels(key).requirements if key != text else ()
    except SelectorError as error:
        raise InvalidFilterValue(translate_message(error.sentence)) from error
    if len(requirements) == 1 and requirements[0].op == "exists":
        return f"{LABEL}{requirements[0].key}"
    known = ", ".join((*declared, f"{LABEL}key", f"{ANNOTATION}key"))
    raise InvalidFilterValue(_("Unknown column. Valid values: %(known)s.") % {"known": known})


@lru_cache(CACHE_SIZE)
def shown_columns(
    kind: ResourceKind, chosen: tuple[str, ...], metered: bool = False
) -> tuple[Column, ...]:
    """Return the columns for the IDs `chosen`, as returned by `read_columns`.

    Selected columns are visible on all but small screens. Without `metered`, usage columns are
    left out even if selected.
    """
    columns = tuple(_columns(kind, chosen)) if chosen else kind.every_column
    return columns if metered else tuple(c for c in columns if not isinstance(c, UsageColumn))


def _columns(kind: ResourceKind, chosen: tuple[str, ...]) -> Iterator[Column]:
    declared = {column.id: column for column in kind.every_column}
    for name in chosen:
        column = declared.get(name)
        if column is None and name.startswith(ANNOTATION):
            key = name.removeprefix(ANNOTATION)
            yield AnnotationColumn(id=name, label=key, priority=3, sortable=False, key=key)
        elif column is None:
            yield _label_column(name, name.removeprefix(LABEL))
        else:
            yield replace(column, priority=min(column.priority, 3))


def _label_column(name: str, key: str) -> TextColumn:
    def value(item: Any) -> str:
        text: str = item.labels.get(key, "")
        return text

    return TextColumn(id=name, label=key, priority=3, sortable=False, get=value)
