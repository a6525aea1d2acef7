"""Fields of wizards. A field is a lens on one path of a manifest: it shows the value there, writes
the entered one, and leaves everything else untouched.

For every value that a field can show, `parsed(shown(value)) == value`. A value that it can't show
is kept, and can only be edited as YAML.
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from console.kube.names import is_dns_label, is_dns_subdomain
from console.kube.quantity import parse_quantity
from console.ui.core.manifests import MASK
from console.ui.core.text import escape_invisible, has_no_invisible
from console.ui.forms.fields import KeyValueField, format_pairs
from console.ui.forms.forms import is_line
from console.ui.wizard.paths import ABSENT, Blocked, Path, remove_at, value_at, write_at
from console.ui.wizard.state import FieldScope

Text = str | Promise
#: Returns the problem of a value in its scope, or "".
Check = Callable[[Any, FieldScope], Text]
MAX_LINE, MAX_LINES = 4096, 512 * 1024
NOT_OFFERED = gettext_lazy("This option is no longer available. Choose another option.")


class InvalidInput(Exception):
    """The entered text is not a value of the field. `str()` is the message."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice. `value` is the text in the form, `hint` an explanation."""

    value: str
    label: Text
    hint: Text = ""


@dataclass(frozen=True, slots=True)
class BoundField:
    """A field on a page.

    - `name`: name of the input, unique on the page. `id` is its HTML id.
    - `value`: the shown text.
    - `is_yaml_only`: the value can't be shown.
    - `suggestions`: values to choose from, of a text that may have others.
    - `finding`: what the cluster says about the value.
    - `answer`: answer to a question about the value, see `console.ui.wizard.state.Question`.
    """

    field: "Field"
    name: str
    path: Path
    slot: str
    value: str
    error: Text = ""
    is_yaml_only: bool = False
    options: Sequence[Choice] = ()
    suggestions: Sequence[str] = ()
    finding: Text = ""
    answer: Any = None

    @property
    def template(self) -> str:
        return self.field.template

    @property
    def id(self) -> str:
        return "w-" + self.name.replace(".", "-")

    @property
    def described_by(self) -> str:
        """Ids of the elements with the error and the hint."""
        ids = (
            f"{self.id}-error" if self.error else "",
            f"{self.id}-finding" if self.has_finding else "",
            f"{self.id}-hint" if self.field.hint else "",
        )
        return " ".join(filter(None, ids))

    @property
    def amount(self) -> tuple[str, str]:
        """Text and unit of an `QuantityInput`."""
        return (
            self.field.split(self.value)
            if isinstance(self.field, QuantityInput)
            else (self.value, "")
        )

    @property
    def has_finding(self) -> bool:
        return self.field.finding is not None

    @property
    def errors(self) -> int:
        return bool(self.error)

    @property
    def children(self) -> Sequence[Any]:
        return ()


