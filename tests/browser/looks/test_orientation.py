"""Header, menu and title of a page depend only on its address."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.chromium import Chromium
from tests.browser.looks.conftest import sign_in
from tests.support.demo import demonstrated

PODS = "/clusters/host/pods"
SCORER = "/clusters/host/projects/payments/deployments/fraud-scorer"
CLUSTER, PROJECT = ["Platform", "host"], ["Platform", "shop", "payments"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a separate demo, because the tests delete objects."""
    with demonstrated(tmp_path_factory.mktemp("orientation")) as url:
        yield url


@pytest.fixture(scope="module")
def states(site: str, browser: Chromium) -> Any:
    """Return the cookies of the users after sign-in."""
    found = {}
    for name in ("admin", "alice"):
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{site}/login?next=/account")
        sign_in(page, name)
        found[name] = context.storage_state()
        context.close()
    return found


@pytest.fixture
def as_admin(site: str, states: Any, browser: Chromium) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=site, storage_state=states["admin"])
    yield context
    context.close()


def expect_place(page: Page, path: list[str], entry: str) -> None:
    """Expect the path in the header and the highlighted entry of the menu."""
    parts = page.locator(".scope > li:not(.onward) .tool > span")
    expect(parts).to_have_text(path)
    expect(page.locator("#rail [aria-current=page]")).to_contain_text(entry)


def test_tabs_at_different_levels_keep_their_header_and_menu(as_admin: BrowserContext) -> None:
    first, second = as_admin.new_page(), as_admin.new_page()
    first.goto(PODS)
    second.goto("/workspaces/shop/members")
    first.reload()
    expect_place(first, CLUSTER, "Pods")
    first.get_by_role("link", name=re.compile("^fraud-scorer")).first.click()
    expect_place(first, PROJECT, "Pods")
    second.reload()
    expect_place(second, ["Platform", "shop"], "Members")
    expect(second).to_have_title("Members · shop")


def test_bookmarked_object_shows_its_project(as_admin: BrowserContext) -> None:
    page = as_admin.new_page()
    for before in ("/dashboard", f"{PODS}?namespace=ci", "/workspaces/shop"):
        page.goto(before)
        page.goto(SCORER)
        expect_place(page, PROJECT, "Workloads")
        expect(page).to_have_title("fraud-scorer · Deployments · payments")
    page.goto("/clusters/host/nodes/worker-1")
    expect_place(page, CLUSTER, "Nodes")


def test_link_shows_a_tenant_the_same_project(site: str, states: Any, browser: Chromium) -> None:
    context = browser.new_context(base_url=site, storage_state=states["alice"])
    page = context.new_page()
    page.goto("/workspaces/shop/members")
    page.goto(SCORER)
    expect_place(page, ["shop", "payments"], "Workloads")
    # All parts of the path can be opened.
    for name in ("payments", "Deployments"):
        page.goto(SCORER)
        page.locator(".crumbs").get_by_role("link", name=name, exact=True).click()
        expect(page.locator("[data-state=denied]")).to_have_count(0)
        expect(page.locator(".scope > .here")).to_contain_text("payments")
    context.close()


def test_back_leads_to_the_filtered_list_from_all_pages_of_an_object(
    as_admin: BrowserContext,
) -> None:
    page = as_admin.new_page()
    listed = "/clusters/host/deployments?q=fraud"
    page.goto(listed)
    page.get_by_role("link", name="fraud-scorer").click()
    expect_place(page, PROJECT, "Workloads")
    page.get_by_role("navigation", name="Pages of this object").get_by_text("YAML").click()
    page.get_by_role("link", name="Logs", exact=True).click()
    expect(page).to_have_title("Log of fraud-scorer · payments")
    expect_place(page, PROJECT, "Workloads")
    page.keyboard.press("u")
    expect(page).to_have_title("fraud-scorer · Deployments · payments")
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("link", name="Edit YAML", exact=True).click()
    expect_place(page, PROJECT, "Workloads")
    page.get_by_role("link", name="Cancel", exact=True).click()
    expect(page).to_have_title("fraud-scorer · Deployments · payments")
    page.keyboard.press("u")
    expect(page).to_have_url(re.compile(re.escape(listed) + "$"))
    expect_place(page, CLUSTER, "Workloads")


def test_filtering_by_another_project_changes_the_menu(as_admin: BrowserContext) -> None:
    page = as_admin.new_page()
    page.goto(PODS)
    page.evaluate(
        f"htmx.ajax('GET', '{PODS}?namespace=payments', {{source: '#results', target: '#results'}})"
    )
    expect_place(page, PROJECT, "Pods")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
def test_deletion_returns_to_the_list_and_its_scope(
    site: str, states: Any, browser: Chromium, *, scripts: bool
) -> None:
    context = browser.new_context(
        base_url=site, storage_state=states["admin"], java_script_enabled=scripts
    )
    page = context.new_page()
    # The most recent page is in another project.
    context.new_page().goto("/clusters/host/projects/ci")
    for listed, path in (
        (f"{PODS}?q=fraud", CLUSTER),
        (f"{PODS}?q=fraud&namespace=payments", PROJECT),
    ):
        page.goto(listed)
        expect_place(page, path, "Pods")
        page.locator("#results tbody th.name a").first.click()
        page.get_by_role("button", name="More").click()
        page.get_by_role("link", name="Delete", exact=True).last.click()
        expect_place(page, PROJECT, "Pods")
        expect(page).to_have_title(re.compile("^Delete pod fraud-scorer.* · payments$"))
        page.get_by_role("button", name="Delete pod").click()
        expect(page).to_have_url(re.compile(re.escape(listed) + "$"))
        expect_place(page, path, "Pods")
    context.close()


def test_header_on_a_phone_shows_the_current_place(as_admin: BrowserContext) -> None:
    page = as_admin.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    for url, place in ((SCORER, "payments"), (PODS, "host"), ("/workspaces/shop/members", "shop")):
        page.goto(url)
        expect(page.locator(".scope > li:visible").first).to_contain_text(place)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.get_by_role("button", name="Menu", exact=True).click()
        expect(page.locator("#rail [aria-current=page]")).to_be_visible()
        expect(page.locator("#rail .levels")).to_contain_text(place)
