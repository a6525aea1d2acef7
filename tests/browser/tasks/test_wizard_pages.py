"""The pages of wizards at three widths in both themes, with screenshots for docs/wizards.md."""

from collections.abc import Callable, Iterator
from itertools import product
from secrets import token_hex

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import Chromium
from tests.browser.console import Console
from tests.browser.tasks.conftest import HEIGHTS, Look, Person, somebody
from tests.browser.tasks.sample_objects import Scene
from tests.browser.wizard_forms import field
from tests.support.depth import fewer

PROJECT = "web"
LOOKS = [Look(theme, "en", width) for theme, width in product(("light", "dark"), HEIGHTS)]


@pytest.fixture(scope="module", params=fewer(LOOKS, LOOKS[0]), ids=str)
def visitor(
    request: pytest.FixtureRequest, browser: Chromium, console: Console, scene: Scene
) -> Iterator[Person]:
    with somebody(browser, console, request.param) as person:
        yield person


def _saved(page: Page) -> None:
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved.")


def _containers(page: Page, new: str, name: str = "checkout-api") -> None:
    page.goto(f"{new}/deployments?namespace={PROJECT}")
    page.fill(field(page, "name"), name)
    page.keyboard.press("Enter")
    page.wait_for_url("**/containers")
    page.fill(field(page, "containers.0.image"), "registry.example.com/shop/api:2.18.4")
    page.fill(field(page, "containers.0.name"), "api")
    page.get_by_role("button", name="Add port", exact=True).click()
    page.fill(field(page, "containers.0.ports.0.name"), "http")
    page.fill(field(page, "containers.0.ports.0.containerPort"), "8080")
    page.get_by_role("button", name="Add container", exact=True).click()
    page.fill(field(page, "containers.1.image"), "fluent/fluent-bit:latest")
    page.fill(field(page, "containers.1.name"), "log-shipper")
    _saved(page)


def _quick_start(page: Page, new: str) -> None:
    page.goto(f"{new}/deployments?namespace={PROJECT}&step=quick")
    page.fill(field(page, "image"), "registry.example.com/shop/api:2.18.4")
    page.fill(field(page, "port"), "8080")
    page.fill(field(page, "ingress.host"), "api.example.com")
    _saved(page)


def _review(page: Page, new: str) -> None:
    _containers(page, new)
    page.locator('button[value="go.review"]').last.click()
    page.wait_for_url("**/review")


def _review_of_an_edit(page: Page, new: str) -> None:
    host = new.removesuffix("/new")
    page.goto(f"{host}/projects/{PROJECT}/deployments/image-resizer/edit/form")
    page.fill(field(page, "replicas"), "7")
    page.locator('button[value="go.review"]').last.click()
    page.wait_for_url("**/review")


def _yaml(page: Page, new: str) -> None:
    _containers(page, new)
    page.locator('button[value="go.yaml"]').first.click()
    page.wait_for_url("**/yaml")


def _secret(page: Page, new: str) -> None:
    page.goto(f"{new}/secrets?namespace={PROJECT}")
    page.fill(field(page, "name"), "registry-shop")
    page.locator(f'{field(page, "kind")}[value="registry"]').check()
    row = "kind.registry.auths.0"
    page.fill(field(page, f"{row}.key"), "registry.invalid")
    page.fill(field(page, f"{row}.username"), "deploy-bot")
    password = page.locator(field(page, f"{row}.password"))
    password.fill("secret")
    page.get_by_role("button", name="Show Password or token").click()
    expect(password).to_have_attribute("type", "text")
    page.get_by_role("button", name="Show Password or token").click()
    expect(password).to_have_attribute("type", "password")
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("The host registry.invalid was not found.")).to_be_visible()


def _network_policy(page: Page, new: str) -> None:
    page.goto(f"{new}/networkpolicies?namespace={PROJECT}")
    page.fill(field(page, "name"), "web-from-project")
    expect(page.locator('svg[data-when="after"]').first).to_be_visible()
    _saved(page)


def _progress(page: Page, new: str) -> None:
    _containers(page, new, f"checkout-api-{token_hex(2)}")
    page.locator('button[value="go.review"]').last.click()
    page.get_by_role("button", name="Create 1 object").click()
    page.wait_for_url("**/created")


def _fits(visitor: Person, fill_in: Callable[[Page, str], None]) -> Person:
    """Open a page, check that it has the width of the window, and scroll to its top."""
    page = visitor.page
    fill_in(page, f"{visitor.console.url}/clusters/host/new")
    assert page.locator("html").evaluate("html => html.scrollWidth") <= visitor.look.width
    page.evaluate("scrollTo(0, 0)")
    return visitor


def test_a_step_of_a_deployment_fits(visitor: Person) -> None:
    _fits(visitor, _containers).picture("wizard-containers")


def test_quick_start_fits(visitor: Person) -> None:
    _fits(visitor, _quick_start).picture("wizard-quick-start")


def test_the_review_of_new_objects_fits(visitor: Person) -> None:
    _fits(visitor, _review).picture("wizard-review")


def test_the_review_of_a_change_fits(visitor: Person) -> None:
    _fits(visitor, _review_of_an_edit).picture("wizard-edit-review")


def test_the_yaml_of_a_draft_fits(visitor: Person) -> None:
    _fits(visitor, _yaml).picture("wizard-yaml")


def test_the_form_of_a_secret_fits(visitor: Person) -> None:
    _fits(visitor, _secret).picture("wizard-secret")


def test_the_form_of_a_network_policy_fits(visitor: Person) -> None:
    _fits(visitor, _network_policy).picture("wizard-network-policy")


def test_the_page_of_created_objects_fits(visitor: Person) -> None:
    _fits(visitor, _progress).picture("wizard-progress")
