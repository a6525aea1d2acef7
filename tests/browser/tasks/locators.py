"""Locate elements of the console's pages, and check their size."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.console import live
from tests.browser.tasks.conftest import Person


def row(page: Page, key: str) -> Locator:
    return page.locator(f'#results tr[data-key="{key}"]')


#: Pods of one owner that have the same problem.
PODS_IN_TROUBLE = re.compile(r"/pods\?.*state=.*owner=")


def trouble_of(page: Page, workload: str) -> Locator:
    """Return the entry of a workload in the overview's list of problems."""
    link = page.get_by_role("link", name=workload, exact=True)
    return page.locator(".troubles > li", has=link)


def opened(page: Page, key: str) -> None:
    """Wait for the object's page until it is live."""
    name = key.rpartition("/")[2]
    page.wait_for_url(re.compile(rf"/{re.escape(name)}$"))
    expect(page.locator("#detail-name")).to_contain_text(name)
    live(page)


def fits(person: Person) -> None:
    """Check that the page is not wider than the window and has the language and theme of the look."""
    assert person.page.evaluate("document.documentElement.scrollWidth") <= person.look.width
    html = person.page.locator("html")
    expect(html).to_have_attribute("data-theme", person.look.theme)
    expect(html).to_have_attribute("lang", {"en": "en", "zh": "zh-Hans"}[person.look.lang])
