"""Form field for key-value pairs, edited as one `key=value` line each.

Values that a line can't represent are written as quoted JSON strings: values with line breaks or
invisible characters, and values that start with a quote or have surrounding spaces.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

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

    default_error_messages: ClassVar[dict[str, Any]] = {
        "max_length": gettext_lazy("Use at most %(limit_value)s characters.")
    }
    widget = forms.Textarea(
        {"class": "input code", "rows": 6, "spellcheck": "false", "autocapitalize": "none"}
    )

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
