"""The form in which one chooses the columns of a list."""

from dataclasses import dataclass, field
from functools import lru_cache

from django.utils.functional import Promise
from django.utils.translation import get_language

from console.ui.columns import UsageColumn
from console.ui.filterform import carried
from console.ui.links import list_url
from console.ui.metered import NotMetered
from console.ui.viewspec import ViewSpec

#: Forms that are kept.
KEPT = 200


@dataclass(frozen=True, slots=True)
class Choice:
    """A column, by its id."""

    id: str
    label: str | Promise = field(compare=False)
    shown: bool


@dataclass(frozen=True, slots=True)
class Picker:
    """`action`: where the form goes, by GET, with the `hidden` fields. `name`: the id of the column that
    is always there. `default_url`: the list with its kind's own columns, None where it has them.

    `kept`: columns of usage that are chosen, and not shown as nothing is measured: `note` says why.
    """

    action: str
    hidden: tuple[tuple[str, str], ...]
    name: str
    choices: tuple[Choice, ...]
    default_url: str | None
    kept: tuple[str, ...] = ()
    note: NotMetered | None = None


def column_picker(spec: ViewSpec, note: NotMetered | None = None) -> Picker:
    """`note`: why nothing is known of what objects use, where that would be shown otherwise."""
    return _picker(spec.with_page(1), note, get_language())


# The language is part of the name: labels are texts in it.
@lru_cache(KEPT)
def _picker(spec: ViewSpec, note: NotMetered | None, lang: str | None) -> Picker:
    kind = spec.kind
    shown = {column.id: column for column in spec.shown(metered=True)}
    # Those of the kind as it declares them, then the labels.
    all_columns = {column.id: column for column in kind.every_column} | shown
    del all_columns[kind.name_column.id]
    unknown = [name for name, c in all_columns.items() if note and isinstance(c, UsageColumn)]
    for name in unknown:
        del all_columns[name]
    return Picker(
        action=list_url(spec.cluster, kind.segment),
        hidden=carried(spec.with_columns(()), set()),
        name=kind.name_column.id,
        choices=tuple(
            Choice(name, column.label, name in shown) for name, column in all_columns.items()
        ),
        default_url=spec.with_columns(()).url if spec.columns else None,
        kept=tuple(name for name in unknown if name in shown),
        note=note,
    )
