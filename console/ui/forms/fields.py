"""Form fields for key-value pairs, ports and sizes.

Key-value pairs are edited as one `key=value` line each. Values that a line can't represent are
written as quoted JSON strings: values with line breaks or invisible characters, and values that
start with a quote or have surrounding spaces.
"""

import json
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

    `check` returns the error message for a key and value, or "" if they are valid. With
    `removes`, the line `key-` stands for the removal of a key, as in kubectl, and its value is None.
    """

    default_error_messages: ClassVar[dict[str, Any]] = TOO_LONG
    widget = text_area(6)

    def __init__(
        self, *, check: Callable[[str, str], str], removes: bool = False, **options: Any
    ) -> None:
        self._check, self._removes = check, removes
        super().__init__(required=False, max_length=MOST, **options)

    def clean(self, value: Any) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        wrong: list[str] = []
        for number, line in enumerate(str(super().clean(value)).splitlines(), 1):
            if not line.strip():
                continue
            key, equals, written = (part.strip() for part in line.partition("="))
            removed = self._removes and not equals and key.endswith("-")
            key = key.removesuffix("-") if removed else key
            try:
                read = _read(written)
                problem = "" if equals or removed else self._usage()
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
            found[key] = None if removed else read
        if wrong:
            raise ValidationError(wrong[:10])
        return found

    def _usage(self) -> str:
        return _("Use key=value or key-.") if self._removes else _("Use key=value.")


def _read(written: str) -> str:
    """Parse a value. Raise `ValueError` if its quoting is invalid."""
    if not written.startswith('"'):
        return written
    found = json.loads(written)
    # Reject unpaired surrogates, which can't be encoded.
    found.encode()
    return str(found)


HIGHEST = 65535
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
