"""Read the catalog of translations."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.unit.templates.files import LOCALE

HAN = r"[\u4e00-\u9fff]"


class Message(NamedTuple):
    """A catalog entry. `source` is the original text; for counts its plural, because Chinese has
    one form.
    """

    context: str
    id: str
    source: str
    text: str
    fuzzy: bool
    counted: bool


def _unquoted(lines: str) -> str:
    joined = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', lines))
    return joined.replace(r"\n", "\n").replace(r"\"", '"').replace("\\\\", "\\")


def _messages(catalogue: Path = LOCALE / "django.po") -> Iterator[Message]:
    field = r'{} ((?:"(?:[^"\\]|\\.)*"\n?)+)'
    for block in catalogue.read_text().split("\n\n"):
        if block.startswith("#~"):
            continue
        parts = [
            re.search(field.format(name), block)
            for name in ("msgctxt", "msgid", "msgid_plural", r"msgstr(?:\[0\])?")
        ]
        context, msgid, plural, msgstr = (
            _unquoted(part.group(1)) if part else "" for part in parts
        )
        if msgid:
            fuzzy = re.search(r"^#,.*\bfuzzy\b", block, re.MULTILINE) is not None
            yield Message(context, msgid, plural or msgid, msgstr, fuzzy, bool(plural))


MESSAGES = list(_messages())


#: Template texts identical in every language: names, keys and literal input.
SAME = {
    *(
        "CSV",
        "Ctrl",
        "Ctrl K",
        "Esc",
        "(Esc)",
        "Space",
        "Quarterdeck",
        "Tab",
        "UTC",
        "metrics-server",
        "pods/log",
    ),
    *("NODE_SHELL_NAMESPACE", "docs/shells.md"),
    *("label:app, annotation:note", "po checkout", "team in (a, b)"),
}
