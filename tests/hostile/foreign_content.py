"""Find content in a page's HTML that does not come from our templates, without a browser, for the
many pages that differ by their input.
"""

import re
from functools import cache
from html import unescape
from html.parser import HTMLParser

from tests.hostile.scan import ADDED, known
from tests.hostile.texts import EVALUATED

#: Characters that deceive readers: bidirectional controls and invisible characters.
UNSEEN = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
#: Elements that contain the user's input unchanged.
_TYPED = ("textarea", "script")
_LEADS = ("href", "src", "action", "formaction")
_ADDED = re.compile(ADDED)


def wrong_in(html: str) -> list[str]:
    """Return the problems of a page."""
    page = _Page()
    page.feed(html)
    page.close()
    return page.found


def fields_in(html: str) -> dict[str, str]:
    """Return the values that the page's own form would submit, without its buttons."""
    main = html.partition("<main")[2].rpartition("</main>")[0]
    hidden = re.findall(r'<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?', main)
    areas = re.findall(r'<textarea[^>]* name="([^"]+)"[^>]*>\n?(.*?)</textarea>', main, re.DOTALL)
    return {name: unescape(value) for name, value in (*hidden, *areas)}


@cache
def _markup() -> dict[str, frozenset[str]]:
    return {tag: frozenset(names) for tag, names in known().items()}


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag if tag in _TYPED else self._inside
        names = _markup().get(tag)
        if names is None:
            self.found.append(f"a foreign element: {tag}")
        for name, value in attrs:
            if names is not None and name not in names and not _ADDED.fullmatch(name):
                self.found.append(f"a foreign attribute of {tag}: {name}")
            self._look_at(tag, name, value or "")

    def _look_at(self, tag: str, name: str, value: str) -> None:
        if name in _LEADS and not re.match(r"(/(?![/\\])|#|https://kubernetes\.io/)", value):
            self.found.append(f"{tag} leads to {value[:80]!r}")
        if name != "value" and not name.startswith("data-") and UNSEEN.search(value):
            self.found.append(f"what cannot be seen in {name} of {tag}: {value[:80]!r}")

    def handle_endtag(self, tag: str) -> None:
        self._inside = "" if tag == self._inside else self._inside

    def handle_data(self, data: str) -> None:
        if self._inside:
            return
        if UNSEEN.search(data):
            self.found.append(f"what cannot be seen: {data[:80]!r}")
        if EVALUATED in data:
            self.found.append(f"evaluated: {data[:80]!r}")

    def handle_comment(self, data: str) -> None:
        self.found.append(f"a comment: {data[:80]!r}")

    def unknown_decl(self, data: str) -> None:
        self.found.append(f"a declaration: {data[:80]!r}")
