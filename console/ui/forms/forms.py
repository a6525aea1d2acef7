"""Form base class and fields, rendered by `ui/_form.html` and robust against arbitrary input.

A form with errors shows the entered values again, except secrets.
"""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.ui.core.text import escape_invisible

MAX_TEXT = 256
#: Limit for the input to password hashing. bcrypt itself reads at most 72 bytes.
MAX_SECRET = 1024


class ConsoleForm(forms.Form):
    """Base class of forms.

    - `ids`: pattern for the field IDs, so that a page can have two forms.
    - `rendered_by_page`: fields that the page renders itself.
    - `error_fields`: maps paths of API objects to form fields, see `console.views.problems`.
    - `form_template`: the template. `script` is its JavaScript file.
    """

    ids: ClassVar[str] = "form-%s"
    rendered_by_page: ClassVar[Collection[str]] = ()
    form_template: ClassVar[str] = "ui/_form.html"
    script: ClassVar[str] = ""
    error_fields: Mapping[str, str] = {}

    def __init__(self, data: QueryDict | None = None, **options: Any) -> None:
        super().__init__(data, **{"auto_id": self.ids, **options})
        #: HTTP status of the page while the form has errors.
        self.status = 400

    @property
    def lines(self) -> list[forms.BoundField]:
        """The fields that `ui/_form.html` renders."""
        return [field for field in self if field.name not in self.rendered_by_page]

    def require_changes(self, changed: object, text: str = "") -> None:
        """Raise `ValidationError` if `changed` is empty and no field has an error. For `clean`."""
        if not changed and not self.errors:
            raise ValidationError(text or _("No changes were made."))

    @property
    def page_status(self) -> int:
        return self.status if self.errors else 200


def posted(request: HttpRequest) -> QueryDict | None:
    """Return the data to bind a form to, or None for a GET request."""
    return request.POST if request.method == "POST" else None


class TextField(forms.CharField):
    """A single-line text. Non-printable characters become spaces before validation and rendering.

    - `size`: width of the input, "short" or "medium"; "" for the whole width.
    - `is_optional`: the field may be empty, and its label says so.
    """

    default_error_messages: ClassVar[dict[str, Any]] = {
        "max_length": gettext_lazy("Use at most %(limit_value)s characters.")
    }

    def __init__(
        self,
        *,
        autocomplete: str = "off",
        max_length: int = MAX_TEXT,
        size: str = "",
        is_optional: bool = False,
        **options: Any,
    ) -> None:
        self.autocomplete, self.size, self.is_optional = autocomplete, size, is_optional
        if is_optional:
            options["required"] = False
        super().__init__(max_length=max_length, **options)

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        return {
            **super().widget_attrs(widget),
            "class": "input",
            "autocomplete": self.autocomplete,
            "autocapitalize": "none",
            "spellcheck": "false",
        }

    def to_python(self, value: Any) -> str | None:
        return super().to_python(_printable(value or ""))

    def bound_data(self, data: Any, initial: Any) -> Any:
        return _printable(super().bound_data(data, initial) or "")


#: Error message of fields with a maximum length.
TOO_LONG: dict[str, Any] = TextField.default_error_messages


def text_area(rows: int = 1, **attrs: str) -> forms.Textarea:
    """Return a multi-line input for code, without the browser's corrections."""
    about = {"class": "input code", "spellcheck": "false", "autocapitalize": "none"}
    return forms.Textarea({**about, "rows": rows, **attrs})


def is_line(value: object, max_length: int = MAX_TEXT) -> bool:
    """Return True if a `TextField` returns `value` unchanged."""
    return (
        isinstance(value, str)
        and value.isprintable()
        and value == value.strip()
        and len(value) <= max_length
    )


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


class NumberField(forms.IntegerField):
    """An integer between `least` and `most`."""

    size = "number"

    def __init__(self, *, least: int, most: int, **options: Any) -> None:
        super().__init__(min_value=least, max_value=most, **options)

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        return {**super().widget_attrs(widget), "class": "input", "autocomplete": "off"}

    def clean(self, value: Any) -> int | None:
        """Return the number, or None if the field is empty and not required."""
        try:
            found: int | None = super().clean(value)
            return found
        except ValidationError as error:
            limits = {"least": f"{self.min_value:,}", "most": f"{self.max_value:,}"}
            text = _("Use a whole number from %(least)s to %(most)s.") % limits
            raise ValidationError(text) from error

    def bound_data(self, data: Any, initial: Any) -> Any:
        return _printable(str(super().bound_data(data, initial) or ""))


class SecretField(TextField):
    """A password, kept exactly as entered and never rendered.

    An empty value is valid here. The code that verifies the password reports it as wrong, so
    that it counts as an attempt.
    """

    widget: Any = forms.PasswordInput

    def __init__(self, *, max_length: int = MAX_SECRET, **options: Any) -> None:
        super().__init__(max_length=max_length, **options)

    def clean(self, value: Any) -> str:
        return str(value or "")[: self.max_length]


class CodeField(SecretField):
    """A one-time code. `keyboard` is the HTML `inputmode`, which selects the keyboard on a phone."""

    def __init__(self, *, keyboard: str = "", **options: Any) -> None:
        widget = _CodeInput({"inputmode": keyboard} if keyboard else None)
        super().__init__(
            autocomplete="one-time-code", max_length=MAX_TEXT, widget=widget, **options
        )


class _CodeInput(forms.PasswordInput):
    input_type = "text"


class ChoiceField(forms.ChoiceField):
    """Accept only the offered choices. A missing or outdated value is an error and never replaced
    by a default.
    """

    size = "medium"
    default_error_messages: ClassVar[dict[str, Any]] = {
        "invalid_choice": gettext_lazy("This option is no longer available. Choose another option.")
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, widget=_Select, **options)

    def validate(self, value: Any) -> None:
        if not self.valid_value(value):
            raise ValidationError(self.error_messages["invalid_choice"])


class CheckField(forms.BooleanField):
    """A checkbox. Accept only values that a checkbox submits."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, widget=_Check, **options)

    def to_python(self, value: Any) -> bool:
        if value in _TICKED:
            return True
        if value in (None, "", False):
            return False
        raise ValidationError(ChoiceField.default_error_messages["invalid_choice"])


#: Values sent by browsers and by other clients, and the initial value.
_TICKED = ("on", "true", True)


class _Check(forms.CheckboxInput):
    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        """Return the submitted value. Django would accept any value as checked."""
        return data.get(name)

    def format_value(self, value: Any) -> None:
        """Return None, so that every checkbox submits "on"."""


class _Select(forms.Select):
    def __init__(self) -> None:
        super().__init__({"class": "input"})

    def create_option(
        self, name: str, value: Any, label: Any, *args: Any, **options: Any
    ) -> dict[str, Any]:
        return super().create_option(name, value, escape_invisible(str(label)), *args, **options)
