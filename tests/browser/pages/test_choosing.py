"""Selecting rows, columns, and views, and collapsing the menu, in a real browser."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.console import Console, live, sign_in
from tests.controlplane.waiting import eventually


def row(page: Page, name: str) -> Locator:
    return page.locator(f'tr[data-key="default/{name}"]')


def box(page: Page, name: str) -> Locator:
    return row(page, name).get_by_role("checkbox")


def at(page: Page, console: Console, path: str) -> None:
    """Sign in and open this path."""
    sign_in(page, console, path)
    live(page)


def test_rows_selected_on_two_pages_are_deleted(console: Console, page: Page) -> None:
    console.pod(*(f"bulk-{number}" for number in range(4)), bulk="yes")
    at(page, console, "/clusters/host/pods?label=bulk%3Dyes&sort=name&limit=2")
    bar = page.get_by_role("region", name="Selected rows")
    expect(bar).to_be_hidden()
    # First by keyboard, then by pointer on the next page, where the first row stays selected.
    with page.context.expect_page() as another:
        page.get_by_role("link", name="Next page").click(modifiers=["Control"])
    another.value.close()
    row(page, "bulk-0").focus()
    page.keyboard.press("x")
    expect(box(page, "bulk-0")).to_be_checked()
    expect(bar).to_contain_text("1 selected")
    expect(page.locator("#announce")).to_have_text("1 selected")
    page.get_by_role("link", name="Next page").click()
    box(page, "bulk-3").click()
    expect(bar).to_contain_text("2 selected")
    # A changed row stays selected; a new row is not selected.
    console.kubectl("label", "pod", "bulk-3", "-n", "default", "more=yes")
    page.get_by_role("link", name="Previous page").click()
    expect(box(page, "bulk-0")).to_be_checked()
    expect(box(page, "bulk-1")).not_to_be_checked()
    page.get_by_role("button", name="Delete…").click()
    expect(page.get_by_role("heading", name="Delete 2 pods")).to_be_visible()
    expect(page.get_by_text("default/bulk-3")).to_be_visible()
    page.get_by_role("button", name="Delete 2 pods").click()
    expect(page.locator(".summary")).to_contain_text("2 succeeded, 0 no longer existed, 0 failed.")
    eventually(
        lambda: not console.has_pod("bulk-0") and not console.has_pod("bulk-3"), "both are gone"
    )
    assert console.has_pod("bulk-1")
    page.get_by_role("link", name="Back to the list").click()
    expect(page.locator("table[data-total]")).to_have_attribute("data-total", "2")
    page.get_by_role("checkbox", name="Select all rows on this page").click()
    expect(bar).to_contain_text("2 selected")
    page.get_by_role("button", name="Clear selection").click()
    expect(bar).to_be_hidden()


def test_all_matching_rows_and_ranges_can_be_selected(console: Console, page: Page) -> None:
    console.pod("other", *(f"range-{number}" for number in range(3)))
    at(page, console, "/clusters/host/pods?sort=name&limit=3")
    # All rows of the filtered list, not of the list that the page was loaded with.
    page.locator("#q").fill("range-")
    expect(row(page, "other")).to_have_count(0)
    box(page, "range-0").click()
    box(page, "range-2").click(modifiers=["Shift"])
    bar = page.get_by_role("region", name="Selected rows")
    expect(bar).to_contain_text("3 selected")
    row(page, "range-1").focus()
    page.keyboard.press("Shift+X")
    expect(bar).to_contain_text("1 selected")
    page.keyboard.press("x")
    page.keyboard.press("Control+x")
    expect(bar).to_contain_text("2 selected")
    row(page, "range-2").focus()
    page.evaluate(
        "addEventListener('keydown', (event) => { window.taken = event.defaultPrevented; })"
    )
    page.keyboard.press("Shift+X")
    expect(bar).to_contain_text("3 selected")
    # The page does not scroll.
    assert page.evaluate("window.taken")
    console.pod("range-3")
    expect(page.get_by_role("button", name="Select all 4 matching items")).to_be_visible()
    console.pod("range-4")
    every = page.get_by_role("button", name="Select all 5 matching items")
    every.click()
    expect(bar).to_contain_text("All 5 matching items are selected")
    expect(page.locator("#bulk-all")).to_be_hidden()
    page.get_by_role("button", name="Clear selection").click()
    expect(bar).to_be_hidden()
    box(page, "range-0").click()
    every.click()
    # Without one of them, only the visible rows are selected.
    page.get_by_role("link", name="Next page").click()
    expect(box(page, "range-3")).to_be_checked()
    head = page.get_by_role("checkbox", name="Select all rows on this page")
    expect(head).to_be_checked()
    box(page, "range-4").click()
    expect(bar).to_contain_text("2 selected")
    expect(box(page, "range-3")).to_be_checked()
    expect(head).not_to_be_checked()
    every.click()
    page.get_by_role("button", name="Delete…").click()
    expect(page.get_by_role("heading", name="Delete 5 pods")).to_be_visible()
    page.get_by_role("link", name="Cancel").click()
    expect(page.locator("table[data-total]")).to_have_attribute("data-total", "5")


def test_confirmation_and_result_fit_a_phone(console: Console, page: Page) -> None:
    """Names have the maximum length and no line break opportunity."""
    name = "z" * 253
    console.pod(name, wide="yes")
    sign_in(page, console, "")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{console.url}/clusters/host/projects/default/pods/{name}/actions/delete")
    expect(page.locator("form.confirm")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    at(page, console, "/clusters/host/pods?label=wide%3Dyes")
    box(page, name).check()
    page.get_by_role("button", name="Delete…").click()
    expect(page.locator("form.confirm .names")).to_contain_text(name)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("form.confirm button[type=submit]").click()
    expect(page.locator(".summary")).to_contain_text("1 succeeded")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_selected_rows_are_deleted_without_scripts(console: Console, plain: Page) -> None:
    console.pod("plain-bulk", plain="yes")
    plain.goto(console.url + "/clusters/host/pods?label=plain%3Dyes")
    box(plain, "plain-bulk").check()
    plain.get_by_role("button", name="Delete…").click()
    plain.get_by_role("button", name="Delete pod plain-bulk").click()
    expect(plain.locator(".summary")).to_contain_text("1 succeeded")


def test_selected_columns_update_and_are_saved_in_a_view(console: Console, page: Page) -> None:
    console.pod("columns-one", team="payments")
    at(page, console, "/clusters/host/pods?q=columns-one")
    page.get_by_role("button", name="Columns", exact=True).click()
    page.get_by_role("checkbox", name="Restarts").uncheck()
    page.get_by_label("Labels").fill("label:team")
    page.get_by_role("button", name="Show selected columns").click()
    expect(page.get_by_role("columnheader", name="team")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Restarts")).to_have_count(0)
    expect(row(page, "columns-one")).to_contain_text("payments")
    expect(page).to_have_url(re.compile("columns=.*label%3Ateam"))
    console.kubectl("label", "pod", "columns-one", "-n", "default", "--overwrite", "team=ledger")
    expect(row(page, "columns-one")).to_contain_text("ledger")
    # The view saves only the URL.
    page.get_by_role("button", name="Views", exact=True).click()
    page.get_by_label("Save this view as").fill("By team")
    page.get_by_role("button", name="Save view").click()
    expect(page.get_by_role("columnheader", name="team")).to_be_visible()
    at(page, console, "/clusters/host/pods")
    page.get_by_role("button", name="Views", exact=True).click()
    page.get_by_role("link", name="By team").click()
    expect(page.get_by_role("columnheader", name="team")).to_be_visible()


def test_several_filters_can_be_added(console: Console, page: Page) -> None:
    at(page, console, "/clusters/host/pods")
    for label in ("tier=web", "app=none"):
        page.get_by_role("button", name="Filter", exact=True).click()
        field = page.locator("#add-label")
        expect(field).to_have_value("")
        field.fill(label)
        field.press("Enter")
        expect(field).to_be_hidden()
        expect(page.locator(".chips")).to_contain_text(label)
        expect(page.locator("#announce")).to_have_text("0 in the list")
