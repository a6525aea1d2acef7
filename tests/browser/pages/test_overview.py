"""Overviews in a real browser: numbers update without a reload."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.chromium import Chromium
from tests.browser.console import Console, sign_in
from tests.browser.pages.pod_list import CRASHING
from tests.browser.visibility import HIDE
from tests.support.depth import fewer

CLUSTER = "/clusters/host"


def test_an_overview_updates_without_a_reload(console: Console, page: Page, apart: None) -> None:
    """Updates also continue after the console was unavailable for a while."""
    page.clock.install()
    sign_in(page, console, CLUSTER)
    expect(page.get_by_role("heading", name="Cluster host")).to_be_visible()
    page.evaluate("window.same = true")
    body, updated = page.locator("body"), page.locator("time[data-updated]")
    # An unchanged overview still updates its time.
    before = updated.get_attribute("datetime") or ""
    page.clock.fast_forward(11_000)
    expect(updated).not_to_have_attribute("datetime", before)
    # The overview is refreshed as soon as the page is visible again.
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate(HIDE, True)
    page.clock.fast_forward(11_000)
    page.evaluate("fetch('/readyz').then((answer) => answer.text())")
    assert asked == [console.url + "/readyz"]
    with page.expect_response(console.url + CLUSTER):
        page.evaluate(HIDE, False)
    page.keyboard.press("f")
    page.route(console.url + CLUSTER, lambda route: route.fulfill(status=503), times=1)
    page.clock.fast_forward(11_000)
    page.evaluate("fetch('/readyz').then((answer) => answer.text())")
    expect(body).not_to_have_attribute("data-live", "off")
    page.keyboard.press("f")
    page.clock.fast_forward(11_000)
    expect(body).to_have_attribute("data-live", "off")
    console.pod("troubled")
    console.set_status("troubled", CRASHING)
    item = page.locator(".attention li", has_text="troubled").first

    def polled() -> None:
        page.clock.fast_forward(11_000)
        expect(item).to_be_visible(timeout=1_000)

    _eventually(polled)
    expect(page.locator(".attention")).to_contain_text("Crash loop")
    expect(page.locator("body")).not_to_have_attribute("data-live", "off")
    # The freshness indicator is updated too.
    page.route(console.url + CLUSTER, _stale, times=1)
    page.clock.fast_forward(11_000)
    expect(page.locator("#banner")).to_be_visible()
    assert page.evaluate("window.same")
    # After the permission is revoked, the page shows the reason.
    page.evaluate("document.documentElement.dataset.same = ''")
    page.route(console.url + CLUSTER, lambda route: route.fulfill(status=401), times=1)
    page.clock.fast_forward(11_000)
    expect(page.locator("html[data-same]")).to_have_count(0)
    item.get_by_role("link", name="troubled", exact=True).click()
    expect(page).to_have_url(f"{console.url}/clusters/host/projects/default/pods/troubled")


def _stale(route: Route) -> None:
    """Return the page in its state for an unavailable cluster."""
    answer = route.fetch(headers={**route.request.headers, "if-none-match": "none"})
    text = answer.text().replace('role="alert" hidden', 'role="alert"')
    route.fulfill(response=answer, body=text)


def _eventually(check: object, tries: int = 20) -> None:
    """Retry the check, because created objects can arrive late. Each attempt is one poll of the
    page.
    """
    assert callable(check)
    for left in reversed(range(tries)):
        try:
            check()
        except AssertionError:
            if not left:
                raise
        else:
            return


# The overview of a cluster has the most content; tests/browser/looks measures the others.
@pytest.mark.parametrize(
    "path", fewer(["/dashboard", CLUSTER, "/clusters/host/projects/default"], CLUSTER)
)
def test_overviews_fit_a_phone(console: Console, page: Page, path: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    sign_in(page, console, path)
    expect(page.locator("#overview")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_overviews_work_without_scripts(console: Console, browser: Chromium) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, console, CLUSTER)
    expect(page.locator(".overview-head")).to_contain_text("As of")
    expect(page.locator("[data-resource=cpu]")).to_be_visible()
    context.close()
