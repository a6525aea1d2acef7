"""The sample data of `manage.py demo` without ongoing changes, and a signed-in user."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.chromium import Chromium
from tests.browser.looks import axe
from tests.browser.looks.tour import Tour, tour
from tests.browser.looks.walk import View, opened
from tests.controlplane.plugin import report_skipped
from tests.support import npm
from tests.support.demo import PASSWORD, demonstrated


@pytest.fixture(scope="package")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the demo and yield its URL."""
    with demonstrated(tmp_path_factory.mktemp("demo")) as url:
        yield url


@pytest.fixture(scope="module")
def session(demo: str, browser: Chromium) -> Any:
    """Return the cookies of the administrator."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{demo}/login?next=/account")
    sign_in(page)
    state = context.storage_state()
    context.close()
    return state


def sign_in(page: Page, name: str = "admin") -> None:
    page.fill("input[name=username]", name)
    page.fill("input[name=password]", PASSWORD)
    page.click("button[type=submit]:not([form])")
    page.wait_for_selector(".shell")


@pytest.fixture(scope="module")
def pages(demo: str, session: Any, browser: Chromium) -> Tour:
    """Return all pages, read in Chinese."""
    with opened(browser, View(1280, language="zh"), session) as page:
        page.goto(f"{demo}/account")
        return tour(page)


@pytest.fixture(scope="session")
def with_axe() -> None:
    """Skip the test if axe-core cannot be installed. With `REQUIRE_BROWSER` set, fail instead."""
    try:
        axe.script()
    except (npm.Missing, OSError) as error:
        if os.environ.get("REQUIRE_BROWSER", "0") not in ("", "0"):
            pytest.fail(f"REQUIRE_BROWSER is set, but {error}", pytrace=False)
        report_skipped("checks of accessibility by axe-core", str(error))
        pytest.skip(str(error))
