"""Form fields for key-value pairs, ports and sizes.

Key-value pairs are edited as one `key=value` line each. Values that a line can't represent are
written as quoted JSON strings: values with line breaks or invisible characters, and values that
start with a quote or have surrounding spaces.
"""

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.quantity import parse_quantity
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import TOO_LONG, TextField, text_area

#: Maximum characters of all lines together.
MOST = 256 * 1024


def format_pairs(pairs: Mapping[str, str]) -> str:
    return "\n".join(f"{key}={_written(value)}" for key, value in sorted(pairs.items()))


def _written(value: str) -> str:
    plain = value.isprintable() and value == value.strip() and not value.startswith('"')
    return value if plain else json.dumps(value)


class KeyValueField(forms.CharField):
    """Field whose cleaned value is a dictionary.

    `check` returns the error message for a key and value, or "" if they are valid.
    """

    default_error_messages: ClassVar[dict[str, Any]] = TOO_LONG
    widget = text_area(6)

    def __init__(self, *, check: Callable[[str, str], str], **options: Any) -> None:
        self._check = check
        super().__init__(required=False, max_length=MOST, **options)

    def clean(self, value: Any) -> dict[str, str]:
        found: dict[str, str] = {}
        wrong: list[str] = []
        for number, line in enumerate(str(super().clean(value)).splitlines(), 1):
            if not line.strip():
                continue
            key, equals, written = (part.strip() for part in line.partition("="))
            try:
                read = _read(written)
                problem = "" if equals else _("Use key=value.")
                problem = problem or (_("This key appears more than once.") if key in found else "")
                problem = problem or self._check(key, read)
            except ValueError:
                read, problem = (
                    "",
                    _(
                        "A value that starts with a quotation mark must end with a quotation mark, "
                        "as a JSON string."
                    ),
                )
            if problem:
                wrong.append(
                    _("Line %(number)s: %(problem)s") % {"number": number, "problem": problem}
                )
            found[key] = read
        if wrong:
            raise ValidationError(wrong[:10])
        return found


def _read(written: str) -> str:
    """Parse a value. Raise `ValueError` if its quoting is invalid."""
    if not written.startswith('"'):
        return written
    found = json.loads(written)
    # Reject unpaired surrogates, which can't be encoded.
    found.encode()
    return str(found)


HIGHEST = 65535
#: https://kubernetes.io/docs/concepts/services-networking/service/#field-spec-ports
_TARGET = re.compile(r"(?=.{1,15}\Z)(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?")


class PortField(TextField):
    """A port number or port name. The cleaned value is an integer or a text."""

    def clean(self, value: Any) -> int | str:
        found = str(super().clean(value))
        if found.isascii() and found.isdigit() and len(found) <= len(str(HIGHEST)):
            number = int(found)
            if 0 < number <= HIGHEST:
                return number
        elif not found or _TARGET.fullmatch(found):
            return found
        text = _("Enter a port number up to 65535 or a port name.")
        raise ValidationError(text)


#: Maximum characters. Sizes written by Kubernetes have about a dozen.
LONGEST = 32


class SizeField(TextField):
    """Field for a quantity.

    `least` is the minimum, or "" without one. With `larger`, the value must be greater than
    `least`.
    """

    def __init__(self, *, least: str, larger: bool = False, **options: Any) -> None:
        help_text = gettext_lazy("A number with a unit, such as 20Gi or 1.5Ti.")
        super().__init__(max_length=LONGEST, help_text=help_text, **options)
        self.least, self.larger = least, larger

    def clean(self, value: Any) -> str:
        text: str = super().clean(value)
        amount = parse_quantity(text)
        if amount is None or amount <= 0:
            raise ValidationError(
                _("“%(text)s” is not a valid size.") % {"text": escape_invisible(text)}
            )
        least = parse_quantity(self.least) or Decimal(0)
        words = {"least": escape_invisible(self.least)}
        if amount < least and not self.larger:
            raise ValidationError(_("Use at least %(least)s.") % words)
        if amount <= least and self.larger:
            raise ValidationError(_("Use more than %(least)s.") % words)
        return text
