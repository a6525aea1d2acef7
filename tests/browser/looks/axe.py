"""Run Deque's axe-core in a page and return its findings as readable lines."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Frame, Page

from tests.support import npm
from tests.support.depth import DEEP

_SOURCE = Path(__file__).parent / "axe_core"
_TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
#: Configuration of axe: only this frame, because pages have no other frames; only violations, to
#: keep the result small; no preloading, which takes half of the time and is needed only for rules
#: about audio.
_RUN = """([within, rules, without]) => axe.run({ include: [[within]], exclude: without }, {
  runOnly: rules,
  resultTypes: ["violations"],
  preload: false,
})"""
#: Rules whose result depends on the theme.
COLOURS = ("color-contrast",)
#: A JavaScript function that returns the sort of an element.
SORT = (Path(__file__).parent / "sort.js").read_text()
#: Return the sorts of the visible elements in the page's content.
_SORTS = f"""((sort) => () => [...new Set([...document.querySelectorAll("#main *")]
  .filter((one) => one.checkVisibility()).map(sort))])({SORT})"""


@cache
def script() -> str:
    """Return axe's script from the installed package. Raise `npm.Missing` if it cannot be
    installed.
    """
    folder = npm.installed(_SOURCE, "axe-core")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()


#: Elements that all pages share.
_AROUND = (".rail", ".topbar")
#: Rows and lines after the first ones of the same template.
_MORE_ROWS = ["tbody > tr:nth-child(n+8)", ".log-line:nth-child(n+25)"]
#: Move bars below the content that they cover until a user scrolls: axe does not scroll.
_UNCOVER = """document.querySelectorAll(".foot").forEach((one) => {
  one.style.position = "static";
})"""


def shorten(page: Page, *, whole: bool) -> None:
    """Remove repeated rows from a page that is not used any more, because axe scans the whole
    document even if parts are excluded. Unless `whole`, also remove the elements that all pages
    share.
    """
    without = ", ".join((*_MORE_ROWS, *(() if whole else _AROUND)))
    page.evaluate(
        "(those) => document.querySelectorAll(those).forEach((one) => one.remove())", without
    )


def wear(page: Page, theme: str) -> None:
    """Switch the page to this theme."""
    page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)


def sorts(page: Page) -> set[str]:
    """Return the sorts of the visible elements in the page's content."""
    return set(page.evaluate(_SORTS))


def violations(page: Page | Frame, *, within: str = "html", of: Sequence[str] = ()) -> list[str]:
    """Return the violations of WCAG 2.2 A and AA and of axe's best practices in the current page,
    one line per element with the rule, the selector, and a fix. `within` selects a part of the
    page; `of` limits the check to these rules.
    """
    page.evaluate(f"window.axe === undefined && (() => {{ {script()} }})()")
    page.evaluate(_UNCOVER)
    without = [] if DEEP else [[one] for one in _MORE_ROWS]
    rules = {"type": "rule", "values": of} if of else {"type": "tag", "values": _TAGS}
    found: dict[str, Any] = page.evaluate(_RUN, [within, rules, without])
    return [
        f"{rule['id']} {node['target'][0]}: {node['failureSummary'].splitlines()[-1].strip()}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
