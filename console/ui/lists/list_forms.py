"""The forms above a list: filters with their chips, and the column selection."""

from dataclasses import dataclass, field

from django.utils.functional import Promise
from django.utils.translation import get_language

from console.ui.core.links import list_url
from console.ui.lists.columns import UsageColumn
from console.ui.lists.spec_cache import cached_by_spec
from console.ui.lists.viewspec import FieldError, ViewSpec
from console.ui.usage.reading import UsageNote

#: Number of forms to cache.
CACHE_SIZE = 200


@dataclass(frozen=True, slots=True)
class Chip:
    """An active filter. `name` is the label of the filter, `value` its value, and `label` contains
    both.
    """

    label: str
    name: str | Promise
    value: str
    remove_url: str


@dataclass(frozen=True, slots=True)
class FilterForm:
    """The filter form.

    - `action`: the URL for the GET request.
    - `hidden`: hidden fields that preserve the rest of the state.
    - `covers`: describes what `q` searches.
    - `namespaces`: the choices. `namespace` is the selected one, or "" for all.
    - `statuses`: the selected severities.
    """

    action: str
    q: str
    covers: str
    hidden: tuple[tuple[str, str], ...]
    chips: tuple[Chip, ...]
    clear_url: str | None
    namespaces: tuple[str, ...]
    namespace: str
    statuses: tuple[str, ...]
    errors: tuple[FieldError, ...]


def filter_form(spec: ViewSpec, namespaces: frozenset[str]) -> FilterForm:
    return _form(spec, namespaces, get_language())


# The language is part of the cache key, because chips contain translated texts.
@cached_by_spec(CACHE_SIZE)
def _form(spec: ViewSpec, namespaces: frozenset[str], lang: str | None) -> FilterForm:
    chosen = spec.namespaces[0] if len(spec.namespaces) == 1 else ""
    # Parameters with a form field don't need a hidden field.
    in_fields = {"q", *(("namespace",) if len(spec.namespaces) <= 1 else ())}
    chips = _chips(spec, in_fields | {"status"})
    return FilterForm(
        action=list_url(spec.cluster, spec.kind.segment),
        q=next(iter(spec.get("q")), ""),
        covers=str(spec.kind.search.covers),
        hidden=hidden_fields(spec, in_fields),
        chips=chips,
        clear_url=spec.cleared().url if spec.values else None,
        namespaces=tuple(sorted({*namespaces, chosen} - {""})),
        namespace=chosen,
        statuses=spec.get("status"),
        errors=spec.errors,
    )


def hidden_fields(spec: ViewSpec, in_fields: set[str]) -> tuple[tuple[str, str], ...]:
    """Return the hidden fields for a form that has visible fields for `in_fields`."""
    return tuple(pair for pair in spec.pairs if pair[0] not in {*in_fields, "page"})


def _chips(spec: ViewSpec, elsewhere: set[str]) -> tuple[Chip, ...]:
    names = {declared.param: declared.label for declared in spec.kind.every_filter}
    return tuple(
        Chip(f"{names[param]} {text}", names[param], text, spec.without(param, text).url)
        for param, texts in spec.values
        if param not in elsewhere
        for text in texts
    )


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
    them. `hidden_usage_columns` contains selected usage columns that are hidden because no metrics are
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
@cached_by_spec(KEPT)
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
