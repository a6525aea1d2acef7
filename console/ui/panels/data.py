"""The data of a ConfigMap."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from console.ui.manifests import mapping
from console.ui.panels import NOTHING, Panel
from console.ui.subject import Subject
from console.ui.text import escape_invisible, escape_invisible_lines

#: Maximum keys shown, and maximum characters of each value. The YAML tab shows everything.
MOST, LONGEST = 100, 5_000
#: Maximum lines of a value that is initially expanded.
OPEN = 12


@dataclass(frozen=True, slots=True)
class DataValue:
    """A value of the ConfigMap. `text` is the displayed part and `lines` its number of lines.
    `bytes` is the size of a binary value, which is not displayed.
    """

    key: str
    text: str
    lines: int
    bytes: int | None = None
    cut: bool = False

    @property
    def short(self) -> bool:
        return self.lines == 1 and len(self.text) <= 100

    @property
    def open(self) -> bool:
        return self.lines <= OPEN


@dataclass(frozen=True, kw_only=True)
class DataPanel(Panel):
    id: str = "data"
    title: str | Promise = _("Data")

    def html(self, subject: Subject) -> SafeString:
        found = sorted(_values(subject), key=lambda value: value.key)
        if not found:
            return NOTHING
        context = {"values": found[:MOST], "more": len(found) - MOST if len(found) > MOST else 0}
        return render_to_string("ui/panels/data.html", context)


def _values(subject: Subject) -> Iterator[DataValue]:
    for key, value in mapping(subject.manifest, "data").items():
        if isinstance(value, str):
            text = value[:LONGEST].removesuffix("\n")
            yield DataValue(
                escape_invisible(key),
                escape_invisible_lines(text),
                text.count("\n") + 1,
                cut=len(value) > LONGEST,
            )
    encoded: Mapping[str, object] = mapping(subject.manifest, "binaryData")
    for key, value in encoded.items():
        if isinstance(value, str):
            # Base64 encodes three bytes in four characters.
            size = len(value) * 3 // 4 - value[-2:].count("=")
            yield DataValue(escape_invisible(key), "", 0, size)
