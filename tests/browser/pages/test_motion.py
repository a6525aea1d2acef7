"""Fifty changes a second: what moves on the screen, and what must not."""

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, WebSocket, expect

from tests.browser.console import ROOT, Console, live, sign_in
from tests.depth import number

# The gate sees the same with fewer changes and rows, in test_under_churn.py and test_live.py.
pytestmark = pytest.mark.deep

_ANIMATED = """document.getAnimations()
  .filter(({ animationName }) => animationName === "changed").length"""


@pytest.fixture(scope="module")
def churn(shared_console: Console) -> Iterator[None]:
    """The benchmark's own: statuses, and every tenth time a pod that goes and one that comes."""
    command = [sys.executable, "-m", "bench.podchanges", str(shared_console.cluster.kubeconfig)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout and process.stdout.readline() == "ready\n"
            yield
            assert process.poll() is None, "the changes have ended"
        finally:
            process.terminate()
            place = ("-n", "default", "--grace-period=0", "--force", "--wait=false")
            shared_console.kubectl("delete", "pods", "--all", *place)


def opened(console: Console, page: Page) -> WebSocket:
    """The list, live, with rows; and what it is told by."""
    with page.expect_websocket() as found:
        sign_in(page, console)
    live(page)
    expect(page.locator("#results tbody tr").nth(20)).to_be_visible()
    return found.value


def looks(socket: WebSocket, least: int, enough: Callable[[], bool]) -> Iterator[int]:
    """A look at the page after each frame: after at least so many, and until there was enough to see."""
    for seen in range(1_000):
        if seen >= least and enough():
            return
        socket.wait_for_event("framereceived")
        yield seen
    pytest.fail("too little changed in a thousand frames")


def it_keeps_the_row_under_the_pointer(console: Console, page: Page, churn: None) -> None:
    socket = opened(console, page)
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
    for _ in looks(socket, number(12, 30), lambda: len(shown) > 5):
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
    socket = opened(console, page)
    page.locator("#results tbody tr").nth(5).focus()
    expect(page.locator("#updates")).to_be_visible()
    sizes = [0]
    for _ in looks(socket, number(12, 30), lambda: max(sizes) > 0):
        sizes.append(page.evaluate("window.quarterdeck.coming.size"))
    # Rows of the page that is not shown yet, and those of one frame that was not told its order.
    assert max(sizes) <= 100


def it_honours_a_wish_for_less_motion(console: Console, page: Page, churn: None) -> None:
    page.emulate_media(reduced_motion="reduce")
    socket = opened(console, page)
    changed = [0]
    for _ in looks(socket, number(8, 20), lambda: max(changed) > 0):
        changed.append(page.locator("tr[data-changed]").count())
        assert page.evaluate(_ANIMATED) == 0
