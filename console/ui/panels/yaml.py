"""The whole object as YAML, to be read, copied and linked to line by line."""

from dataclasses import dataclass

import msgspec
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from console.ui.links import detail_url
from console.ui.panels import Panel
from console.ui.subject import Subject
from console.ui.yamltext import yaml_text

#: Lines that are drawn, and characters of each; all of them are in the download.
MOST_LINES, LONGEST_LINE = 3000, 5000
#: Bytes of JSON of an object that is drawn at all.
LARGEST = 256 * 1024
_LINE = (
    '<span class="line" id="L{}"><a href="#L{}" tabindex="-1" aria-hidden="true">{}</a>{}\n</span>'
)


@dataclass(frozen=True, kw_only=True)
class YamlPanel(Panel):
    id: str = "yaml"
    title: str | Promise = _("YAML")

    def html(self, subject: Subject) -> SafeString:
        # Measured as JSON, which takes no time: YAML takes a second for what is as large as can be.
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
