"""Editing an object as YAML in a real browser, with and without scripts."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import Console, sign_in
from tests.browser.visibility import HIDE
from tests.browser.yaml_editor import edit

PATH = "/clusters/host/projects/default/configmaps/edited"


@pytest.fixture
def settings(console: Console) -> Iterator[None]:
    console.kubectl("delete", "configmap", "edited", "--ignore-not-found")
    console.kubectl("create", "configmap", "edited", "--from-literal=colour=blue")
    yield
    console.kubectl("delete", "configmap", "edited", "--ignore-not-found")


def text_of(page: Page) -> str:
    return page.locator("textarea[name=text]").input_value()


def colour(console: Console) -> str:
    return console.kubectl("get", "configmap", "edited", "-o", "jsonpath={.data.colour}")


@pytest.mark.usefixtures("settings")
def test_typed_text_is_kept_as_a_draft(console: Console, page: Page) -> None:
    sign_in(page, console, f"{PATH}/edit")
    edit(page, "blue", "green")
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved.")
    page.goto(f"{console.url}{PATH}/edit")
    assert "blue" in text_of(page)
    expect(page.get_by_text("You have a draft")).to_be_visible()
    page.get_by_role("link", name="Continue the draft").click()
    expect(page.get_by_text("This is your draft from")).to_be_visible()
    assert "green" in text_of(page)
    # A draft is also saved if the window is closed while the user is still typing.
    page.evaluate("window.setTimeout = () => 0")
    state = page.locator("[data-draft-state]")
    page.route("**/draft*", lambda route: route.abort(), times=1)
    edit(page, "green", "grey")
    page.evaluate(HIDE, True)
    expect(state).to_have_text("Could not save the text as a draft.")
    page.evaluate(HIDE, True)
    expect(state).to_have_text("Draft saved.")
    # Each version builds on the previous one.
    edit(page, "grey", "red")
    with page.expect_response("**/draft*") as kept:
        page.evaluate(HIDE, True)
    assert kept.value.status == 204
    expect(state).to_have_text("Draft saved.")
    page.get_by_role("button", name="Review changes").click()
    expect(page.locator("ins")).to_have_text("  colour: red")
    expect(page.locator("del")).to_have_text("  colour: blue")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url(console.url + PATH)
    assert colour(console) == "red"
    again = page.request.get(f"{console.url}{PATH}/edit").text()
    assert "red" in again
    assert "You have a draft" not in again


@pytest.mark.usefixtures("settings")
def test_editing_works_without_scripts(console: Console, plain: Page) -> None:
    plain.goto(f"{console.url}{PATH}/edit")
    area = plain.get_by_role("textbox", name="Manifest")
    area.fill(area.input_value().replace("colour: blue", "colour: red\n  odd: |\n    a\n     b"))
    plain.get_by_role("button", name="Review changes").click()
    expect(plain.locator("ins").first).to_have_text("  colour: red")
    plain.get_by_role("button", name="Back to the editor").click()
    assert "colour: red" in area.input_value()
    plain.get_by_role("button", name="Review changes").click()
    plain.get_by_role("button", name="Save", exact=True).click()
    plain.wait_for_url(console.url + PATH)
    assert colour(console) == "red"
    assert console.kubectl("get", "configmap", "edited", "-o", "jsonpath={.data.odd}") == "a\n b\n"


@pytest.mark.usefixtures("settings")
def test_conflicts_of_long_values_fit_a_phone(console: Console, plain: Page) -> None:
    """Long values such as tokens and checksums have no line break opportunity."""
    mine, theirs = "m" * 200, "t" * 200
    plain.set_viewport_size({"width": 390, "height": 844})
    plain.goto(f"{console.url}{PATH}/edit")
    area = plain.get_by_role("textbox", name="Manifest")
    area.fill(area.input_value().replace("blue", mine))
    console.kubectl("patch", "configmap", "edited", "-p", f'{{"data": {{"colour": "{theirs}"}}}}')
    plain.get_by_role("button", name="Review changes").click()
    expect(plain.locator(".conflict code")).to_have_text(["data.colour", mine, theirs, "blue"])
    assert plain.evaluate("document.documentElement.scrollWidth") <= 390
    plain.goto(f"{console.url}{PATH}/edit")
    # The submitted text is kept, and the message appears above the buttons.
    expect(plain.get_by_text("You have a draft")).to_be_visible()
    assert plain.evaluate("document.documentElement.scrollWidth") <= 390


SECRET = "/clusters/host/projects/default/secrets/login"


@pytest.fixture
def login(console: Console) -> Iterator[None]:
    console.kubectl("create", "secret", "generic", "login", "--from-literal=password=old")
    yield
    console.kubectl("delete", "secret", "login")


@pytest.mark.usefixtures("login")
def test_a_key_of_a_secret_that_another_tab_changed_is_not_overwritten(
    console: Console, page: Page
) -> None:
    sign_in(page, console, f"{SECRET}/edit")
    other = page.context.new_page()
    other.goto(f"{console.url}{SECRET}/edit")
    for tab, value in ((page, "Zmlyc3Q="), (other, "c2Vjb25k")):
        edit(tab, "password: ••••••", f"password: {value}")
        with tab.expect_response("**/edit") as reviewed:
            tab.get_by_role("button", name="Review changes").click()
        if tab == page:
            tab.get_by_role("button", name="Save", exact=True).click()
            tab.wait_for_url(console.url + SECRET)
    assert reviewed.value.status == 409
    expect(other.locator(".conflict code")).to_have_text(
        ["data.password", "•••••• (new value)", "••••••"]
    )
    expect(other.get_by_text("some of the changed fields were also edited by you")).to_be_visible()
    password = ("get", "secret", "login", "-o", "jsonpath={.data.password}")
    assert console.kubectl(*password) == "Zmlyc3Q="
    other.get_by_label("Your value:").check()
    other.get_by_role("button", name="Review changes").click()
    other.get_by_role("button", name="Save", exact=True).click()
    other.wait_for_url(console.url + SECRET)
    assert console.kubectl(*password) == "c2Vjb25k"
