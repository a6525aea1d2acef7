"""Form for the data of a Secret or ConfigMap: a value or a file for each key, and rows for new
keys.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.data_keys.users import RestartOffer
from console.actions.data_keys.values import (
    BINARY,
    HIDDEN,
    LARGEST,
    LONG,
    TEXT,
    UNSEEN,
    DisplayedValue,
    digest_of,
    is_key,
)
from console.encryption import DecryptionError, decrypt, encrypt
from console.ui.core.amounts import bytes_text
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import CheckField, ConsoleForm, TextField, text_area

#: Maximum number of existing keys per page and of new keys per request. Each has a file field, and
#: Django accepts 100 files per request.
MOST, MOST_NEW = 64, 24
#: Number of empty rows for new keys.
EMPTY_ROWS = 2
#: Replaced by the row number in the row that scripts copy.
TEMPLATE_ROW = "any"
_PURPOSE = "keys that a page has shown"
_HOW: Mapping[str, str | Promise] = {
    HIDDEN: gettext_lazy("The value is hidden. Leave this field empty to keep the current value."),
    BINARY: gettext_lazy("The value is binary data. Upload a file to replace the value."),
    LONG: gettext_lazy("The value is too long to edit here. Upload a file to replace the value."),
    UNSEEN: gettext_lazy(
        "The value contains invisible characters. Upload a file to replace the value."
    ),
}


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A row of the form. `shown` is None for a new key.

    Fields that the row does not have are None. `again` is True if a file was selected: browsers
    do not keep it, so the user must select it again.
    """

    shown: DisplayedValue | None
    name: forms.BoundField | None
    value: forms.BoundField | None
    file: forms.BoundField
    remove: forms.BoundField | None
    again: bool = False

    @property
    def size(self) -> str:
        return f"{bytes_text(Decimal(self.shown.size))}B" if self.shown is not None else ""

    @property
    def hint(self) -> str | Promise:
        return _HOW.get(self.shown.how, "") if self.shown is not None else ""

    @property
    def errors(self) -> list[str]:
        fields = (self.name, self.value, self.file, self.remove)
        return [str(text) for field in fields if field is not None for text in field.errors]


