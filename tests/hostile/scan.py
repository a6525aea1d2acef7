"""What is on a page that no template of ours has put there."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TypedDict, cast

from playwright.async_api import Page

from console.ui.symbols import ICONS, MARKS
from tests.hostile.texts import EVALUATED
from tests.unit.templates.files import ALL, ROOT, TEMPLATES

#: Python that holds markup of its own; everything else is in templates.
_SOURCES = (ROOT / "console/ui/panels/yaml.py",)
_DJANGO = re.compile(r"{% comment %}.*?{% endcomment %}|{%.*?%}|{{.*?}}|{}", re.DOTALL)
#: What scripts and htmx set on any element.
ADDED = r"aria-[a-z]+|data-(?!hx-|zqx)[a-z-]+|class|hidden|disabled|tabindex|open|checked"


class _Markup(HTMLParser):
    """`known`: the names of attributes by that of the element."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, set[str]] = {
            "tbody": set(),
            # Widths that a script holds while rows change.
            "th": {"style"},
            # Where the lines of a long log are, which its script says.
            "div": {"style"},
            # A block of the base template.
            "body": {"hx-ext", "hx-headers", "ws-connect"},
            # Fields of forms, which Django draws.
            "input": {"inputmode", "max", "min"},
            "textarea": {"cols", "maxlength", "rows"},
        }

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.known.setdefault(tag, set()).update(name for name, _value in attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)


def known() -> dict[str, list[str]]:
    """The elements that our own markup has, each with the names of its attributes."""
    parser = _Markup()
    files = [path.read_text() for path in (*(TEMPLATES / name for name in ALL), *_SOURCES)]
    for text in (*files, *ICONS.values(), *MARKS.values()):
        parser.feed(_DJANGO.sub(" ", text))
        parser.close()
        parser.reset()
    return {tag: sorted(names) for tag, names in parser.known.items()}


#: Told of each violation of the policy while the page lives. Run before any script of the page.
LISTEN = """
window.zqxSeen = [];
addEventListener("securitypolicyviolation", (event) =>
  window.zqxSeen.push(`CSP ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""

_SCAN = (Path(__file__).parent / "scan.js").read_text()


class Scanned(TypedDict):
    """`found`: what is wrong, in words. `links`: whole addresses."""

    found: list[str]
    links: list[str]


class Scanner:
    def __init__(self) -> None:
        # As one text, which takes a browser's driver less than a thousand small ones.
        self._known = [json.dumps(known()), ADDED, EVALUATED]

    async def __call__(self, page: Page, url: str = "", text: str = "") -> Scanned:
        """Of the page as it is now, or of the `text` of another one as the browser reads it."""
        other = {"url": url, "text": text} if url else None
        return cast(Scanned, await page.evaluate(_SCAN, [*self._known, other]))