@dataclass(frozen=True, kw_only=True)
class Field:
    """Base class of fields.

    - `id`: name in the form, below the names of the parts around it.
    - `path`: path of the value, below the path of the parts around it. The default is `id`.
    - `hint`: what users need to know before they enter a value.
    - `required`: the field must not be empty, where `needed` returns True. Other fields are marked as
      optional, unless `default` says in words what an empty field means.
    - `size`: "number", "short", "medium", or "" for the whole width.
    - `check`: returns the problem of a value.
    - `suggest`: returns suggested values.
    - `finding`: returns what the cluster says about a value, such as the number of
      matching pods, or "".
    """

    id: str
    label: Text
    path: Path = ()
    hint: Text = ""
    required: bool = False
    needed: Callable[[FieldScope], bool] = lambda scope: True
    placeholder: Text = ""
    size: str = ""
    check: Check | None = None
    suggest: Callable[[FieldScope], Sequence[str]] | None = None
    finding: Check | None = None
    template: ClassVar[str] = "wizard/field.html"
    is_check: ClassVar[bool] = False
    #: How the template shows the field.
    control: ClassVar[str] = "text"
    #: The label of an empty field says that it is optional.
    is_marked: bool = False
    #: Message of a value that can't be written, see `write`.
    refused: Text = gettext_lazy("This value can only be set as YAML.")
    #: Message of an empty field that is required.
    missing: Text = gettext_lazy("Enter a value.")

    @property
    def place(self) -> Path:
        return self.path or (self.id,)

    def read(self, scope: FieldScope) -> Any:
        """Return the value, or `ABSENT`."""
        return scope.get(*self.place)

    def write(self, scope: FieldScope, value: Any) -> None:
        """Set the value, or remove it if it is `ABSENT`. Raise `Blocked`."""
        path = (*scope.base, *self.place)
        if value is ABSENT:
            remove_at(scope.document, path, scope.floor)
        else:
            write_at(scope.document, path, value)

    def shown(self, value: Any) -> str | None:
        """Return the text of a value, "" for `ABSENT`. Return None if the field can't show it."""
        raise NotImplementedError

    def parsed(self, text: str) -> Any:
        """Return the value of a text, `ABSENT` for "". Raise `InvalidInput`."""
        raise NotImplementedError

    def clean(self, text: str) -> Any:
        """Return the value of an entered text. Raise `InvalidInput`, also for a value that the
        field could not show again.
        """
        value = self.parsed(text)
        if value is not ABSENT and self.shown(value) is None:
            raise InvalidInput(_("This text can only be entered as YAML."))
        return value

    def posted(self, post: QueryDict, name: str) -> str | None:
        """Return the submitted text, or None if the field was not on the page."""
        return post.get(name)

    def options(self, scope: FieldScope) -> Sequence[Choice]:
        return ()

    def bind(self, scope: FieldScope) -> BoundField:
        name, value = f"{scope.prefix}{self.id}", self.read(scope)
        shown, raw = self.shown(value), scope.state.inputs.get(name)
        found = self.finding if raw is None and shown is not None else None
        return BoundField(
            field=self,
            name=name,
            path=(*scope.base, *self.place),
            slot=scope.slot,
            value=raw if raw is not None else shown or "",
            error=self._problem(scope, name, value, raw),
            is_yaml_only=shown is None,
            options=self.options(scope),
            suggestions=self.suggest(scope) if self.suggest else (),
            finding=found(value, scope) if found is not None else "",
            answer=scope.state.answers.get(name),
        )

    def _problem(self, scope: FieldScope, name: str, value: Any, raw: str | None) -> Text:
        if raw is not None:
            try:
                self.clean(raw)
            except InvalidInput as error:
                return str(error)
            return self.refused
        refused = scope.state.refused.get(name)
        if refused is not None and refused[0] == (self.shown(value) or ""):
            return refused[1]
        # A placeholder stands for a value of the object that is copied.
        if not scope.state.shows_errors or scope.is_absent or value == MASK:
            return ""
        if self.required and value in (ABSENT, None, "") and self.needed(scope):
            return self.missing
        if self.check is not None and value is not ABSENT and self.shown(value) is not None:
            return self.check(value, scope)
        return ""

    def apply(self, scope: FieldScope) -> None:
        """Write the submitted text, if it was changed."""
        name, state = f"{scope.prefix}{self.id}", scope.state
        given = self.posted(state.post, name) if state.post is not None else None
        before = self.shown(self.read(scope))
        if given is None or before is None:
            return
        # Browsers submit CRLF line breaks.
        given = given.replace("\r\n", "\n")
        if given == state.inputs.get(name, before):
            return
        state.inputs.pop(name, None)
        if given == before:
            return
        try:
            self.write(scope, self.clean(given))
        except (InvalidInput, Blocked):
            state.inputs[name] = given

    def strip(self, scope: FieldScope) -> None:
        """Remove the value, if the field can show it."""
        value = self.read(scope)
        if value is not ABSENT and self.shown(value) is not None:
            self.write(scope, ABSENT)

    def drop_unused(self, scope: FieldScope) -> None:
        """See `console.ui.wizard.parts.FormPart`."""


@dataclass(frozen=True, kw_only=True)
class TextInput(Field):
    """A line of text. `code` shows it in a monospaced font."""

    code: bool = False
    max_length: int = MAX_LINE

    def shown(self, value: Any) -> str | None:
        if value is ABSENT:
            return ""
        return value if value and is_line(value, self.max_length) else None

    def parsed(self, text: str) -> Any:
        found = "".join(c if c.isprintable() else " " for c in text).strip()
        if len(found) > self.max_length:
            raise InvalidInput(
                ngettext(
                    "Use at most %(most)d character.",
                    "Use at most %(most)d characters.",
                    self.max_length,
                )
                % {"most": self.max_length}
            )
        return found or ABSENT