class KeysForm(ConsoleForm):
    """Form for all keys of an object.

    `found` are the values for the first page, or None for submitted data. After validation,
    `changed` maps keys to new values (None: remove the key), and `shown` maps keys to the values
    that the page showed. `offers` are the restarts to offer after saving.
    """

    form_template: ClassVar[str] = "ui/_keys.html"
    script: ClassVar[str] = "js/newrows.js"
    most: ClassVar[int] = MOST_NEW
    was = forms.CharField(widget=forms.HiddenInput)

    def __init__(
        self,
        data: QueryDict | None,
        found: Sequence[DisplayedValue] | None,
        offers: Sequence[RestartOffer] = (),
    ) -> None:
        #: None if the sealed original values in the submitted data are invalid.
        self.found = (
            found if found is not None else _opened(data.get("was", "") if data is not None else "")
        )
        self._offers = offers
        super().__init__(data, initial={"was": _sealed(self.found or ())})
        sent = data if data is not None else {}
        known = [n for n in range(MOST_NEW) if f"new-key-{n}" in sent]
        self._new: list[str] = [str(n) for n in known or range(EMPTY_ROWS)]
        self._make_fields()

    def _make_fields(self) -> None:
        for n, shown in enumerate(self.found or ()):
            label = escape_invisible(shown.key)
            if shown.how in (TEXT, HIDDEN):
                self.fields[f"value-{n}"] = _value(shown.text, label)
            self.fields[f"file-{n}"] = _file(label)
            self.fields[f"remove-{n}"] = CheckField(label=_("Remove"))
        for name in (*self._new, TEMPLATE_ROW):
            self.fields[f"new-key-{name}"] = TextField(label=_("New key"), required=False)
            self.fields[f"new-value-{name}"] = _value("", _("New value"))
            self.fields[f"new-file-{name}"] = _file(_("New value"))

    @property
    def known_lines(self) -> Iterator[KeyRow]:
        for n, shown in enumerate(self.found or ()):
            value = self[f"value-{n}"] if f"value-{n}" in self.fields else None
            again = bool(self.files.get(f"file-{n}"))
            yield KeyRow(shown, None, value, self[f"file-{n}"], self[f"remove-{n}"], again)

    @property
    def new_lines(self) -> Iterator[KeyRow]:
        return map(self._new_line, self._new)

    @property
    def next(self) -> int:
        """The number of the next new row."""
        return int(self._new[-1]) + 1

    @property
    def any_line(self) -> KeyRow:
        """The row that scripts copy."""
        return self._new_line(TEMPLATE_ROW)

    def _new_line(self, name: str) -> KeyRow:
        key, value, file = (self[f"new-{part}-{name}"] for part in ("key", "value", "file"))
        again = bool(self.files.get(f"new-file-{name}"))
        return KeyRow(None, key, value, file, None, again)

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if self.found is None:
            raise ValidationError(_("The form is incomplete. Reload the page."))
        changed: dict[str, bytes | None] = {}
        at: dict[str, str] = {}
        for n, shown in enumerate(self.found):
            content = self._content(f"value-{n}", f"file-{n}", shown)
            at[shown.key] = f"file-{n}"
            if given.get(f"remove-{n}"):
                if content is not None:
                    self.add_error(
                        at[shown.key], _("Remove the key or enter a new value, not both.")
                    )
                changed[shown.key] = None
            elif content is not None:
                changed[shown.key] = content
        for name in self._new:
            key, content = self._added(name)
            if key in at:
                self.add_error(f"new-key-{name}", _("A key with this name already exists."))
            elif content is not None:
                changed[key], at[key] = content, f"new-file-{name}"
        self._check_size(changed, at)
        self.require_changes(changed)
        for key, field in at.items():
            self.error_fields = {
                **self.error_fields,
                f"data[{key}]": field,
                f"binaryData[{key}]": field,
            }
        shown_keys = {shown.key: shown for shown in self.found}
        return {**given, "changed": changed, "shown": shown_keys, "offers": self._offers}

    def _content(self, value: str, file: str, shown: DisplayedValue | None) -> bytes | None:
        """Return the entered or uploaded value, or None."""
        given = self.cleaned_data
        typed = (given.get(value) or "").replace("\r\n", "\n").encode()
        is_new = bool(typed)
        if shown is not None and shown.how == TEXT:
            # A value that was not submitted is unchanged.
            is_new = value in self.data and digest_of(typed) != shown.digest
        upload = given.get(file)
        if upload is None:
            return typed if is_new else None
        if is_new:
            self.add_error(file, _("Enter a value or choose a file, not both."))
        elif upload.size <= LARGEST:
            return bytes(upload.read())
        else:
            self.add_error(file, _("A value can be at most 1 MiB."))
        return None

    def _added(self, name: str) -> tuple[str, bytes | None]:
        """Return the key and value of a new row, or None as the value if the row is empty or
        invalid.
        """
        field = f"new-key-{name}"
        content = self._content(f"new-value-{name}", f"new-file-{name}", None)
        upload = self.cleaned_data.get(f"new-file-{name}")
        key = self.cleaned_data.get(field) or (upload.name if upload is not None else "")
        if not key:
            if content is not None:
                self.add_error(field, _("Enter a key."))
            return "", None
        if not is_key(key):
            text = _(
                "“%(key)s” is not a valid key. Use up to 253 letters, digits, “-”, “_”, and “.”, and "
                "don't start with two dots."
            )
            self.add_error(field, text % {"key": escape_invisible(key)})
            return "", None
        return key, content if content is not None else b""

    def _check_size(self, changed: Mapping[str, bytes | None], at: Mapping[str, str]) -> None:
        stays = sum(one.size for one in self.found or () if one.key not in changed)
        added = {key: len(content) for key, content in changed.items() if content}
        total = stays + sum(added.values())
        if added and total > LARGEST:
            text = _("All values together can be at most 1 MiB. The new total is %(size)s.")
            size = f"{bytes_text(Decimal(total))}B"
            self.add_error(at[max(added, key=lambda key: added[key])], text % {"size": size})


def _value(text: str, label: str) -> forms.CharField:
    rows = min(text.count("\n") + 2, 12)
    widget = text_area(rows, autocomplete="off")
    return forms.CharField(label=label, required=False, strip=False, initial=text, widget=widget)


def _file(label: str) -> forms.FileField:
    return forms.FileField(
        label=label, required=False, allow_empty_file=True, widget=forms.FileInput
    )


def _sealed(found: Sequence[DisplayedValue]) -> str:
    """Encrypt the original values, so that the hashes of secret values can't be attacked by
    guessing.
    """
    rows = [astuple(replace(shown, text="")) for shown in found]
    return encrypt(json.dumps(rows).encode(), _PURPOSE)


def _opened(sealed: str) -> list[DisplayedValue] | None:
    try:
        return [DisplayedValue(*row) for row in json.loads(decrypt(sealed, _PURPOSE))]
    except DecryptionError:
        return None
