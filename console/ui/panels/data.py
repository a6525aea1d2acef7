"""What a ConfigMap holds: its keys with their values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from console.ui.manifests import mapping
from console.ui.panels import NOTHING, Panel
from console.ui.subject import Subject
from console.ui.text import visible, visible_block

#: Keys that are shown, and characters of each value. The YAML has all of them.
MOST, LONGEST = 100, 5_000
#: Lines of a value that is open from the start.
OPEN = 12


@dataclass(frozen=True, slots=True)
class Value:
    """`text`: what is shown of it, `lines`: how many that are. Of what is no text there are only its
    `bytes`."""

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


def _values(subject: Subject) -> Iterator[Value]:
    for key, value in mapping(subject.manifest, "data").items():
        if isinstance(value, str):
            text = value[:LONGEST].removesuffix("\n")
            yield Value(
                visible(key),
                visible_block(text),
                text.count("\n") + 1,
                cut=len(value) > LONGEST,
            )
    encoded: Mapping[str, object] = mapping(subject.manifest, "binaryData")
    for key, value in encoded.items():
        if isinstance(value, str):
            # Base64 has four characters for three bytes.
            size = len(value) * 3 // 4 - value[-2:].count("=")
            yield Value(visible(key), "", 0, size)
