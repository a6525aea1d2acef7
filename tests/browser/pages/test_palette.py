"""The command palette and the search page in a real browser, by keyboard and without scripts."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.console import PODS, Console, sign_in


def option(page: Page, text: str) -> Locator:
    return page.get_by_role("option", name=text)


def opened(page: Page) -> Locator:
    """Open the palette by its key and wait for its first options."""
    page.wait_for_load_state()
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Jump to")
    expect(field).to_be_focused()
    expect(option(page, "Pods").first).to_have_attribute("aria-selected", "true")
    return field


def test_the_palette_opens_pages_by_keyboard(console: Console, page: Page) -> None:
    console.pod("palette-one")
    sign_in(page, console)
    expect(page.locator('tr[data-key="default/palette-one"]')).to_be_visible()
    field = opened(page)
    # Arrow keys move the selection; the focus stays in the field.
    page.keyboard.press("ArrowDown")
    chosen = page.locator('[role=option][aria-selected="true"]')
    expect(chosen).to_have_count(1)
    name = chosen.get_attribute("id") or ""
    expect(field).to_have_attribute("aria-activedescendant", name)
    expect(field).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("option").first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("option").last).to_have_attribute("aria-selected", "true")
    # A short name typed quickly: Enter uses the result for the current text.
    page.keyboard.type("deploy")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/clusters/host/deployments$"))
    opened(page)
    page.keyboard.type("palette-on")
    expect(option(page, "palette-one").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("palette-one"))
    expect(page.locator("#palette")).to_be_hidden()


def test_the_palette_runs_commands_and_closes(console: Console, page: Page) -> None:
    sign_in(page, console, anew=True)
    expect(page).to_have_url(re.compile(r"/pods(\?|$)"))
    field = opened(page)
    page.keyboard.type("else")
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()
    page.keyboard.press(":")
    expect(page.locator("#palette")).to_be_visible()
    expect(field).to_have_value("")
    page.mouse.click(5, 5)
    expect(page.locator("#palette")).to_be_hidden()
    with page.context.expect_page() as another:
        page.get_by_role("link", name="Jump to").click(modifiers=["Control"])
    expect(another.value.get_by_label("Search all kinds")).to_be_visible()
    another.value.close()
    page.get_by_role("link", name="Jump to").click()
    expect(page.get_by_role("combobox", name="Jump to")).to_be_focused()
    page.keyboard.type("theme dark")
    expect(option(page, "Theme: dark").first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page).to_have_url(re.compile(r"/pods(\?|$)"))
    opened(page)
    page.keyboard.type("sign out")
    expect(option(page, "Sign out").first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/login"))


def test_an_expired_session_leads_to_the_sign_in_page(console: Console, page: Page) -> None:
    sign_in(page, console)
    page.wait_for_load_state()
    page.context.clear_cookies()
    page.keyboard.press("Control+k")
    page.wait_for_url("**/login*")


def test_search_works_without_scripts(console: Console, plain: Page) -> None:
    console.pod("palette-plain")
    plain.goto(console.url + PODS)
    plain.get_by_role("link", name="Jump to").click()
    plain.get_by_label("Search all kinds").fill("palette-plain")
    plain.get_by_role("button", name="Search").click()
    expect(
        plain.locator('section[data-resource="pods"] a', has_text="palette-plain")
    ).to_be_visible()
