"""Lists and details in a browser without JavaScript, at both widths."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.chromium import Chromium
from tests.browser.console import PODS, Console, act, sign_in
from tests.browser.tasks.conftest import HEIGHTS, PHONE, Person
from tests.browser.tasks.locators import row
from tests.browser.tasks.sample_objects import Scene
from tests.controlplane.waiting import eventually


@pytest.fixture(scope="module")
def _window(browser: Chromium, console: Console) -> Iterator[Page]:
    """Yield a shared page: without scripts it stores no state."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, console, "")
    yield page
    context.close()


@pytest.fixture
def plain(request: pytest.FixtureRequest, _window: Page) -> Page:
    width: int = request.param
    _window.set_viewport_size({"width": width, "height": HEIGHTS[width]})
    return _window


def names(page: Page) -> list[str]:
    rows = page.locator("#results tbody tr:visible")
    keys: list[str] = rows.evaluate_all("rows => rows.map(row => row.dataset.key)")
    return [key.partition("/")[2] for key in keys]


def looked_at(page: Page, selector: str, words: str = "") -> Locator:
    """Reload the page until the element exists. Without scripts there are no live updates, and a
    new type takes a moment to be listed.
    """
    found = page.locator(selector).filter(has_text=words)

    def there() -> bool:
        return bool(found.count() or (page.reload() and found.count()))

    eventually(there, f"{selector} {words}")
    expect(found).to_be_visible()
    return found


def test_filtering_and_opening_an_object(plain: Page, console: Console, scene: Scene) -> None:
    name = scene.crashing.partition("/")[2]
    plain.goto(console.url + PODS)
    plain.locator("#q").fill("fraud-scorer")
    plain.locator("#q").press("Enter")
    plain.wait_for_url(re.compile("q=fraud-scorer"))
    expect(row(plain, scene.crashing)).to_be_visible()
    assert all(found.startswith("fraud-scorer") for found in names(plain))
    plain.locator(".tally a").first.click()
    plain.wait_for_url(re.compile("status="))
    expect(plain.locator(".tally a[aria-current=true]")).to_have_count(1)
    row(plain, scene.crashing).locator("th a").click()
    plain.wait_for_url(re.compile(rf"/{name}$"))
    looked_at(plain, ".cause", "memory limit (512Mi)")
    plain.locator(".tabs a[href*='/yaml']").click()
    expect(plain.locator("#yaml-text")).to_contain_text(name)
    # Return to the same list.
    plain.locator("[data-up]").click()
    plain.wait_for_url(re.compile(r"/pods\?q=fraud-scorer&status="))


def test_sorting(plain: Page, console: Console, scene: Scene) -> None:
    plain.goto(console.url + PODS)
    for path, reverse in (("sort=name", False), ("sort=-name", True)):
        plain.locator(f'thead a[href$="{path}"]').click()
        plain.wait_for_url(re.compile(path))
        found = names(plain)
        assert len(found) > 1
        assert found == sorted(found, reverse=reverse)
    kind = "descending"
    expect(plain.locator('thead th[data-col="name"]')).to_have_attribute("aria-sort", kind)


# The CI run covers the same steps above, in one look.
@pytest.mark.deep
def test_filtering_sorting_and_opening_in_every_look(without_scripts: Person, scene: Scene) -> None:
    page, name = without_scripts.page, scene.crashing.partition("/")[2]
    page.locator("#q").fill("fraud-scorer")
    page.locator("#q").press("Enter")
    page.wait_for_url(re.compile("q=fraud-scorer"))
    page.locator('thead a[href$="sort=-name"]').or_(
        page.locator('thead a[href$="sort=name"]')
    ).first.click()
    page.wait_for_url(re.compile("sort="))
    found = names(page)
    assert found and all(one.startswith("fraud-scorer") for one in found)
    assert found in (sorted(found), sorted(found, reverse=True))
    html = page.locator("html")
    expect(html).to_have_attribute("data-theme", without_scripts.look.theme)
    without_scripts.picture("without-scripts")
    row(page, scene.crashing).locator("th a").click()
    page.wait_for_url(re.compile(rf"/{name}$"))
    looked_at(page, ".cause", "512Mi")


def test_paging(plain: Page, console: Console, scene: Scene) -> None:
    plain.goto(console.url + "/clusters/host/pods?sort=name&limit=1")
    first = names(plain)
    plain.locator("#pager a[href*='page=2']").first.click()
    plain.wait_for_url(re.compile("page=2"))
    second = names(plain)
    assert len(first) == len(second) == 1
    assert first < second


# The CI run covers comparing and following links with scripts: neither needs them.
@pytest.mark.deep
def test_comparing_two_revisions(plain: Page, console: Console, scene: Scene) -> None:
    namespace, name = scene.revised.split("/")
    place = f"/clusters/host/projects/{namespace}/deployments/{name}/revisions"
    plain.goto(console.url + place)
    looked_at(plain, "select[name=from]").select_option("2")
    plain.locator("select[name=to]").select_option("1")
    plain.locator(".compare button").click()
    expect(plain.locator(".diff del").last).to_contain_text("image")


@pytest.mark.deep
def test_finding_the_workloads_that_use_a_secret(
    plain: Page, console: Console, scene: Scene
) -> None:
    plain.goto(console.url + "/clusters/host/secrets?q=registry")
    row(plain, scene.secret).locator("th a").click()
    user = scene.uses_secret.partition("/")[2]
    expect(
        plain.locator("#panel-used-by").get_by_role("link", name=user, exact=True)
    ).to_be_visible()


def test_all_actions_of_an_object_are_available(
    plain: Page, console: Console, scene: Scene
) -> None:
    namespace, name = scene.revised.split("/")
    plain.goto(f"{console.url}/clusters/host/projects/{namespace}/deployments/{name}")
    width = plain.evaluate("innerWidth")
    buttons = plain.locator(".acts > li > .button:visible")
    expect(buttons).to_have_count(3 if width == PHONE else 5)
    bar = plain.locator(".acts").bounding_box()
    assert bar is not None and bar["height"] < 100
    act(plain, "set-image")
    plain.goto(f"{console.url}/clusters/host/projects/{namespace}/deployments/{name}")
    act(plain, "delete")
    expect(plain.locator("form.confirm")).to_be_visible()
