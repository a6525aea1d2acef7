"""A browser that reports what goes wrong in it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

from tests.browser.chromium import Chromium, need_chromium

# What is expected comes in a moment, but not on a machine that does much else.
expect.set_options(timeout=20_000)


@pytest.fixture(scope="package")
def browser() -> Iterator[Chromium]:
    """Not for the whole run: while Playwright is there, its loop runs and no asynchronous test can."""
    need_chromium("tests in a browser")
    with sync_playwright() as playwright:
        browser = Chromium(playwright)
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Chromium) -> Iterator[BrowserContext]:
    context = browser.new_context(locale="en-GB", viewport={"width": 1280, "height": 800})
    context.set_default_timeout(20_000)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page that fails its test if the browser reported an error, CSP violations included."""
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "console",
        lambda message: (
            problems.append(message.text) if "Content Security Policy" in message.text else None
        ),
    )
    yield page
    assert problems == []