def only_once(text: Text, further: Check | None = None) -> Check:
    """Return the check that no other row has the same name, after the check `further`. `text` is the
    message.
    """

    def check(value: Any, scope: FieldScope) -> Text:
        problem = further(value, scope) if further is not None else ""
        names = [one.get("name") for one in value_at(scope.document, scope.base[:-1])]
        return problem or (text if names.count(value) > 1 else "")

    return check


def dns_label(value: str, _scope: FieldScope) -> Text:
    """Check a name of up to 63 characters (RFC 1123)."""
    if is_dns_label(value):
        return ""
    return _("Use up to 63 lowercase letters, digits and -. Start and end with a letter or digit.")


def dns_subdomain(value: str, _scope: FieldScope) -> Text:
    """Check a name of up to 253 characters (RFC 1123)."""
    if is_dns_subdomain(value):
        return ""
    return _("Use up to 253 lowercase letters, digits, - and dots.")


@dataclass(frozen=True, kw_only=True)
class NumberInput(Field):
    """A whole number from `least` to `most`. `unit` is displayed after the input."""

    least: int = 0
    most: int = 2**31 - 1
    unit: Text = ""
    size: str = "number"
    control: ClassVar[str] = "number"

    def shown(self, value: Any) -> str | None:
        if value is ABSENT:
            return ""
        fits = isinstance(value, int) and not isinstance(value, bool)
        return str(value) if fits and self.least <= value <= self.most else None

    def parsed(self, text: str) -> Any:
        text = text.strip()
        if not text:
            return ABSENT
        number = int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else None
        if number is None or not self.least <= number <= self.most:
            limits = {"least": f"{self.least:,}", "most": f"{self.most:,}"}
            raise InvalidInput(_("Use a whole number from %(least)s to %(most)s.") % limits)
        return number


#: https://kubernetes.io/docs/concepts/services-networking/service/#field-spec-ports
_PORT_NAME = re.compile(r"(?=.{1,15}\Z)(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?")
MAX_PORT = 65535


def port_name(value: str, _scope: FieldScope) -> Text:
    if _PORT_NAME.fullmatch(value):
        return ""
    return _("Use up to 15 lowercase letters, digits and -, and at least one letter.")


def percent_or_number(value: Any) -> bool:
    return bool(re.fullmatch(r"[0-9]{1,3}%", value)) if isinstance(value, str) else value >= 0


def port_or_name(value: Any) -> bool:
    return bool(_PORT_NAME.fullmatch(value)) if isinstance(value, str) else 0 < value <= MAX_PORT


@dataclass(frozen=True, kw_only=True)
class IntOrText(Field):
    """A number, or a text: a port or its name, a number of pods or a percentage. `accepts` checks the
    value, and `usage` says what to enter.
    """

    accepts: Callable[[Any], bool]
    usage: Text
    size: str = "short"

    def shown(self, value: Any) -> str | None:
        if value is ABSENT:
            return ""
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value) if 0 <= value < 10**10 and self.accepts(value) else None
        # A text of digits is not the number.
        plain = is_line(value) and value and not value.isdigit()
        return value if plain and self.accepts(value) else None

    def parsed(self, text: str) -> Any:
        text = text.strip()
        if not text:
            return ABSENT
        value = int(text) if re.fullmatch("[0-9]{1,10}", text) else text
        if not is_line(text) or not self.accepts(value):
            raise InvalidInput(str(self.usage))
        return value


#: Units of quantities, with the name in the form.
CPU_UNITS: Mapping[str, Text] = {"m": "m", "": gettext_lazy("cores")}
MEMORY_UNITS: Mapping[str, Text] = {"Mi": "Mi", "Gi": "Gi"}
STORAGE_UNITS: Mapping[str, Text] = {"Gi": "Gi", "Ti": "Ti", "Mi": "Mi"}
_QUANTITY = re.compile(r"([0-9.]+)([A-Za-z]*)")


