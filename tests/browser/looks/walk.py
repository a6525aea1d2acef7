"""Walks through pages and keeps what was seen of each."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Page

from tests.browser.chromium import Chromium
from tests.browser.looks import axe

_MEASURING = Path(__file__).parent / "measuring.js"
#: Runs before a page's own scripts. What the page itself reports cannot be taken for another page's.
_WATCHING = """
  window.reports = [];
  addEventListener("error", ({ message }) => reports.push(message));
  addEventListener("unhandledrejection", ({ reason }) => reports.push(String(reason)));
  addEventListener("securitypolicyviolation", (event) =>
    reports.push(`${event.violatedDirective} refused ${event.blockedURI} ${event.sample}`));
"""
HEIGHTS = {320: 700, 390: 844, 768: 1024, 1280: 800, 2560: 1200}


@dataclass(frozen=True)
class View:
    """How somebody looks. `language`: "en" or "zh"."""

    width: int
    theme: Literal["light", "dark"] = "light"
    language: str = "en"


@dataclass
class Seen:
    """One page. `measures`: what measuring.js found, by window width; `reports`: errors of scripts and
    refusals of the Content-Security-Policy; `violations`: of axe, None where it has not looked."""

    path: str
    view: View
    status: int
    measures: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    reports: Sequence[str] = ()
    violations: Sequence[str] | None = None

    @property
    def here(self) -> Mapping[str, Any]:
        return self.measures[self.view.width]


@cache
def measuring() -> str:
    return _MEASURING.read_text()


def measure(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(measuring())
    return found


@contextmanager
def opened(browser: Chromium, view: View, session: Any = None, **more: Any) -> Iterator[Page]:
    """A page that looks so. What opens is there at once: half way it covers half of what is behind it."""
    context = browser.new_context(
        reduced_motion="reduce",
        storage_state=session,
        viewport={"width": view.width, "height": HEIGHTS[view.width]},
        color_scheme=view.theme,
        locale={"en": "en-GB", "zh": "zh-CN"}[view.language],
        **more,
    )
    context.set_default_timeout(20_000)
    context.add_init_script(_WATCHING)
    try:
        yield context.new_page()
    finally:
        context.close()


def walk(
    page: Page,
    url: str,
    paths: Sequence[str],
    view: View,
    *,
    widths: Mapping[str, Collection[int]],
    whole: Collection[str] = (),
    known: Mapping[str, set[str]] | None = None,
) -> list[Seen]:
    """Each page is looked at by axe as it is in the view, and measured there and at those `widths`, or
    at all. `known`: the sorts of elements that axe has seen, by theme; it leaves out a page that has no
    others, looks for colours alone at one that has no others than those of another theme, and in the
    other theme for those of what is new there, and adds what it has seen. It sees then what all pages
    have around their content on the pages of `whole`."""
    found = []
    for path in paths:
        others = [width for width in widths.get(path, HEIGHTS) if width != view.width]
        seen = _visit(page, url, path, view, others)
        if known is None:
            seen.violations = axe.violations(page)
        else:
            axe.shorten(page, whole=path in whole)
            there = axe.sorts(page)
            if new := there - known[view.theme]:
                of = axe.COLOURS if new <= set().union(*known.values()) else ()
                seen.violations = axe.violations(page, of=of)
                known[view.theme].update(new)
            for theme in known:
                # No other page may have them.
                if new := there - known[theme]:
                    axe.wear(page, theme)
                    other = [f"{theme}: {one}" for one in axe.violations(page, of=axe.COLOURS)]
                    seen.violations = [*(seen.violations or ()), *other]
                    known[theme].update(new)
        found.append(seen)
    return found


def _visit(page: Page, url: str, path: str, view: View, others: Sequence[int]) -> Seen:
    response = page.goto(url + path)
    assert response is not None, path
    page.evaluate("document.fonts.ready")
    measures = {}
    # Its own width comes last: so axe sees it.
    for width in (*others, view.width):
        page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
        page.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        measures[width] = measure(page)
    # Axe comes after this: its own trials of styles are refused, too.
    reported = tuple(page.evaluate("window.reports"))
    return Seen(path, view, response.status, measures, reported)
