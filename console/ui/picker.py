"""The form that selects the columns of a list."""

from dataclasses import dataclass, field
from functools import lru_cache

from django.utils.functional import Promise
from django.utils.translation import get_language

from console.ui.columns import UsageColumn
from console.ui.filterform import hidden_fields
from console.ui.links import list_url
from console.ui.metered import UsageNote
from console.ui.viewspec import ViewSpec

#: Number of cached forms.
KEPT = 200


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """A selectable column, by column id."""

    id: str
    label: str | Promise = field(compare=False)
    shown: bool


@dataclass(frozen=True, slots=True)
class ColumnSelectionForm:
    """The column selection form of a list.

    The form submits to `action` by GET with the `hidden` fields. `name` is the id of the column
    that is always shown. `default_url` is the list with default columns, None if it already has
    them. `kept` contains selected usage columns that are hidden because no metrics are
    available, and `note` contains the reason.
    """

    action: str
    hidden: tuple[tuple[str, str], ...]
    name: str
    choices: tuple[ColumnChoice, ...]
    default_url: str | None
    hidden_usage_columns: tuple[str, ...] = ()
    note: UsageNote | None = None


def column_picker(spec: ViewSpec, note: UsageNote | None = None) -> ColumnSelectionForm:
    """Return the column selection form. `note` is the reason for missing usage columns, if any."""
    return _picker(spec.with_page(1), note, get_language())


# The language is a cache key because the labels are translated.
@lru_cache(KEPT)
def _picker(spec: ViewSpec, note: UsageNote | None, lang: str | None) -> ColumnSelectionForm:
    kind = spec.kind
    shown = {column.id: column for column in spec.shown(metered=True)}
    # Columns as declared by the kind, followed by label columns.
    all_columns = {column.id: column for column in kind.every_column} | shown
    del all_columns[kind.name_column.id]
    unknown = [name for name, c in all_columns.items() if note and isinstance(c, UsageColumn)]
    for name in unknown:
        del all_columns[name]
    return ColumnSelectionForm(
        action=list_url(spec.cluster, kind.segment),
        hidden=hidden_fields(spec.with_columns(()), set()),
        name=kind.name_column.id,
        choices=tuple(
            ColumnChoice(name, column.label, name in shown) for name, column in all_columns.items()
        ),
        default_url=spec.with_columns(()).url if spec.columns else None,
        hidden_usage_columns=tuple(name for name in unknown if name in shown),
        note=note,
    )
