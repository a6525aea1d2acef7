"""Rows of a form: one for each of what an object has a list of, and for new ones."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from console.ui.forms import CheckField, ChoiceField, ConsoleForm
from console.ui.text import visible

#: What an object has that is edited on one page, and what is added at a time.
MOST, MOST_NEW = 64, 24
#: Where the number of a new row goes in the one that scripts copy.
ANY = "any"
#: The part of a row that says at which place among all it is to be, from 1.
POSITION = "position"
#: Makes the fields of a row, told what it begins with.
MakeFields = Callable[[Mapping[str, Any]], Mapping[str, forms.Field]]


@dataclass(frozen=True, slots=True)
class Row:
    """`remove` is None for a new one."""

    title: str
    fields: tuple[forms.BoundField, ...]
    remove: forms.BoundField | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """A row as it was filled in. `name`: what the names of its fields begin with. `at`: which of those it
    is that there were, None for a new one. A value that is wrong counts as none."""

    name: str
    at: int | None
    begins: Mapping[str, Any]
    values: Mapping[str, Any]

    def changed(self, *parts: str) -> bool:
        """True if one of these is another one than it was."""
        begins = {**dict.fromkeys(parts, ""), **self.begins}
        return any(self.values[part] != begins[part] for part in parts)


class Rows:
    """The fields of `form` that are called `{stem}-{number}-{part}`.

    `found`: what each row begins with that there is already; `titles`: those of these rows. `heading`: of
    all of them, with a `hint`; `add`: what is on the button that makes another one, "" where none are
    made or removed. With a field `POSITION` they can be put in another order.
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
        #: The fields of a row by their parts.
        self._parts = tuple(make({}))
        #: Those that are never empty, and what says nothing by itself.
        choices = {p for p, one in make({}).items() if isinstance(one, ChoiceField)}
        self._unsaid = {*choices, POSITION}
        #: A page begins with one new row, for whoever has no scripts.
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
        """The number of the next new row."""
        return max(self._new, default=len(self._found) - 1) + 1

    @property
    def end(self) -> int:
        """The first number that no row may have."""
        return len(self._found) + MOST_NEW

    def owns(self, name: str) -> bool:
        """True for the name of a field that is in a row."""
        return name.startswith(f"{self.stem}-")

    def __iter__(self) -> Iterator[Row]:
        for n, title in enumerate(self._titles):
            remove = self._form[self._name(n, "remove")] if self.add else None
            yield Row(visible(title), self._fields(n), remove)
        for n in self._new:
            yield Row(self._new_title, self._fields(n))

    @property
    def any_row(self) -> Row:
        """The one that scripts copy: it is no part of what is sent."""
        made = self._make({}).items()
        fields = (field.get_bound_field(self._form, self._name(ANY, part)) for part, field in made)
        return Row(self._new_title, tuple(fields))

    @property
    def _new_title(self) -> str:
        return pgettext("row", "New")

    def given(self) -> Iterator[Given]:
        """All that are to be, in their order: those that are not removed, and new ones with something
        in them. For `clean` of the form."""
        rows = [*self._given()]
        return _in_order(rows) if POSITION in self._parts else iter(rows)

    def _given(self) -> Iterator[Given]:
        known = range(len(self._found))
        for n in (*known, *self._new):
            values = {part: self._value(n, part) for part in self._parts}
            if n in known:
                if not self._form.cleaned_data.get(self._name(n, "remove")):
                    yield Given(f"{self.stem}-{n}", n, self._found[n], values)
            elif any(values[part] for part in self._parts if part not in self._unsaid):
                yield Given(f"{self.stem}-{n}", None, {}, values)

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


def given_again(rows: Sequence[Given], part: str) -> frozenset[str]:
    """The `name` of each row that was given a value of this part that another one has too. What an object
    had twice before is let be."""
    numbers = Counter(row.values[part] for row in rows)
    return frozenset(r.name for r in rows if numbers[r.values[part]] > 1 and r.changed(part))


def _in_order(rows: Sequence[Given]) -> Iterator[Given]:
    """Each that was given another place is there, and the others are around them as they were."""
    moved = [row for row in rows if row.values[POSITION] and row.changed(POSITION)]
    names = {row.name for row in moved}
    found = [row for row in rows if row.name not in names]
    for row in sorted(moved, key=lambda row: int(row.values[POSITION])):
        found.insert(row.values[POSITION] - 1, row)
    return iter(found)
