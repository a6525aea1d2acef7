"""Read HTML."""

import re
from html.parser import HTMLParser


def text(html: str) -> str:
    """Return the visible text."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)).strip()


VOID = {"input", "img", "link", "meta", "br", "hr", "use", "rect"}


class Elements(HTMLParser):
    """Collect start tags with their attributes and nesting depth."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[int, str, dict[str, str | None]]] = []
        self._depth = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((self._depth, tag, dict(attrs)))
        if tag not in VOID:
            self._depth += 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((self._depth, tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            self._depth -= 1

    def roots(self) -> list[tuple[str, str | None]]:
        return [(tag, attributes.get("id")) for depth, tag, attributes in self.found if depth == 0]
