"""Forms of accounts: fields with their errors, drawn by one template, filled from what was sent.

What was typed comes back with an error, passwords excepted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext as _

Text = str | Promise

MAX_TEXT = 256
#: HTML's `autocomplete` of codes, which are not drawn again either.
ONE_TIME = "one-time-code"
#: A bcrypt hash takes no more; what is longer is cut here and refused there.
MAX_PASSWORD = 1024


@dataclass(slots=True)
class Field:
    """`type`: of the input, or `select` (with `choices`) or `checkbox` (checked if there is a value)."""

    name: str
    label: Text
    type: str = "text"
    value: str = ""
    hint: Text = ""
    error: Text = ""
    autocomplete: str = "off"
    required: bool = False
    choices: Sequence[tuple[str, Text]] = ()
    #: The keyboard that a phone shows, as HTML's `inputmode` names it.
    keyboard: str = ""
    #: The value before the form was read.
    stored: str = ""

    @property
    def is_secret(self) -> bool:
        return self.type == "password"

    @property
    def shown(self) -> str:
        return "" if self.is_secret or self.autocomplete == ONE_TIME else self.value


@dataclass(slots=True)
class Form:
    """`error`: about the whole form, or about what came of it; `status`: of the answer with an error."""

    fields: Sequence[Field]
    error: Text = ""
    status: int = 400
    #: Fields by the paths of the object that they become; see `console.views.problems`.
    causes: Mapping[str, str] = field(default_factory=dict)
    by_name: Mapping[str, Field] = field(init=False)

    def __post_init__(self) -> None:
        self.by_name = {field.name: field for field in self.fields}

    def __getitem__(self, name: str) -> str:
        return self.by_name[name].value

    @property
    def is_right(self) -> bool:
        return not self.error and not self.wrong

    @property
    def wrong(self) -> list[Field]:
        return [field for field in self.fields if field.error]

    def add_error(self, field: str | None, error: Text) -> None:
        """The first error of a field stays; None is the whole form."""
        if field is None:
            self.error = error
            return
        found = self.by_name[field]
        found.error = found.error or error

    def read(self, request: HttpRequest) -> None:
        """Takes what was sent: texts without what cannot be seen, and choices that there are. Any other
        choice is an error: nothing else is chosen for it."""
        for found in self.fields:
            given = request.POST.get(found.name, "")
            found.stored = found.value
            if found.is_secret:
                found.value = given[:MAX_PASSWORD]
            elif found.type == "checkbox":
                found.value = "on" if given else ""
            elif found.type == "select":
                if given in {value for value, _label in found.choices}:
                    found.value = given
                else:
                    self.add_error(found.name, _("This is not one of the choices any more."))
            else:
                text = "".join(c if c.isprintable() else " " for c in given)
                found.value = text.strip()[:MAX_TEXT]
