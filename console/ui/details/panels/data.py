"""Panels with the data of a ConfigMap, the keys of a Secret, and the YAML of any object."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from console.kube.uncached import SecretMeta
from console.ui.core.links import detail_url
from console.ui.core.manifests import mapping
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible, escape_invisible_lines
from console.ui.details.panels import NOTHING, Panel
from console.ui.editing.yaml_text import yaml_text

#: Maximum keys shown, and maximum characters of each value. The YAML tab shows everything.
MOST, LONGEST = 100, 5_000
#: Maximum lines of a value that is initially expanded.
OPEN = 12


@dataclass(frozen=True, slots=True)
class DataValue:
    """A value of the ConfigMap. `text` is the displayed part and `lines` its number of lines.
    `bytes` is the size of a binary or `masked` value, which is not displayed.
    """

    key: str
    text: str
    lines: int
    bytes: int | None = None
    masked: bool = False
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
        return _html(found[:MOST], len(found))


@dataclass(frozen=True, kw_only=True)
class KeySizesPanel(DataPanel):
    """The keys of a Secret with the sizes of their values."""

    def html(self, subject: Subject) -> SafeString:
        secret: SecretMeta = subject.entry.projection
        found = [
            DataValue(escape_invisible(key), "", 0, size, masked=True) for key, size in secret.sizes
        ]
        return _html(found, secret.keys)


def _html(shown: Sequence[DataValue], total: int) -> SafeString:
    if not shown:
        return NOTHING
    context = {"values": shown, "more": total - len(shown)}
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


#: Maximum lines shown, and maximum characters of each. The download is complete.
MOST_LINES, LONGEST_LINE = 3000, 5000
#: Maximum size of a displayed object, in bytes of JSON.
LARGEST = 256 * 1024
_LINE = (
    '<span class="line" id="L{}"><a href="#L{}" tabindex="-1" aria-hidden="true">{}</a>{}\n</span>'
)


@dataclass(frozen=True, kw_only=True)
class YamlPanel(Panel):
    id: str = "yaml"
    title: str | Promise = _("YAML")

    def html(self, subject: Subject) -> SafeString:
        # The limit uses the size as JSON because encoding JSON is fast. Dumping the largest
        # possible object as YAML takes a second.
        fits = len(msgspec.json.encode(subject.manifest)) <= LARGEST
        text = yaml_text(subject.kind, subject.manifest) if fits else ""
        lines = text.rstrip("\n").split("\n") if fits else []
        shown = enumerate((line[:LONGEST_LINE] for line in lines[:MOST_LINES]), 1)
        url = detail_url(subject.cluster, subject.kind.segment, subject.key)
        context = {
            "lines": format_html_join("", _LINE, ((n, n, n, line) for n, line in shown)),
            "fits": fits,
            "left_out": max(0, len(lines) - MOST_LINES),
            "download_url": f"{url}?format=yaml",
        }
        return render_to_string("ui/panels/yaml.html", context)