@dataclass(frozen=True, kw_only=True)
class QuantityInput(Field):
    """A quantity with a unit. `units` are the selectable ones; others can be typed."""

    units: Mapping[str, Text]
    size: str = "short"
    control: ClassVar[str] = "amount"

    def shown(self, value: Any) -> str | None:
        if value is ABSENT:
            return ""
        if isinstance(value, int) and not isinstance(value, bool):
            # Returned as a text, which Kubernetes treats as equal.
            return None if value < 0 else str(value)
        return value if is_line(value, 32) and parse_quantity(value) is not None else None

    def parsed(self, text: str) -> Any:
        text = "".join(text.split())
        if not text:
            return ABSENT
        amount = parse_quantity(text) if len(text) <= 32 and text.isascii() else None
        if amount is None or amount < 0:
            example = _("2 or 500m") if "m" in self.units else _("512Mi or 1.5Gi")
            raise InvalidInput(_("Enter a number with a unit: %(example)s.") % {"example": example})
        return text

    def posted(self, post: QueryDict, name: str) -> str | None:
        text = super().posted(post, name)
        if text is None:
            return None
        unit = post.get(f"{name}.unit", "")
        text = text.strip()
        bare = bool(text) and text.replace(".", "", 1).isdigit()
        return f"{text}{unit}" if bare and unit in self.units else text

    def split(self, text: str) -> tuple[str, str]:
        """Return the text and the selected unit of a shown value."""
        found = _QUANTITY.fullmatch(text)
        if found is not None and found[2] in self.units:
            return found[1], found[2]
        return text, next(iter(self.units)) if not text else ""


@dataclass(frozen=True, kw_only=True)
class Select(Field):
    """One of several values. The value "" stands for a missing value.

    `implied` is the default of Kubernetes. An object with this value shows the choice "".
    """

    choices: Sequence[Choice] = ()
    implied: str = ""
    size: str = "medium"
    #: Radio buttons with explanations, for up to five options.
    picks: bool = False

    @property
    def control(self) -> str:  # type: ignore[override]
        return "picks" if self.picks else "select"

    def options(self, scope: FieldScope) -> Sequence[Choice]:
        # Browsers select the first option if none is, which would change a missing value.
        if not self.picks and not scope.has(*self.place) and self.choices[0].value:
            return [Choice("", "—"), *self.choices]
        if self.implied and scope.get(*self.place) == self.implied:
            return [replace(one, value=one.value or self.implied) for one in self.choices]
        return self.choices

    def shown(self, value: Any) -> str | None:
        if value is ABSENT:
            return ""
        return value if isinstance(value, str) and value and value in self._values else None

    @property
    def _values(self) -> set[str]:
        return {self.implied, *(one.value for one in self.choices)}

    def parsed(self, text: str) -> Any:
        if not text:
            return ABSENT
        if text not in self._values:
            raise InvalidInput(str(NOT_OFFERED))
        return text


@dataclass(frozen=True, kw_only=True)
class Suggested(TextInput):
    """A text with suggestions, such as the name of another object."""

    size: str = "medium"


@dataclass(frozen=True, kw_only=True)
class RowKey(Suggested):
    """The key of a row of `console.ui.wizard.parts.MapRows`. Keys in `apart` have fields of their
    own.
    """

    id: str = "key"
    required: bool = True
    size: str = ""
    apart: Sequence[str] = ()
    missing: Text = gettext_lazy("Enter a key.")
    refused: Text = gettext_lazy("Another field has this key.")

    def write(self, scope: FieldScope, value: Any) -> None:
        *rows, index = scope.base
        others = [*value_at(scope.document, tuple(rows))]
        del others[int(index)]
        if value in self.apart or any(one.get(self.id, ABSENT) == value for one in others):
            raise Blocked
        Field.write(self, scope, value)

    def strip(self, scope: FieldScope) -> None:
        if self.shown(self.read(scope)) is not None:
            Field.write(self, scope, ABSENT)


@dataclass(frozen=True, kw_only=True)
class CheckBox(Field):
    """A checkbox. `on` is the value if it is checked, `off` otherwise."""

    on: Any = True
    off: Any = ABSENT
    control: ClassVar[str] = "checkbox"
    is_check: ClassVar[bool] = True

    def shown(self, value: Any) -> str | None:
        if value is ABSENT:
            return "" if self.off is ABSENT else "on" if self.on is ABSENT else ""
        same = type(value) is type(self.on) and value == self.on
        return "on" if same else "" if type(value) is type(self.off) and value == self.off else None

    def parsed(self, text: str) -> Any:
        if text not in ("", "on"):
            raise InvalidInput(str(NOT_OFFERED))
        return self.on if text else self.off

    def posted(self, post: QueryDict, name: str) -> str | None:
        # A hidden input before the checkbox says that it was on the page.
        return post.getlist(name)[-1] if name in post else None


