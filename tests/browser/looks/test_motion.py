"""Fifty changes a second: what moves on the screen, and what must not."""

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ROOT, Console, sign_in
from tests.browser.test_pods import live

LIST = "/clusters/host/pods"
_ANIMATED = """document.getAnimations()
  .filter(({ animationName }) => animationName === "changed").length"""


@pytest.fixture(scope="module")
def churn(console: Console) -> Iterator[None]:
    """The benchmark's own: statuses, and every tenth time a pod that goes and one that comes."""
    command = [sys.executable, "-m", "bench.podchanges", str(console.cluster.kubeconfig)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout and process.stdout.readline() == "ready\n"
            yield
            assert process.poll() is None, "the changes have ended"
        finally:
            process.terminate()


def opened(console: Console, page: Page) -> None:
    sign_in(page, console)
    page.goto(console.url + LIST)
    live(page)
    expect(page.locator("#results tbody tr").nth(20)).to_be_visible()


def looks(page: Page, milliseconds: int, least: int, enough: Callable[[], bool]) -> Iterator[int]:
    """Numbers of looks at a page, so far apart: at least so many, and until there was enough to see."""
    for number in range(60 * 1_000 // milliseconds):
        if number >= least and enough():
            return
        page.wait_for_timeout(milliseconds)
        yield number
    pytest.fail("too little changed in a minute")


def it_keeps_the_row_under_the_pointer(console: Console, page: Page, churn: None) -> None:
    opened(console, page)
    box = page.locator("#results tbody tr").nth(5).bounding_box()
    assert box is not None
    x, y = box["x"] + 300, box["y"] + box["height"] / 2
    for step in (2, 1, 0):
        page.mouse.move(x, y - step)
    # Whichever it is by now: from here on the table is held.
    key = page.evaluate("([x, y]) => document.elementFromPoint(x, y).closest('tr').id", [x, y])
    row = page.locator(f'[id="{key}"]')
    shown: set[str] = set()
    places, lit = set(), 0
    for _ in looks(page, 1_000, 10, lambda: len(shown) > 5):
        now = row.bounding_box()
        assert now is not None
        places.add(round(now["y"]))
        shown.add(page.locator("#results tbody").inner_text())
        lit = max(lit, page.locator("tr[data-changed]").count())
    assert len(places) == 1
    top = places.pop()
    assert top <= y <= top + box["height"]
    assert lit <= 10
    expect(page.locator("#updates")).to_be_visible()


def it_keeps_only_the_rows_that_have_a_place(console: Console, page: Page, churn: None) -> None:
    """A list that is held for hours must not collect what comes and goes meanwhile."""
    opened(console, page)
    page.locator("#results tbody tr").nth(5).focus()
    expect(page.locator("#updates")).to_be_visible()
    sizes = [0]
    for _ in looks(page, 1_000, 8, lambda: max(sizes) > 0):
        sizes.append(page.evaluate("window.quarterdeck.coming.size"))
    # Rows of the page that is not shown yet, and those of one frame that was not told its order.
    assert max(sizes) <= 100


def it_honours_a_wish_for_less_motion(console: Console, page: Page, churn: None) -> None:
    page.emulate_media(reduced_motion="reduce")
    opened(console, page)
    changed = [0]
    for _ in looks(page, 250, 20, lambda: max(changed) > 0):
        changed.append(page.locator("tr[data-changed]").count())
        assert page.evaluate(_ANIMATED) == 0
