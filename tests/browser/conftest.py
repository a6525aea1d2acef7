"""Fixtures for tests in a browser. A page fails its test if the browser reports an error."""

from collections.abc import Generator, Iterator
from typing import Any
from urllib.parse import urljoin

import pytest
from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    expect,
    sync_playwright,
)

from tests.browser.chromium import Chromium, need_chromium

SIZE: Any = {"width": 1280, "height": 800}
_FAILED = pytest.StashKey[bool]()
# A generous timeout for slow machines. The expected state usually appears within a moment.
expect.set_options(timeout=20_000)


@pytest.fixture(scope="package")
def browser() -> Iterator[Chromium]:
    """Start the browser. The scope is not the session, because no asynchronous test can run while
    Playwright's event loop is running.
    """
    need_chromium("tests in a browser")
    with sync_playwright() as playwright:
        browser = Chromium(playwright)
        yield browser
        browser.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[_FAILED] = True
    return report


def _opened(browser: Chromium) -> BrowserContext:
    context = browser.new_context(locale="en-GB", viewport=SIZE)
    context.set_default_timeout(20_000)
    return context


@pytest.fixture
def context(browser: Chromium) -> Iterator[BrowserContext]:
    context = _opened(browser)
    yield context
    context.close()


@pytest.fixture(scope="package")
def _tabs(browser: Chromium) -> Iterator[list[Page]]:
    """Yield the list with the shared tab. A test takes it while it runs, and a failed test does not
    return it. Opening another tab takes longer than most of these tests.
    """
    tabs: list[Page] = []
    yield tabs
    for tab in tabs:
        tab.context.close()


@pytest.fixture
def apart() -> None:
    """Request a separate tab for a test that leaves state in its tab."""


@pytest.fixture
def page(request: pytest.FixtureRequest, browser: Chromium, _tabs: list[Page]) -> Iterator[Page]:
    """Yield a page that fails its test if the browser reported an error, including CSP violations."""
    alone = "apart" in request.fixturenames
    page = _tabs.pop() if _tabs and not alone else _opened(browser).new_page()
    problems: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            problems.append(message.text)

    def fail(error: Error) -> None:
        problems.append(str(error))

    page.on("console", hear)
    page.on("pageerror", fail)
    yield page
    page.remove_listener("console", hear)
    page.remove_listener("pageerror", fail)
    if alone or problems or _FAILED in request.node.stash:
        page.context.close()
    else:
        try:
            _empty(page)
            _tabs.append(page)
        except Error:
            # A redirect of the page can interrupt this navigation.
            page.context.close()
    assert problems == []


def _empty(page: Page) -> None:
    """Reset the tab. It stays on the console's origin, because an empty page would start another
    Chromium process, which takes half as long as most tests.
    """
    for other in page.context.pages:
        if other != page:
            other.close()
    page.unroute_all()
    if page.url.startswith("http"):
        # A page may still store data while it unloads. This page has no scripts.
        page.goto(urljoin(page.url, "/readyz"))
        page.evaluate("localStorage.clear(); sessionStorage.clear()")
    page.context.clear_cookies()
    page.set_viewport_size(SIZE)
    page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    page.mouse.move(0, 0)
