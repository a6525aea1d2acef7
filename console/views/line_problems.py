"""Maps validation errors of kube-apiserver to lines of the edited text.

kube-apiserver names fields in three ways: as causes of a 422 (`spec.containers[0].image`), in
the text of a 400 (`unknown field "spec.foo"`), and for apply errors in the text of a 500
(`.spec.containers[name="c"].foo: field not declared in schema`), although the text is at fault.
"""

import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _

from console.kube.errors import ApiError
from console.ui.core.text import escape_invisible
from console.ui.core.words import translate_message
from console.ui.editing.manifest import MOST_PROBLEMS, ManifestProblem, ParsedManifest
from console.ui.editing.yaml_text import Steps
from console.views.problems import causes_of

#: Maximum characters of a message: some messages contain the whole object.
MAX_MESSAGE_LENGTH = 400
_TYPED = re.compile(
    r"failed to create (?:manager for existing fields|typed (?:patch|live|new) object)"
)
_FIELD = re.compile(
    r"^(?:errors:)?\s*((?:\.[^\s:\[]+|\[(?:\"(?:[^\"\\]|\\.)*\"|[^\]\"])*\])+): (.+)$"
)
_UNKNOWN = re.compile(r"(unknown field|duplicate field) \"([^\"]+)\"")
_DECODED = re.compile(r"cannot unmarshal (\w+) into Go struct field \w*\.(\S+) of type (\S+)")
_INDEX = re.compile(r"\[((?:\"(?:[^\"\\]|\\.)*\"|[^\]\"])*)\]")
_PAIR = re.compile(r"([^=,]*)=(\"(?:[^\"\\]|\\.)*\"|[^,]*)")


def is_caused_by_text(error: ApiError) -> bool:
    """Return True if the error is caused by the edited text, independently of the response status."""
    return error.code in (400, 422) or (error.code == 500 and bool(_TYPED.search(error.message)))


def line_problems(
    error: ApiError, found: ParsedManifest, hide: Callable[[str], str]
) -> list[ManifestProblem]:
    """Return the errors with their lines. `hide` removes masked values from a text."""
    named = dict.fromkeys(causes_of(error)) or dict.fromkeys(_fields(error.message))
    if not named:
        return [ManifestProblem(escape_invisible(_cut(hide(translate_message(error.message)))))]
    return [_problem(path, text, found, hide) for path, text in islice(named, MOST_PROBLEMS)]


def _fields(message: str) -> Iterator[tuple[str, str]]:
    """Yield path and message of each field."""
    for words, path in _UNKNOWN.findall(message):
        yield path, words
    for got, path, wanted in _DECODED.findall(message):
        yield path, _("expected %(wanted)s, got %(got)s") % {"wanted": wanted, "got": got}
    typed = _TYPED.search(message)
    if typed is None:
        return
    # The parentheses contain name and type, which contain colons.
    for line in message[typed.end() :].partition("): ")[2].split("\n"):
        field = _FIELD.match(line.strip())
        if field is not None:
            yield field[1], field[2]


def _problem(
    path: str, text: str, found: ParsedManifest, hide: Callable[[str], str]
) -> ManifestProblem:
    words = {
        "field not declared in schema": _("unknown field"),
        "unknown field": _("unknown field"),
        "duplicate field": _("duplicate field"),
    }
    name = path.removeprefix(".")
    said = words.get(text) or _cut(hide(text))
    whole = said if name in ("", "<nil>", "None") else f"{name}: {said}"
    return found.problem(escape_invisible(whole), steps_of(path, found.document.value), name)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE_LENGTH else f"{text[:MAX_MESSAGE_LENGTH]}…"


def steps_of(path: str, value: Any) -> Steps:
    """Return the path to the field as far as it exists in `value`."""
    found: list[str | int] = []
    rest = path if path[:1] in (".", "[") else f".{path}"
    while rest:
        index = _INDEX.match(rest)
        if index is not None:
            step = _step(index[1], value)
            rest = rest[index.end() :]
        else:
            step = _name(rest[1:], value)
            rest = rest[1 + len(str(step)) :] if step is not None else ""
        if step is None:
            break
        found.append(step)
        value = value[step]
    return tuple(found)


def _name(rest: str, value: Any) -> str | None:
    """Return the longest key that the remaining path starts with, because keys may contain dots."""
    if not isinstance(value, dict):
        return None
    fits = (key for key in value if rest.startswith(key) and rest[len(key) :][:1] in ("", ".", "["))
    return max(fits, key=len, default=None)


def _step(index: str, value: Any) -> str | int | None:
    if isinstance(value, dict):
        return index if index in value else None
    if not isinstance(value, list):
        return None
    if index.isdecimal():
        return int(index) if len(index) < 9 and int(index) < len(value) else None
    pairs = {}
    for name, text in _PAIR.findall(index):
        try:
            pairs[name] = json.loads(text)
        except ValueError:
            pairs[name] = text

    def fits(item: Any) -> bool:
        # Keys that are missing from the item have their default value.
        wanted = pairs.items() if isinstance(item, dict) else ()
        named = bool(wanted) and all(item.get(name, held) == held for name, held in wanted)
        return named or {"": item} == pairs

    return next((at for at, item in enumerate(value) if fits(item)), None)
