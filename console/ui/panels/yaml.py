"""The object as YAML, with copying and links to single lines."""

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
