"""An open list while its pods change fifty times per second."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import Console, live
from tests.browser.pages.churning import Churn, churn
from tests.browser.pages.pod_list import CRASHING, RUNNING, opened, order, row
from tests.support.depth import number

NAMES = [f"steady-{number:02}" for number in range(6)]
MIDDLE = NAMES[3]
RATE = 50
AT = """([x, y]) => {
  const row = document.elementFromPoint(x, y).closest("tr");
  return [row.dataset.key, row.getBoundingClientRect().y];
}"""


@pytest.fixture(scope="module")
def _standing(shared_console: Console) -> Iterator[None]:
    with shared_console.tidied():
        shared_console.pod(*NAMES)
        yield


@pytest.fixture
def changing(console: Console, _standing: None) -> Iterator[Churn]:
    kubeconfig = console.cluster.kubeconfig
    with churn(kubeconfig, NAMES, (RUNNING, CRASHING), rate=RATE) as churning:
        yield churning
    left = console.kubectl("get", "pods", "-o", "name").split()
    guests = [name for name in left if name.startswith("pod/guest-")]
    if guests:
        console.kubectl("delete", *guests, "--grace-period=0", "--force")


def opened_by_name(console: Console, page: Page) -> None:
    opened(console, page)
    expect(row(page, MIDDLE)).to_be_visible()


def place(page: Page, name: str) -> float:
    box = row(page, name).bounding_box()
    assert box is not None
    return box["y"]


def test_rows_under_the_pointer_do_not_move(console: Console, page: Page, changing: Churn) -> None:
    opened_by_name(console, page)
    # The second pointer position counts as pointing, and the rows are held from then on.
    row(page, MIDDLE).hover(position={"x": 37, "y": 10})
    row(page, MIDDLE).hover(position={"x": 40, "y": 10})
    box = row(page, MIDDLE).bounding_box()
    assert box is not None
    point = [box["x"] + 40, box["y"] + 10]
    page.mouse.move(*point)
    before = page.evaluate(AT, point)
    # Only permanent pods are used, because a deleted row receives no updates.
    assert before[0] == f"default/{MIDDLE}"
    word = row(page, MIDDLE).locator(".word")
    said = word.inner_text()
    for _frame in range(number(4, 20)):
        changing.go_on(10)
        assert page.evaluate(AT, point) == before
        assert page.locator("tr[data-changed]").count() <= 10
    # The row keeps its place and continues to update.
    expect(word).not_to_have_text(said)
    assert page.evaluate(AT, point) == before
    expect(page.locator("#updates")).to_be_visible()
    page.mouse.move(5, 5)
    expect(page.locator("#updates")).to_be_hidden()


def test_focus_selection_and_open_menu_are_kept(
    console: Console, page: Page, changing: Churn
) -> None:
    opened_by_name(console, page)
    row(page, MIDDLE).focus()
    page.keyboard.press("x")
    expect(row(page, MIDDLE).get_by_role("checkbox")).to_be_checked()
    page.keyboard.press(".")
    menu = row(page, MIDDLE).locator(".menu")
    expect(menu).to_be_visible()
    page.keyboard.press("Tab")
    focused = page.evaluate_handle("document.activeElement")
    stood, rights_version = place(page, MIDDLE), order(page)
    for _frame in range(number(2, 10)):
        changing.go_on(10)
        assert page.evaluate("element => element === document.activeElement", focused)
        assert place(page, MIDDLE) == stood
        expect(menu).to_be_visible()
        expect(row(page, MIDDLE).get_by_role("checkbox")).to_be_checked()
    assert order(page) == rights_version
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()


def test_reduced_motion_disables_animations(console: Console, page: Page, changing: Churn) -> None:
    page.emulate_media(reduced_motion="reduce")
    opened_by_name(console, page)
    live(page)
    # Changed rows show a bar until the next input, without animation.
    row(page, MIDDLE).focus()
    lit = page.locator("tr[data-changed] > :first-child").first
    expect(lit).to_be_attached()
    assert page.evaluate("document.getAnimations().length") == 0
    assert lit.evaluate("cell => getComputedStyle(cell).boxShadow") != "none"
    page.keyboard.press("ArrowLeft")
