"""The peek panel next to a list, by keyboard, by pointer and without scripts."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.chromium import Chromium
from tests.browser.console import Console
from tests.browser.keyboard import step_to
from tests.browser.pages.pod_list import CRASHING, LISTED, opened, order, pods, row

NAMES = ("apple", "melon", "plum")


@pytest.fixture
def wide(browser: Chromium) -> Iterator[Page]:
    """Return a page of the width from which the panel is next to the list."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    yield context.new_page()
    context.close()


def panel(page: Page, name: str = "") -> Locator:
    return page.locator(f'#peek:has(#peek-body[data-peek="default/{name}"])' if name else "#peek")


def test_space_peeks_j_moves_on_enter_opens_and_escape_returns(
    console: Console, wide: Page
) -> None:
    page = wide
    with pods(console, *NAMES):
        opened(console, page, *NAMES)
        before = page.locator("#results").bounding_box()
        step_to(page, "default/apple")
        page.keyboard.press("Space")
        expect(panel(page, "apple")).to_be_visible()
        expect(panel(page)).to_contain_text("Running")
        expect(page).to_have_url(re.compile(r"namespace=default&peek=default%2Fapple$"))
        expect(row(page, "apple")).to_be_focused()
        after, beside = page.locator("#results").bounding_box(), panel(page).bounding_box()
        assert before and after and beside
        assert after["width"] < before["width"]
        assert beside["x"] >= after["x"] + after["width"]
        assert beside["width"] == 27 * 16
        table = page.locator("#results > table")
        assert table.evaluate("table => table.scrollWidth <= table.clientWidth")
        page.keyboard.press("j")
        expect(panel(page, "melon")).to_be_visible()
        expect(row(page, "melon")).to_be_focused()
        page.keyboard.press("Escape")
        expect(panel(page)).to_be_hidden()
        expect(row(page, "melon")).to_be_focused()
        expect(page).to_have_url(console.url + LISTED)
        page.keyboard.press("Space")
        page.keyboard.press("k")
        expect(panel(page, "apple")).to_be_visible()
        page.keyboard.press("Enter")
        page.wait_for_url("**/pods/apple")
        page.go_back()
        expect(panel(page, "apple")).to_be_visible()


def test_list_and_panel_stay_live(console: Console, wide: Page) -> None:
    page = wide
    with pods(console, *NAMES):
        opened(console, page, *NAMES)
        page.get_by_role("button", name="Peek at melon").click()
        expect(panel(page, "melon")).to_contain_text("Running")
        console.set_status("melon", CRASHING)
        expect(row(page, "melon")).to_contain_text("Crash loop")
        expect(row(page, "melon")).to_have_attribute("data-peeked", "")
        expect(panel(page, "melon")).to_contain_text("Container c is in a crash loop")
        console.pod("late")
        page.keyboard.press("Escape")
        page.locator("#updates").click()
        expect(row(page, "late")).to_be_visible()
        row(page, "plum").focus()
        page.keyboard.press("Space")
        console.kubectl("delete", "pod", "plum", "--grace-period=0", "--force")
        expect(panel(page)).to_contain_text("No pod default/plum found.")


def test_panel_closes_when_a_filter_removes_its_row(console: Console, wide: Page) -> None:
    page = wide
    with pods(console, *NAMES):
        opened(console, page, *NAMES)
        page.get_by_role("button", name="Peek at plum").click()
        expect(panel(page, "plum")).to_be_visible()
        page.locator("#q").fill("l")
        expect(row(page, "apple")).to_be_visible()
        expect(page).to_have_url(re.compile(r"q=l&.*peek=default%2Fplum$"))
        page.locator("#q").fill("melon")
        expect(row(page, "plum")).to_have_count(0)
        expect(panel(page)).to_be_hidden()
        expect(page).not_to_have_url(re.compile("peek"))
        assert order(page) == ["melon"]


def test_space_opens_the_page_in_narrow_windows(console: Console, page: Page) -> None:
    with pods(console, *NAMES):
        opened(console, page, *NAMES)
        step_to(page, "default/melon")
        page.keyboard.press("Space")
        page.wait_for_url("**/pods/melon")


def test_url_opens_the_panel_without_scripts(console: Console, plain: Page) -> None:
    with pods(console, *NAMES):
        plain.goto(f"{console.url}{LISTED}&peek=default/melon")
        expect(panel(plain, "melon")).to_be_visible()
        plain.get_by_role("link", name="Close").click()
        expect(panel(plain)).to_be_hidden()
        expect(plain).to_have_url(console.url + LISTED)
        plain.set_viewport_size({"width": 1440, "height": 900})
        plain.get_by_role("button", name="Peek at apple").click()
        expect(panel(plain, "apple")).to_be_visible()
        expect(plain).to_have_url(f"{console.url}{LISTED}&peek=default%2Fapple")
        plain.set_viewport_size({"width": 1280, "height": 900})
