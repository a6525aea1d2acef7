"""Find content on a page in a browser that does not come from our templates."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TypedDict, cast

from playwright.async_api import Page

from console.templatetags.symbols import ICONS, MARKS
from tests.hostile.texts import EVALUATED
from tests.unit.templates.files import ALL, ROOT, TEMPLATES

#: Python modules that contain HTML. All other HTML is in templates.
_SOURCES = (ROOT / "console/ui/details/panels/data.py",)
_DJANGO = re.compile(r"{% comment %}.*?{% endcomment %}|{%.*?%}|{{.*?}}|{}", re.DOTALL)
#: Attributes that scripts and htmx add to elements.
ADDED = r"aria-[a-z]+|data-(?!hx-|zqx)[a-z-]+|class|hidden|disabled|tabindex|open|checked"


class _Markup(HTMLParser):
    """Collects the attribute names of each element in `known`."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, set[str]] = {
            "tbody": set(),
            # Column widths that a script sets while rows change.
            "th": {"style"},
            # Line positions in a long log, set by its script.
            "div": {"style"},
            # A block of the base template.
            "body": {"hx-ext", "hx-headers", "ws-connect"},
            # Form fields that Django renders, and fields that suggest users.
            "input": {"inputmode", "max", "min", "hx-get", "hx-trigger", "hx-target", "hx-sync"},
            "textarea": {"cols", "maxlength", "rows"},
        }

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.known.setdefault(tag, set()).update(name for name, _value in attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)


def known() -> dict[str, list[str]]:
    """Return the elements in our own HTML, each with its attribute names."""
    parser = _Markup()
    files = [path.read_text() for path in (*(TEMPLATES / name for name in ALL), *_SOURCES)]
    for text in (*files, *ICONS.values(), *MARKS.values()):
        parser.feed(_DJANGO.sub(" ", text))
        parser.close()
        parser.reset()
    return {tag: sorted(names) for tag, names in parser.known.items()}


#: Records every policy violation of the page. Runs before all scripts of the page.
LISTEN = """
window.zqxSeen = [];
addEventListener("securitypolicyviolation", (event) =>
  window.zqxSeen.push(`CSP ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""

_SCAN = (Path(__file__).parent / "scan.js").read_text()


class Scanned(TypedDict):
    """`found`: problems of the page. `links`: absolute URLs."""

    found: list[str]
    links: list[str]


class Scanner:
    def __init__(self) -> None:
        # One string, because the browser driver transfers it faster than a thousand small values.
        self._known = [json.dumps(known()), ADDED, EVALUATED]

    async def __call__(self, page: Page, url: str = "", text: str = "") -> Scanned:
        """Scan the current page, or the `text` of another page as the browser parses it."""
        other = {"url": url, "text": text} if url else None
        return cast(Scanned, await page.evaluate(_SCAN, [*self._known, other]))