@dataclass(frozen=True, kw_only=True)
class Membership(CheckBox):
    """A checkbox that is checked if the list at the path contains `on`."""

    def read(self, scope: FieldScope) -> Any:
        found = scope.get(*self.place)
        return self.on if isinstance(found, list) and self.on in found else ABSENT

    def write(self, scope: FieldScope, value: Any) -> None:
        found = scope.get(*self.place)
        if found is not ABSENT and not isinstance(found, list):
            raise Blocked
        rest = [one for one in found or () if one != self.on]
        Field.write(self, scope, [*rest, *([] if value is ABSENT else [value])] or ABSENT)


@dataclass(frozen=True, kw_only=True)
class TextArea(Field):
    """Several lines of text, stored unchanged."""

    rows: int = 4
    control: ClassVar[str] = "textarea"

    def shown(self, value: Any) -> str | None:
        if value is ABSENT:
            return ""
        fits = isinstance(value, str) and len(value) <= MAX_LINES and "\r" not in value
        return value if fits and value and has_no_invisible(value.replace("\n", "")) else None

    def parsed(self, text: str) -> Any:
        if len(text) > MAX_LINES:
            raise InvalidInput(_("Use at most %(most)s characters.") % {"most": f"{MAX_LINES:,}"})
        return text or ABSENT


@dataclass(frozen=True, kw_only=True)
class Pairs(Field):
    """A mapping of texts, one `key=value` in each line. `verify` returns the problem of a pair.
    `own` returns True for the keys that the field shows; others are kept.
    """

    verify: Callable[[str, str], str] = lambda key, value: ""
    own: Callable[[str], bool] | None = None
    rows: int = 3
    control: ClassVar[str] = "textarea"

    def read(self, scope: FieldScope) -> Any:
        found = scope.get(*self.place)
        if not isinstance(found, dict) or self.own is None:
            return found
        return {key: one for key, one in found.items() if self.own(str(key))} or ABSENT

    def write(self, scope: FieldScope, value: Any) -> None:
        found = scope.get(*self.place)
        held = found if isinstance(found, dict) else {}
        own = self.own or (lambda key: True)
        kept = {key: one for key, one in held.items() if not own(str(key))}
        rest = {} if value is ABSENT else value
        if not all(own(key) for key in rest):
            raise Blocked
        Field.write(self, scope, {**kept, **rest} or ABSENT)

    def shown(self, value: Any) -> str | None:
        if value is ABSENT:
            return ""
        if not isinstance(value, dict) or not value:
            return None
        plain = all(
            isinstance(one, str)
            and isinstance(key, str)
            and is_line(key)
            and "=" not in key
            and key
            for key, one in value.items()
        )
        return format_pairs(value) if plain else None

    def parsed(self, text: str) -> Any:
        try:
            found = KeyValueField(check=self.verify).clean(text)
        except ValidationError as error:
            raise InvalidInput(" ".join(error.messages)) from error
        return found or ABSENT


@dataclass(frozen=True, kw_only=True)
class Command(Field):
    """A list of arguments as a command line with shell quoting."""

    code: bool = True

    def shown(self, value: Any) -> str | None:
        if value is ABSENT:
            return ""
        plain = isinstance(value, list) and value and all(isinstance(one, str) for one in value)
        text = shlex.join(value) if plain else ""
        return text if text and is_line(text, MAX_LINE) and shlex.split(text) == value else None

    def parsed(self, text: str) -> Any:
        try:
            return shlex.split(text) or ABSENT
        except ValueError as error:
            raise InvalidInput(_("A quotation mark is missing.")) from error


@dataclass(frozen=True, kw_only=True)
class Words(Field):
    """A list of short texts, separated by commas. `verify` returns the problem of one of them."""

    verify: Callable[[str], Text] | None = None

    def shown(self, value: Any) -> str | None:
        if value is ABSENT:
            return ""
        plain = isinstance(value, list) and value
        fits = plain and all(
            isinstance(one, str) and one and is_line(one) and "," not in one for one in value
        )
        return ", ".join(value) if fits else None

    def parsed(self, text: str) -> Any:
        found = [one for part in text.split(",") if (one := part.strip())]
        for one in found:
            if not is_line(one):
                raise InvalidInput(_("“%(text)s” is not valid.") % {"text": escape_invisible(one)})
            problem = self.verify(one) if self.verify else ""
            if problem:
                raise InvalidInput(f"{escape_invisible(one)}: {problem}")
        return found or ABSENT


def amount_of(value: Any) -> Decimal | None:
    """Return a quantity in its base unit, or None."""
    return parse_quantity(str(value)) if isinstance(value, str | int) else None
