"""Deque's axe-core in a page: what it finds, as lines that a reader can act on."""

from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests import npm

_SOURCE = Path(__file__).parent / "axe_core"
_TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
#: Sees only what this page's own frames hold, there are none; results without what passed are smaller.
_RUN = """(tags) => axe.run(document, {
  runOnly: { type: "tag", values: tags },
  resultTypes: ["violations"],
})"""


@cache
def script() -> str:
    """axe's own script, as it is in the package. Raises `npm.Missing`."""
    folder = npm.installed(_SOURCE, "axe-core")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()


def violations(page: Page) -> list[str]:
    """What breaks WCAG 2.2 A and AA or axe's best practices in the page as it is now: one line for each
    element, with the rule, its address in the page and what to change."""
    page.evaluate(f"window.axe === undefined && (() => {{ {script()} }})()")
    found: dict[str, Any] = page.evaluate(_RUN, list(_TAGS))
    return [
        f"{rule['id']} {node['target'][0]}: {node['failureSummary'].splitlines()[-1].strip()}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
