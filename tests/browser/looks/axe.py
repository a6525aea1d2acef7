"""Deque's axe-core in a page: what it finds, as lines that a reader can act on."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Frame, Page

from tests import npm
from tests.depth import DEEP

_SOURCE = Path(__file__).parent / "axe_core"
_TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
#: Sees only what this page's own frames hold, there are none; results without what passed are smaller.
#: What it would load before, for half of its time, is for rules about sound, of which there is none.
_RUN = """([within, rules, without]) => axe.run({ include: [[within]], exclude: without }, {
  runOnly: rules,
  resultTypes: ["violations"],
  preload: false,
})"""
#: What differs between themes.
COLOURS = ("color-contrast",)
#: A function in JavaScript: what sort of element one is.
SORT = (Path(__file__).parent / "sort.js").read_text()
#: Those of a page's content that is seen.
_SORTS = f"""((sort) => () => [...new Set([...document.querySelectorAll("#main *")]
  .filter((one) => one.checkVisibility()).map(sort))])({SORT})"""


@cache
def script() -> str:
    """axe's own script, as it is in the package. Raises `npm.Missing`."""
    folder = npm.installed(_SOURCE, "axe-core")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()


#: What all pages have around their content.
_AROUND = (".rail", ".topbar")
#: Rows and lines after some of the same template.
_MORE_ROWS = ["tbody > tr:nth-child(n+8)", ".log-line:nth-child(n+25)"]


def shorten(page: Page, *, whole: bool) -> None:
    """Takes out of a page, which is not used any more, what is like the rest of it: axe goes through all
    that is there, also where it is not to look. Not `whole`: what all pages have around their content."""
    without = ", ".join((*_MORE_ROWS, *(() if whole else _AROUND)))
    page.evaluate(
        "(those) => document.querySelectorAll(those).forEach((one) => one.remove())", without
    )


def wear(page: Page, theme: str) -> None:
    """The page as it is, in that theme."""
    page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)


def sorts(page: Page) -> set[str]:
    """Of the elements in the page's content that are seen."""
    return set(page.evaluate(_SORTS))


def violations(page: Page | Frame, *, within: str = "html", of: Sequence[str] = ()) -> list[str]:
    """What breaks WCAG 2.2 A and AA or axe's best practices in the page as it is now: one line for each
    element, with the rule, its address in the page and what to change. `within`: a part of it; `of`:
    these rules alone."""
    page.evaluate(f"window.axe === undefined && (() => {{ {script()} }})()")
    without = [] if DEEP else [[one] for one in _MORE_ROWS]
    rules = {"type": "rule", "values": of} if of else {"type": "tag", "values": _TAGS}
    found: dict[str, Any] = page.evaluate(_RUN, [within, rules, without])
    return [
        f"{rule['id']} {node['target'][0]}: {node['failureSummary'].splitlines()[-1].strip()}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
