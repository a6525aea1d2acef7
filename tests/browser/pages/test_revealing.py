"""Revealing the values of a Secret in a real browser: shown on request and hidden automatically."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.console import Console, sign_in

CANARY = "hunter2-canary"
PATH = "/clusters/host/projects/default/secrets/revealed"


@pytest.fixture
def secret(console: Console, page: Page) -> Iterator[None]:
    console.kubectl("delete", "secret", "revealed", "--ignore-not-found")
    literal = f"--from-literal=password={CANARY}"
    console.kubectl("create", "secret", "generic", "revealed", literal)
    sign_in(page, console, "")
    yield
    console.kubectl("delete", "secret", "revealed")


@pytest.mark.usefixtures("secret")
def test_values_are_revealed_for_one_minute(console: Console, page: Page, apart: None) -> None:
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.goto(f"{console.url}{PATH}/yaml")
    expect(page.locator("#yaml-text")).to_contain_text("name: revealed")
    assert CANARY not in page.content()
    page.clock.install()
    page.get_by_role("button", name="Reveal values").click()
    page.wait_for_url(f"{console.url}{PATH}/actions/reveal")
    expect(page.locator("#value-1")).to_have_text(CANARY)
    expect(page.locator("#yaml-text")).to_contain_text("password: ")
    page.clock.fast_forward(61_000)
    page.wait_for_url(console.url + PATH)
    assert CANARY not in page.content()
    page.go_back()
    page.wait_for_url(f"{console.url}{PATH}/yaml")
    assert problems == []
    assert CANARY not in console.log.read_text()


@pytest.mark.usefixtures("secret")
def test_values_are_revealed_without_scripts(console: Console, page: Page) -> None:
    browser = page.context.browser
    assert isinstance(browser, Browser)
    plain = browser.new_context(
        java_script_enabled=False, storage_state=page.context.storage_state()
    )
    other = plain.new_page()
    other.goto(console.url + PATH)
    other.get_by_role("button", name="Reveal values").click()
    expect(other.locator("#value-1")).to_have_text(CANARY)
    other.get_by_role("link", name="Hide").click()
    other.wait_for_url(console.url + PATH)
    plain.close()
