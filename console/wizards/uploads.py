"""Uploads of files as values of a ConfigMap or a Secret."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from console.ui.core.text import escape_invisible
from console.ui.wizard.fields import Text
from console.ui.wizard.paths import Blocked, remove_at, write_at
from console.ui.wizard.state import FieldScope
from console.wizards.data_keys import data_key

#: Maximum bytes of all values of a ConfigMap or a Secret, as kube-apiserver checks it.
MAX_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class BinaryValue:
    """A value that is no text. `act` removes it."""

    key: str
    size: str
    act: str


@dataclass(frozen=True)
class BoundUpload:
    """The input for files on a page, and the values that no field can show."""

    part: "FileUpload"
    name: str
    values: Sequence[BinaryValue]
    error: Text = ""

    template = "wizard/upload.html"
    children: Sequence[Any] = ()

    @property
    def id(self) -> str:
        return "w-" + self.name.replace(".", "-")

    @property
    def errors(self) -> int:
        return int(bool(self.error))

    @property
    def most(self) -> int:
        return MAX_BYTES


@dataclass(frozen=True, kw_only=True)
class FileUpload:
    """Adds files as values. A file that is UTF-8 becomes a text, as with `kubectl create --from-file`.

    - `texts`: field with texts. `binaries`: field with Base64.
    """

    texts: str
    binaries: str
    label: Text
    id: str = "files"

    def bind(self, scope: FieldScope) -> BoundUpload:
        name = f"{scope.prefix}{self.id}"
        values = [
            BinaryValue(key, filesizeformat(size), f"{name}.drop.{key}")
            for key, size in self._binaries(scope).items()
        ]
        return BoundUpload(self, name, values, _problem(scope.state.inputs.get(name, "")))

    def _binaries(self, scope: FieldScope) -> dict[str, int]:
        """Return the size of each binary value, in bytes."""
        held = scope.get(self.binaries)
        sizes = {
            key: _decoded_size(value)
            for key, value in (held.items() if isinstance(held, dict) else ())
            if isinstance(key, str)
        }
        return {key: size for key, size in sizes.items() if size is not None}

    def apply(self, scope: FieldScope) -> None:
        state, name = scope.state, f"{scope.prefix}{self.id}"
        if state.post is None or name not in state.post:
            return
        state.inputs.pop(name, None)
        key = state.act.removeprefix(f"{name}.drop.")
        if key != state.act and key in self._binaries(scope):
            remove_at(scope.document, (*scope.base, self.binaries, key), scope.floor)
        with suppress(Blocked):
            self._add(scope, name, state.files.getlist(name))

    def _add(self, scope: FieldScope, name: str, files: Sequence["UploadedFile[Any]"]) -> None:
        """Add files, or none of them and keep the problem."""
        read: dict[str, bytes] = {}
        for file in files:
            key = (file.name or "").rpartition("/")[2]
            if data_key(key, scope):
                scope.state.inputs[name] = json.dumps(["name", key])
                return
            read[key] = file.read()
        if not read:
            return
        total = self._total(scope, read)
        if total > MAX_BYTES:
            scope.state.inputs[name] = json.dumps(["size", total])
            return
        # The empty row of a new object.
        if scope.get(self.texts, "") == "":
            remove_at(scope.document, (*scope.base, self.texts, ""), scope.floor)
        for key, content in read.items():
            for field in (self.texts, self.binaries):
                remove_at(scope.document, (*scope.base, field, key), scope.floor)
            try:
                place, value = self.texts, content.decode()
            except UnicodeDecodeError:
                place, value = self.binaries, base64.b64encode(content).decode()
            write_at(scope.document, (*scope.base, place, key), value)

    def _total(self, scope: FieldScope, read: Mapping[str, bytes]) -> int:
        """Return the bytes of all values after files were added."""
        texts = scope.get(self.texts)
        sizes = {
            key: len(value.encode(errors="replace"))
            for key, value in (texts.items() if isinstance(texts, dict) else ())
            if isinstance(value, str)
        }
        added = {key: len(content) for key, content in read.items()}
        return sum({**sizes, **self._binaries(scope), **added}.values())

    def strip(self, scope: FieldScope) -> None:
        for key in self._binaries(scope):
            remove_at(scope.document, (*scope.base, self.binaries, key), scope.floor)

    def drop_unused(self, scope: FieldScope) -> None:
        return


def _decoded_size(value: Any) -> int | None:
    """Return the size of a value in Base64, or None if it isn't Base64."""
    try:
        return len(base64.b64decode(value, validate=True)) if isinstance(value, str) else None
    except (binascii.Error, ValueError):
        return None


def _problem(kept: str) -> Text:
    """Return the message of a problem that `FileUpload` kept."""
    if not kept:
        return ""
    with suppress(ValueError, TypeError, RecursionError):
        code, value = json.loads(kept)
        if code == "name":
            words = {"name": escape_invisible(str(value)), "rule": data_key(str(value))}
            return _("The file name “%(name)s” can't be a key. %(rule)s") % words
        if code == "size":
            words = {"size": f"{int(value):,}", "most": f"{MAX_BYTES:,}"}
            return (
                _(
                    "Nothing was added: all values together would have %(size)s bytes. Use at most "
                    "%(most)s bytes."
                )
                % words
            )
    return _("The files were not added. Choose them again.")
