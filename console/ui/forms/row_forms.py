"""Form rows for the items of a list in an object, including new items."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from console.ui.core.text import escape_invisible
from console.ui.forms.forms import CheckField, ChoiceField, ConsoleForm

#: Maximum existing items on one page, and maximum new items.
MOST, MOST_NEW = 64, 24
#: Placeholder for the row number in the template row that scripts copy.
ANY = "any"
#: Name of the field with a row's position among all rows, counted from 1.
POSITION = "position"
#: Creates the fields of a row from its initial values.
MakeFields = Callable[[Mapping[str, Any]], Mapping[str, forms.Field]]


@dataclass(frozen=True, slots=True)
class FormRow:
    """A rendered row. `remove` is None for a new one."""

    title: str
    fields: tuple[forms.BoundField, ...]
    remove: forms.BoundField | None = None


@dataclass(frozen=True, slots=True)
class SubmittedRow:
    """A submitted row.

    `name` is the prefix of its field names. `index` is the index of the existing item, None for a
    new one. An invalid value counts as empty.
    """

    name: str
    index: int | None
    initial: Mapping[str, Any]
    values: Mapping[str, Any]

    def changed(self, *parts: str) -> bool:
        """Return True if any of these fields differs from its initial value."""
        begins = {**dict.fromkeys(parts, ""), **self.initial}
        return any(self.values[part] != begins[part] for part in parts)


class FormRows:
    """Rows of fields named `{stem}-{number}-{part}` in a form.

    `found` contains the initial values of the existing items and `titles` their titles.
    `heading` and `hint` describe all rows. `add` is the label of the button that adds a row, or
    "" if rows can't be added or removed. With a `POSITION` field, rows can be reordered.
    """

    def __init__(
        self,
        form: ConsoleForm,
        stem: str,
        make: MakeFields,
        found: Sequence[Mapping[str, Any]],
        titles: Sequence[str],
        heading: str | Promise,
        hint: str | Promise,
        add: str | Promise = "",
    ) -> None:
        self._form, self.stem, self._make = form, stem, make
        self._found, self._titles = found, titles
        self.heading, self.add, self.hint = heading, add, hint
        #: Names of the fields in each row.
        self._parts = tuple(make({}))
        #: Fields that don't make a new row count as filled in: choices, which are never empty, and
        #: the position.
        choices = {p for p, one in make({}).items() if isinstance(one, ChoiceField)}
        self._unsaid = {*choices, POSITION}
        #: An unbound form has one new row, for browsers without JavaScript.
        self._new = [] if not add else self._sent() if form.is_bound else [len(found)]
        for n, begins in enumerate(found):
            self._add(n, begins)
            if add:
                remove = CheckField(label=_("Remove"))
                form.fields[self._name(n, "remove")] = remove
        for n in self._new:
            self._add(n, {})

    def _sent(self) -> list[int]:
        there = range(len(self._found), self.end)
        names = {n: [self._name(n, part) for part in self._parts] for n in there}
        return [n for n in there if any(name in self._form.data for name in names[n])]

    @property
    def next(self) -> int:
        """Number of the next new row."""
        return max(self._new, default=len(self._found) - 1) + 1

    @property
    def end(self) -> int:
        """Upper limit of row numbers, exclusive."""
        return len(self._found) + MOST_NEW

    def owns(self, name: str) -> bool:
        """Return True if the field belongs to a row."""
        return name.startswith(f"{self.stem}-")

    def __iter__(self) -> Iterator[FormRow]:
        for n, title in enumerate(self._titles):
            remove = self._form[self._name(n, "remove")] if self.add else None
            yield FormRow(escape_invisible(title), self._fields(n), remove)
        for n in self._new:
            yield FormRow(self._new_title, self._fields(n))

    @property
    def template_row(self) -> FormRow:
        """Template row that scripts copy. Its fields are not submitted."""
        made = self._make({}).items()
        fields = (field.get_bound_field(self._form, self._name(ANY, part)) for part, field in made)
        return FormRow(self._new_title, tuple(fields))

    @property
    def _new_title(self) -> str:
        return pgettext("row", "New")

    def rows_to_keep(self) -> Iterator[SubmittedRow]:
        """Yield the rows to keep, in order: existing rows not marked for removal, then non-empty
        new rows.

        For use in the form's `clean`.
        """
        rows = [*self._given()]
        return _in_order(rows) if POSITION in self._parts else iter(rows)

    def _given(self) -> Iterator[SubmittedRow]:
        known = range(len(self._found))
        for n in (*known, *self._new):
            values = {part: self._value(n, part) for part in self._parts}
            if n in known:
                if not self._form.cleaned_data.get(self._name(n, "remove")):
                    yield SubmittedRow(f"{self.stem}-{n}", n, self._found[n], values)
            elif any(values[part] for part in self._parts if part not in self._unsaid):
                yield SubmittedRow(f"{self.stem}-{n}", None, {}, values)

    def _value(self, number: int, part: str) -> Any:
        found = self._form.cleaned_data.get(self._name(number, part))
        return "" if found is None else found

    def _add(self, number: int, begins: Mapping[str, Any]) -> None:
        for part, field in self._make(begins).items():
            field.initial = begins.get(part, field.initial)
            self._form.fields[self._name(number, part)] = field

    def _fields(self, number: int) -> tuple[forms.BoundField, ...]:
        return tuple(self._form[self._name(number, part)] for part in self._parts)

    def _name(self, number: int | str, part: str) -> str:
        return f"{self.stem}-{number}-{part}"


def duplicated(rows: Sequence[SubmittedRow], part: str) -> frozenset[str]:
    """Return the `name` of each row whose value of a field was changed to a value that another row
    has as well.

    Duplicates that the object already had are accepted.
    """
    numbers = Counter(row.values[part] for row in rows)
    return frozenset(r.name for r in rows if numbers[r.values[part]] > 1 and r.changed(part))


def _in_order(rows: Sequence[SubmittedRow]) -> Iterator[SubmittedRow]:
    """Insert the moved rows at their new positions. The other rows keep their relative order."""
    moved = [row for row in rows if row.values[POSITION] and row.changed(POSITION)]
    names = {row.name for row in moved}
    found = [row for row in rows if row.name not in names]
    for row in sorted(moved, key=lambda row: int(row.values[POSITION])):
        found.insert(row.values[POSITION] - 1, row)
    return iter(found)
