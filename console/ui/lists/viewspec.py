"""View specification of a list, parsed from a URL query.

The URL contains the whole state of a list, and equal specs have the same canonical URL. Pages,
fragments, websockets and exports use the same parser. Any input is accepted: each problem is a
`FieldError` instead of an exception, and all lengths are limited before parsing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import quote_plus

from django.http import QueryDict
from django.utils.translation import gettext as _

from console.ui.core.kind import ResourceKind
from console.ui.core.links import list_url
from console.ui.lists.column_selection import read_columns, shown_columns
from console.ui.lists.columns import Column
from console.ui.lists.filters import Filter, InvalidFilterValue, Test

DEFAULT_LIMIT, MAX_LIMIT = 50, 500
#: Maximum digits of a number in a URL.
MAX_DIGITS = 9
#: Maximum characters of an invalid value that are repeated in its error message.
SHOWN = 60

Values = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class FieldError:
    """A problem with a query parameter.

    `field` is the parameter, `message` a sentence, and `value` the start of the invalid value.
    """

    field: str
    message: str
    value: str = ""


@dataclass(frozen=True)
class ViewSpec:
    """The state of a list view.

    `values` contains the cleaned filter values in declaration order, without empty ones.
    `columns` contains the ids of the selected columns, () for the kind's default. `sort` is a
    column id, with a leading `-` for descending order, or "" for the default order: severity,
    then name. `paged` is True if the query contains page or limit. A spec with `errors` must
    only be used to show them.
    """

    kind: ResourceKind
    cluster: str
    values: Values = ()
    columns: tuple[str, ...] = ()
    sort: str = ""
    page: int = 1
    limit: int = DEFAULT_LIMIT
    paged: bool = False
    errors: tuple[FieldError, ...] = ()

    @classmethod
    def parse(cls, kind: ResourceKind, params: QueryDict, *, cluster: str) -> "ViewSpec":
        reader = _Reader(params)
        values = tuple((f.param, v) for f in kind.every_filter if (v := reader.filter(f)))
        return cls(
            kind=kind,
            cluster=cluster,
            values=values,
            columns=reader.columns(kind),
            sort=reader.sort(kind),
            page=reader.number("page", default=1, most=None),
            limit=reader.number("limit", default=DEFAULT_LIMIT, most=MAX_LIMIT),
            paged="page" in params or "limit" in params,
            errors=tuple(reader.errors),
        )

    def get(self, param: str) -> tuple[str, ...]:
        """Return the cleaned values of a filter parameter."""
        return dict(self.values).get(param, ())

    @property
    def namespaces(self) -> tuple[str, ...]:
        return self.get("namespace")

    def shown(self, *, metered: bool) -> tuple[Column, ...]:
        """Return the visible columns. `metered` has the same meaning as in `shown_columns`."""
        return shown_columns(self.kind, self.columns, metered)

    @property
    def sort_column(self) -> str:
        return self.sort.removeprefix("-")

    @property
    def ordered_by(self) -> str:
        """The sort column, or the kind's default order."""
        return self.sort_column or self.kind.default_sort

    @property
    def descending(self) -> bool:
        return self.sort.startswith("-")

    @property
    def page_slice(self) -> slice:
        """The slice of the list that the page shows."""
        start = (self.page - 1) * self.limit
        return slice(start, start + self.limit)

    @cached_property
    def selects(self) -> tuple[Values, str]:
        """Key that is equal for specs that differ only in the page of the same rows."""
        return self.values, self.sort

    def tests(self, *, faceted: bool) -> list[Test]:
        return [
            f.test(values)
            for f in self.kind.every_filter
            if f.faceted is faceted and (values := self.get(f.param))
        ]

    @cached_property
    def query(self) -> str:
        """The canonical query: filters in declaration order, then columns, sort, page and limit,
        without default values.
        """
        return "&".join(f"{name}={quote_plus(text, safe=',!')}" for name, text in self.pairs)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Names and values of the canonical query."""
        pairs = [(param, text) for param, texts in self.values for text in texts]
        pairs += [("columns", ",".join(self.columns))] if self.columns else []
        pairs += [("sort", self.sort)] if self.sort else []
        pairs += [("page", str(self.page))] if self.page != 1 else []
        return pairs + ([("limit", str(self.limit))] if self.limit != DEFAULT_LIMIT else [])

    @property
    def url(self) -> str:
        path, query = list_url(self.cluster, self.kind.segment), self.query
        return f"{path}?{query}" if query else path

    # Related views. A change that affects which rows match returns to the first page.

    def with_page(self, page: int) -> "ViewSpec":
        return replace(self, page=page)

    def with_limit(self, limit: int) -> "ViewSpec":
        return replace(self, limit=limit, page=1)

    def unpaged(self) -> "ViewSpec":
        return replace(self, limit=DEFAULT_LIMIT, page=1)

    def with_columns(self, columns: tuple[str, ...]) -> "ViewSpec":
        return replace(self, columns=columns)

    def with_sort(self, sort: str) -> "ViewSpec":
        return replace(self, sort=sort, page=1)

    def with_values(self, param: str, texts: tuple[str, ...]) -> "ViewSpec":
        old: Mapping[str, tuple[str, ...]] = {**dict(self.values), param: texts}
        values = tuple((f.param, v) for f in self.kind.every_filter if (v := old.get(f.param, ())))
        return replace(self, values=values, page=1)

    def without(self, param: str, text: str) -> "ViewSpec":
        return self.with_values(param, tuple(value for value in self.get(param) if value != text))

    def cleared(self) -> "ViewSpec":
        return replace(self, values=(), page=1)


class _Reader:
    """Parser of one query that collects errors."""

    def __init__(self, params: QueryDict) -> None:
        self._params = params
        self.errors: list[FieldError] = []

    def _error(self, field: str, message: str, value: str = "") -> None:
        self.errors.append(FieldError(field, message, value[:SHOWN]))

    def _texts(self, param: str, *, repeatable: bool) -> list[str]:
        """Return the non-empty values of a parameter. A repeated single-value parameter is an
        error.
        """
        texts = self._params.getlist(param)
        if not repeatable and len(texts) > 1:
            self._error(param, _("This parameter appears more than once."))
            return []
        return [text for text in texts if text.strip()]

    def filter(self, declared: Filter) -> tuple[str, ...]:
        texts = self._texts(declared.param, repeatable=declared.repeatable)
        try:
            return declared.clean(texts) if texts else ()
        except InvalidFilterValue as error:
            self._error(declared.param, str(error), next(iter(texts)))
            return ()

    def columns(self, kind: ResourceKind) -> tuple[str, ...]:
        texts = self._texts("columns", repeatable=True)
        try:
            return read_columns(kind, texts)
        except InvalidFilterValue as error:
            self._error("columns", str(error), next(iter(texts)))
            return ()

    def sort(self, kind: ResourceKind) -> str:
        text = next(iter(self._texts("sort", repeatable=False)), "")
        column = text.removeprefix("-")
        if not text or column in kind.sortable:
            # The default order has no sort parameter.
            return "" if text == kind.default_sort else text
        known = ", ".join(kind.sortable)
        self._error("sort", _("Unknown column. Valid values: %(known)s.") % {"known": known}, text)
        return ""

    def number(self, param: str, *, default: int, most: int | None) -> int:
        text = next(iter(self._texts(param, repeatable=False)), str(default))
        digits = text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS
        number = int(text) if digits else 0
        if number >= 1 and (most is None or number <= most):
            return number
        if most is None:
            self._error(param, _("Use a whole number of at least 1."), text)
        else:
            self._error(param, _("Use a whole number from 1 to %(most)s.") % {"most": most}, text)
        return default
