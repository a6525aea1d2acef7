"""Movement on the screen at fifty changes per second."""

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, WebSocket, expect

from tests.browser.console import ROOT, Console, live, sign_in
from tests.support.depth import number

# The CI run covers this with fewer changes and rows in test_under_churn.py and test_live.py.
pytestmark = pytest.mark.deep

_ANIMATED = """document.getAnimations()
  .filter(({ animationName }) => animationName === "changed").length"""


@pytest.fixture(scope="module")
def churn(shared_console: Console) -> Iterator[None]:
    """Run the benchmark's writer: it changes statuses, and every tenth change replaces a pod."""
    command = [sys.executable, "-m", "bench.pod_changes", str(shared_console.cluster.kubeconfig)]
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
    """Open the live list, wait for rows, and return its websocket."""
    with page.expect_websocket() as found:
        sign_in(page, console)
    live(page)
    expect(page.locator("#results tbody tr").nth(20)).to_be_visible()
    return found.value


def looks(socket: WebSocket, least: int, enough: Callable[[], bool]) -> Iterator[int]:
    """Yield after each frame, at least `least` times and until `enough` is true."""
    for seen in range(1_000):
        if seen >= least and enough():
            return
        socket.wait_for_event("framereceived")
        yield seen
    pytest.fail("too little changed in a thousand frames")


def test_the_row_under_the_pointer_does_not_move(console: Console, page: Page, churn: None) -> None:
    socket = opened(console, page)
    box = page.locator("#results tbody tr").nth(5).bounding_box()
    assert box is not None
    x, y = box["x"] + 300, box["y"] + box["height"] / 2
    for step in (2, 1, 0):
        page.mouse.move(x, y - step)
    # The table is held from here on, whichever row is under the pointer.
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


def test_a_held_list_does_not_accumulate_rows(console: Console, page: Page, churn: None) -> None:
    """A list that is held for hours must not accumulate rows that come and go."""
    socket = opened(console, page)
    page.locator("#results tbody tr").nth(5).focus()
    expect(page.locator("#updates")).to_be_visible()
    sizes = [0]
    for _ in looks(socket, number(12, 30), lambda: max(sizes) > 0):
        sizes.append(page.evaluate("window.quarterdeck.coming.size"))
    # Rows of the next page state, and those of one frame whose order was not sent yet.
    assert max(sizes) <= 100


def test_reduced_motion_disables_animations(console: Console, page: Page, churn: None) -> None:
    page.emulate_media(reduced_motion="reduce")
    socket = opened(console, page)
    changed = [0]
    for _ in looks(socket, number(8, 20), lambda: max(changed) > 0):
        changed.append(page.locator("tr[data-changed]").count())
        assert page.evaluate(_ANIMATED) == 0
