"""Common tasks by keyboard only."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.console import Console, live, sign_in
from tests.browser.keyboard import go_to, jump, point, step_to, tab_to
from tests.browser.tasks.conftest import Person
from tests.browser.tasks.locators import PODS_IN_TROUBLE, fits, opened, trouble_of
from tests.browser.tasks.sample_objects import Scene


@pytest.fixture
def keys(page: Page, console: Console) -> Page:
    sign_in(page, console, "/dashboard")
    return page


def options(page: Page, end: str) -> Locator:
    return page.locator(f'#palette-options a[href$="{end}"]').first


def test_finding_the_cause_of_a_crash_loop(keys: Page, scene: Scene) -> None:
    keys.keyboard.press("Tab")
    expect(keys.locator(".skip")).to_be_focused()
    keys.keyboard.press("Enter")
    tab_to(keys, trouble_of(keys, "fraud-scorer").locator(".why a"), most=60)
    keys.keyboard.press("Enter")
    keys.wait_for_url(PODS_IN_TROUBLE)
    step_to(keys, scene.crashing)
    keys.keyboard.press("Enter")
    opened(keys, scene.crashing)
    expect(keys.locator("#panel-cause .cause")).to_contain_text("memory limit (512Mi)")
    # Return to the same list with Escape, and from another tab with a letter.
    keys.keyboard.press("Escape")
    keys.wait_for_url(PODS_IN_TROUBLE)
    step_to(keys, scene.crashing)
    keys.keyboard.press("Enter")
    opened(keys, scene.crashing)
    tab_to(keys, keys.locator(".tabs a[href*='/yaml']"))
    keys.keyboard.press("Enter")
    keys.wait_for_url(re.compile(r"/yaml\?list="))
    keys.keyboard.press("u")
    keys.wait_for_url(PODS_IN_TROUBLE)


def test_the_palette_opens_objects_in_every_look(person: Person, scene: Scene) -> None:
    page, name = person.page, scene.crashing.partition("/")[2]
    page.wait_for_load_state()
    point(page, f"po {name}", options(page, f"/pods/{name}"))
    fits(person)
    person.picture("by-keyboard")
    page.keyboard.press("Enter")
    opened(page, scene.crashing)
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile(r"/pods(\?|$)"))


# The CI run covers this with a pointer, and jumping to another page below.
@pytest.mark.deep
def test_finding_why_a_pod_is_pending(keys: Page, scene: Scene) -> None:
    jump(keys, "po recommender", options(keys, scene.pending.partition("/")[2]))
    opened(keys, scene.pending)
    expect(keys.locator(".cause-text")).to_contain_text("not enough memory (8)")


def test_finding_the_workloads_that_use_a_secret(keys: Page, scene: Scene) -> None:
    jump(keys, "secrets", options(keys, "/secrets"))
    keys.wait_for_url(re.compile("/secrets"))
    live(keys)
    keys.keyboard.press("/")
    expect(keys.locator("#q")).to_be_focused()
    keys.keyboard.type("registry")
    keys.wait_for_url(re.compile("q=registry"))
    keys.keyboard.press("Escape")
    step_to(keys, scene.secret)
    keys.keyboard.press("o")
    opened(keys, scene.secret)
    user = scene.uses_secret.partition("/")[2]
    tab_to(keys, keys.locator(f'#panel-used-by a[href$="/deployments/{user}"]'))
    keys.keyboard.press("Enter")
    opened(keys, scene.uses_secret)


# Form fields and buttons are native: the CI run covers these two with a pointer.
@pytest.mark.deep
def test_comparing_two_revisions(keys: Page, scene: Scene) -> None:
    jump(keys, "deploy image-resizer", options(keys, "/deployments/image-resizer"))
    opened(keys, scene.revised)
    tab_to(keys, keys.locator(".tabs a[href*='/revisions']"))
    keys.keyboard.press("Enter")
    keys.wait_for_url(re.compile(r"/revisions(\?|$)"))
    tab_to(keys, keys.locator("select[name=from]"))
    keys.keyboard.type("2")
    keys.keyboard.press("Tab")
    keys.keyboard.type("1")
    keys.keyboard.press("Tab")
    keys.keyboard.press("Enter")
    keys.wait_for_url(re.compile("from=2&to=1"))
    expect(keys.locator(".diff del").last).to_contain_text("image")


@pytest.mark.deep
def test_opening_an_object_of_a_new_custom_type(keys: Page, scene: Scene) -> None:
    with scene.new_type() as name:
        jump(keys, name.partition(".")[0], options(keys, f"/{name}"))
        keys.wait_for_url(re.compile(rf"/{name}$"))
        step_to(keys, "web/anchor")
        keys.keyboard.press("Enter")
        opened(keys, "web/anchor")


def test_keyboard_help_and_navigation_shortcuts(keys: Page, scene: Scene) -> None:
    keys.keyboard.press("?")
    expect(keys.locator("#help")).to_be_visible()
    expect(keys.locator("#help")).to_contain_text("Move to the next or previous row")
    keys.keyboard.press("Escape")
    expect(keys.locator("#help")).to_be_hidden()
    for letter, place in (("d", "/deployments"), ("n", "/nodes"), ("o", "/dashboard")):
        go_to(keys, letter, re.compile(rf"{place}$"))


def test_the_menu_of_an_object_opens_and_closes(keys: Page, scene: Scene, console: Console) -> None:
    namespace, name = scene.revised.split("/")
    keys.goto(f"{console.url}/clusters/host/projects/{namespace}/deployments/{name}")
    opened(keys, scene.revised)
    more, menu = keys.locator(".acts [popovertarget]"), keys.locator("#more-actions")
    tab_to(keys, more)
    keys.keyboard.press("Enter")
    expect(menu).to_be_visible()
    tab_to(keys, menu.locator("a[href$='/actions/delete']"))
    keys.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(more).to_be_focused()
    keys.keyboard.press(".")
    expect(menu.locator("a:visible").first).to_be_focused()
    keys.keyboard.press("Enter")
    keys.wait_for_url(re.compile("/image-resizer/"))
