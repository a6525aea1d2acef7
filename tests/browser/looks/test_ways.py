"""The number of clicks from signing in to common tasks, and the way by keyboard."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.chromium import Chromium
from tests.browser.looks.conftest import sign_in

Arrive = Callable[[str], "Visitor"]


class Visitor:
    """A user who has just signed in. Counts clicks."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks = page, 0

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1

    def rail(self, label: str) -> Locator:
        return self.page.locator("#rail a", has=self.page.get_by_text(label, exact=True))


@pytest.fixture(scope="module")
def _pages(browser: Chromium) -> Iterator[dict[str, Page]]:
    """Yield the pages by username."""
    pages: dict[str, Page] = {}
    yield pages
    for page in pages.values():
        page.context.close()


@pytest.fixture
def arrive(demo: str, browser: Chromium, _pages: dict[str, Page]) -> Arrive:
    def visitor(name: str) -> Visitor:
        if name not in _pages:
            context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
            page = _pages[name] = context.new_page()
            page.goto(demo)
            sign_in(page, name)
        else:
            page = _pages[name]
            # Clear the last visited page, so that the start page is the same as after signing in.
            page.context.clear_cookies(name="recent")
            page.goto(demo)
        page.wait_for_load_state()
        return Visitor(page)

    return visitor


def test_a_tenant_invites_a_member_in_three_clicks(arrive: Arrive) -> None:
    alice = arrive("alice")
    expect(alice.page).to_have_url(re.compile("/workspaces/shop$"))
    alice.click(alice.rail("Members"))
    alice.click(alice.page.get_by_role("link", name="Invite member"))
    expect(alice.page.get_by_label("Role", exact=True)).to_be_visible()
    assert alice.clicks <= 3


def test_a_tenant_reaches_the_pods_of_a_project_in_two_clicks(arrive: Arrive) -> None:
    alice = arrive("alice")
    alice.click(alice.page.locator("#main").get_by_role("link", name="checkout", exact=True).first)
    alice.click(alice.rail("Pods"))
    expect(alice.page.locator("#results tbody tr").first).to_be_visible()
    expect(alice.page.locator("#rail [aria-current]")).to_contain_text("Pods")
    assert alice.clicks <= 2


def test_an_administrator_creates_a_user_in_three_clicks(arrive: Arrive) -> None:
    admin = arrive("admin")
    admin.click(admin.rail("Users"))
    admin.click(admin.page.get_by_role("link", name="Create", exact=True))
    expect(admin.page.get_by_role("heading", name="Create user")).to_be_visible()
    expect(admin.page.locator("#rail [aria-current]")).to_contain_text("Users")
    assert admin.clicks <= 3


def test_an_administrator_reaches_a_workspace_in_two_clicks(arrive: Arrive) -> None:
    admin = arrive("admin")
    admin.click(admin.page.get_by_role("button", name="Workspaces"))
    shop = admin.page.locator("#workspace-menu").get_by_role("link", name=re.compile(r"^shop\b"))
    admin.click(shop)
    expect(admin.page.get_by_role("heading", name="shop")).to_be_visible()
    assert admin.clicks <= 2
    # From a project it takes one click.
    admin.page.goto(admin.page.url.partition("/workspaces")[0] + "/clusters/host/projects/checkout")
    admin.page.locator(".crumbs").get_by_role("link", name="shop").click()
    expect(admin.page.get_by_role("heading", name="shop")).to_be_visible()


def test_the_picker_filters_by_name_only(arrive: Arrive) -> None:
    page = arrive("admin").page
    page.goto(page.url.partition("/dashboard")[0] + "/clusters/host/pods?q=etcd")
    page.locator("[popovertarget=scope-menu]").click()
    menu = page.locator("#scope-menu")
    for text, count in (("failing", 0), (" PAYM ", 1)):
        menu.locator("[data-narrows]").fill(text)
        expect(menu.locator("[data-choice]:visible")).to_have_count(count)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("namespace=payments"))


def test_the_menu_is_scrolled_to_the_current_page(arrive: Arrive) -> None:
    page = arrive("admin").page
    page.goto(page.url.partition("/dashboard")[0] + "/clusters/host/pods")
    last = page.locator("#rail a.rail-link").last.get_attribute("href")
    page.set_viewport_size({"width": 1280, "height": 400})
    page.goto(page.url.partition("/clusters")[0] + (last or ""))
    expect(page.locator("#rail [aria-current]")).to_be_in_viewport()
    page.set_viewport_size({"width": 1280, "height": 800})


def test_selecting_a_permission_selects_its_dependencies(arrive: Arrive) -> None:
    """Clearing a permission clears its dependents too, transitively."""
    page = arrive("admin").page
    page.goto(page.url.partition("/dashboard")[0] + "/access/roles/new/workspace?workspace=shop")
    page.locator(".branch:not([open]) > summary").evaluate_all(
        "(all) => all.forEach((one) => one.click())"
    )
    boxes = page.locator(".tree input[name=template]")
    needs: dict[str, list[str]] = boxes.evaluate_all(
        "(all) => Object.fromEntries(all.map((one) => [one.value, one.dataset.needs.split(' ')]))"
    )

    def with_needs(name: str) -> set[str]:
        return {name}.union(*(with_needs(one) for one in needs[name] if one in needs))

    def ticked() -> set[str]:
        return set(
            boxes.evaluate_all("(all) => all.filter((one) => one.checked).map((one) => one.value)")
        )

    assert ticked() == set()
    name = max(needs, key=lambda one: len(with_needs(one)))
    wanted = with_needs(name)
    assert len(wanted) > 2
    page.locator(f".tree input[value='{name}']").check()
    assert ticked() == wanted
    needed = next(one for one in wanted if with_needs(one) == {one})
    page.locator(f".tree input[value='{needed}']").uncheck()
    assert ticked() == {one for one in wanted if needed not in with_needs(one)}


def test_pages_are_reached_by_keyboard(arrive: Arrive) -> None:
    def jump(page: Page, text: str) -> None:
        page.keyboard.press("Control+k")
        page.keyboard.type(text)
        expect(page.get_by_role("option").first).to_be_visible()
        page.keyboard.press("Enter")

    alice = arrive("alice").page
    jump(alice, "members shop")
    expect(alice).to_have_url(re.compile("/workspaces/shop/members$"))
    alice.get_by_role("link", name="Invite member").focus()
    alice.keyboard.press("Enter")
    expect(alice.get_by_label("Role", exact=True)).to_be_visible()
    admin = arrive("admin").page
    jump(admin, "create user")
    expect(admin.get_by_role("heading", name="Create user")).to_be_visible()


def test_users_without_permissions_see_whom_to_contact(arrive: Arrive) -> None:
    page = arrive("charlie").page
    expect(page.locator("#main")).to_contain_text("Platform administrators: admin")
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.locator("#announce")).to_contain_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("Please add charlie to a workspace or a project at http")


def test_the_access_request_is_shown_on_a_phone(arrive: Arrive, demo: str) -> None:
    page = arrive("charlie").page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{demo}/clusters/host/pods?namespace=payments")
    page.get_by_text("Request to send to an administrator").click()
    expect(page.locator("#request-text")).to_contain_text("charlie")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
