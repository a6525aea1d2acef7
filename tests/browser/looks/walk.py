"""Visit pages and record measurements of each."""

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
#: Runs before the page's own scripts and collects the errors of this page only.
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
    """Width, theme, and language ("en" or "zh") of a window."""

    width: int
    theme: Literal["light", "dark"] = "light"
    language: str = "en"


@dataclass
class Seen:
    """The measurements of one page. `measures`: results of measuring.js by window width; `reports`:
    script errors and policy violations; `violations`: findings of axe, or None if it did not
    run.
    """

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
    """Open a page in this view. Animations are disabled, because a half-open overlay covers part of
    the page.
    """
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
    """Check each page with axe in the view and measure it there and at `widths`, or at all widths.

    `known` holds the sorts of elements that axe has seen, by theme. axe skips a page without new
    sorts, checks only colors if the sorts are new only in this theme, and adds what it has seen.
    It then checks the elements that all pages share only on the pages of `whole`.
    """
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
                # No other page may contain them.
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
    # The view's own width comes last, so that axe uses it.
    for width in (*others, view.width):
        page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
        page.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        measures[width] = measure(page)
    # axe runs after this, because the policy also blocks axe's own style changes.
    reported = tuple(page.evaluate("window.reports"))
    return Seen(path, view, response.status, measures, reported)
