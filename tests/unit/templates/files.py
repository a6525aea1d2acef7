"""The front-end files, and queries shared by several tests."""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TEMPLATES = ROOT / "templates"
STATIC = ROOT / "static"
LOCALE = ROOT / "locale" / "zh_Hans" / "LC_MESSAGES"

ALL = sorted(path.relative_to(TEMPLATES).as_posix() for path in TEMPLATES.rglob("*.html"))
#: Templates that the websocket sends, rendered without a request.
PARTIALS = [name for name in ALL if re.match(r"ui/(_|cells/)", name)]

_TAG = re.compile(r"{%.*?%}|{{.*?}}", re.DOTALL)


@cache
def source(name: str) -> str:
    return (TEMPLATES / name).read_text()


def line_of(text: str, found: re.Match[str]) -> int:
    return text.count("\n", 0, found.start()) + 1


def stylesheets() -> str:
    """Return all CSS of the console without comments."""
    text = "\n".join(path.read_text() for path in sorted((STATIC / "css").rglob("*.css")))
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def selectors_with(declaration: str) -> set[str]:
    """Return the selectors of rules with a declaration that matches this expression."""
    rules = re.findall(r"([^{};/]+){([^{}]*)}", stylesheets())
    return {" ".join(one.split()) for one, rule in rules if re.search(declaration, rule)}


def scripts() -> str:
    return "\n".join(path.read_text() for path in sorted((STATIC / "js").glob("*.js")))


def classes_in(html: str) -> set[str]:
    """Return names in `class` attributes and `class=` arguments of includes."""
    found: set[str] = set()
    for value in re.findall(r'\bclass="([^"]*)"', html):
        found.update(_TAG.sub(" ", value).split())
    return found
