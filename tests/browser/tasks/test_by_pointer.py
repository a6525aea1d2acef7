"""Common tasks from the dashboard to the result, in both themes and languages, on a laptop and a
phone.
"""

import re

from playwright.sync_api import Locator, expect

from tests.browser.console import live
from tests.browser.tasks.conftest import Person
from tests.browser.tasks.locators import PODS_IN_TROUBLE, fits, opened, row, trouble_of
from tests.browser.tasks.sample_objects import Scene

HAN = re.compile(r"[\u4e00-\u9fff]")


def to_list(person: Person, segment: str, *, through: str = "") -> None:
    """Go from the dashboard to a list of the cluster, `through` the entry of another kind if the
    list has no entry in the menu.
    """
    page = person.page
    # On a phone, the header has only the current place. The dashboard has a table of the clusters.
    place = "main" if person.look.phone else ".scope"
    page.locator(f"{place} a[href='/clusters/host']").click()
    page.wait_for_url(re.compile("/clusters/host$"))
    if person.look.phone:
        page.locator(".sheet-opener").click()
    page.locator("#rail").locator(f'a[href$="/{through or segment}"]').click()
    if through:
        page.locator(".kind-tabs").locator(f'a[href$="/{segment}"]').click()
    page.wait_for_url(re.compile(f"/{segment}$"))


def cause(person: Person) -> Locator:
    """Return the cause of a problem. It is visible without scrolling and in the user's language."""
    found = person.page.locator("#panel-cause .cause")
    expect(found).to_be_in_viewport(ratio=1)
    if person.look.lang == "zh":
        expect(found.locator(".cause-text")).to_have_text(HAN)
    return found


def test_finding_a_crash_looping_pod_and_its_cause(person: Person, scene: Scene) -> None:
    page = person.page
    trouble = trouble_of(page, "fraud-scorer")
    expect(trouble).to_contain_text("512Mi")
    expect(trouble.locator(".reason")).to_have_attribute("title", re.compile("OOMKilled"))
    fits(person)
    person.picture("dashboard")
    trouble.locator(".why a").click()
    page.wait_for_url(PODS_IN_TROUBLE)
    fits(person)
    row(page, scene.crashing).locator("th a").click()
    opened(page, scene.crashing)
    expect(cause(person)).to_contain_text("512Mi")
    expect(cause(person)).to_contain_text("exit 137, OOMKilled")
    fits(person)
    person.picture("crash-loop")


def test_finding_why_a_pod_is_pending(person: Person, scene: Scene) -> None:
    page = person.page
    trouble_of(page, "recommender").locator(".why a").click()
    page.wait_for_url(PODS_IN_TROUBLE)
    row(page, scene.pending).locator("th a").click()
    opened(page, scene.pending)
    told = cause(person)
    expect(told.locator(".cause-text")).to_contain_text(re.compile("12.*8.*3.*1"))
    expect(told.locator(".reason")).to_contain_text("8 Insufficient memory")
    fits(person)
    person.picture("pending")


def test_finding_the_workloads_that_use_a_secret(person: Person, scene: Scene) -> None:
    page, user = person.page, scene.uses_secret.partition("/")[2]
    to_list(person, "secrets", through="configmaps")
    page.locator("#q").fill("registry")
    page.wait_for_url(re.compile("q=registry"))
    row(page, scene.secret).locator("th a").click()
    opened(page, scene.secret)
    used = page.locator("#panel-used-by")
    link = used.locator('a[href*="/deployments/"]', has_text=user)
    expect(link).to_be_visible()
    fits(person)
    used.scroll_into_view_if_needed()
    person.picture("secret-used-by")
    # The workload's page links back to the Secret.
    link.click()
    opened(page, scene.uses_secret)
    page.locator(".tabs a[href*='/resources']").click()
    page.locator("#panel-uses").get_by_role("link", name="registry", exact=True).click()
    opened(page, scene.secret)


def test_comparing_two_revisions(person: Person, scene: Scene) -> None:
    page = person.page
    page.locator("[data-palette]").click()
    page.locator("#palette-q").fill("deploy image-resizer")
    page.locator('#palette-options a[href$="/deployments/image-resizer"]').click()
    opened(page, scene.revised)
    page.locator(".tabs a[href*='/revisions']").click()
    page.wait_for_url(re.compile(r"/revisions(\?|$)"))
    page.locator(".compare select[name=from]").select_option("2")
    page.locator(".compare select[name=to]").select_option("1")
    page.locator(".compare button").click()
    page.wait_for_url(re.compile(r"from=2&to=1"))
    expect(page.locator(".diff del").last).to_contain_text("image")
    page.locator(".compare select[name=from]").select_option("1")
    page.locator(".compare select[name=to]").select_option("2")
    page.locator(".compare button").click()
    page.wait_for_url(re.compile(r"from=1&to=2"))
    expect(page.locator(".diff ins").last).to_contain_text("image")
    fits(person)
    person.picture("revisions")


def test_opening_an_object_of_a_new_custom_type(person: Person, scene: Scene) -> None:
    page = person.page
    to_list(person, "customresourcedefinitions")
    live(page)
    # On a phone, new rows wait until the user shows them, so that no row moves under the finger.
    with scene.new_type() as name:
        if person.look.phone:
            page.locator("#updates").click()
        row(page, name).locator("th a").click()
        opened(page, name)
        page.locator(f'#panel-summary a[href$="/{name}"]').click()
        page.wait_for_url(re.compile(rf"/{name}$"))
        expect(row(page, "web/anchor")).to_be_visible()
        fits(person)
        person.picture("custom-resources")


def test_a_list_of_a_new_custom_type_waits_for_its_definition(person: Person, scene: Scene) -> None:
    page = person.page
    with scene.new_type() as name:
        page.goto(f"{person.console.url}/clusters/host/{name}")
        expect(row(page, "web/anchor")).to_be_visible()


def test_filtering_sorting_and_paging(person: Person, scene: Scene) -> None:
    """At either width, filters, columns, views, and checkboxes are available."""
    page = person.page
    to_list(person, "pods")
    page.locator("thead a[href*='sort=name']").first.click()
    page.wait_for_url(re.compile("sort=name"))
    person.picture("list")
    page.locator("#results tbody .tick input").first.click()
    expect(page.locator("#bulk")).to_be_visible()
    page.locator("#bulk-none").click()
    page.locator("button[popovertarget=picker]").click()
    page.locator("#picker input[value=node]").set_checked(True)
    page.locator("#picker input[value=restarts]").set_checked(False)
    page.locator("#picker button[type=submit]").click()
    page.wait_for_url(re.compile("columns="))
    expect(page.locator("tbody td[data-col=node]").first).to_be_visible()
    page.locator("button[popovertarget=views-menu]").click()
    expect(page.locator("#views-menu form")).to_be_visible()
    page.keyboard.press("Escape")
    fits(person)
