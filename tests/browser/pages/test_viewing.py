"""Forms in one tab after viewing the console as another user was started or stopped in another tab."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import Console, sign_in
from tests.browser.tenants import person
from tests.controlplane.waiting import eventually

KEYS = "/clusters/host/projects/default/configmaps/colours/actions/keys"
VIEW = "/access/view-as/users/painter"


@pytest.fixture(autouse=True)
def _painter(console: Console) -> Iterator[None]:
    """A user with fewer permissions than the administrator, and an object that both may edit."""
    made = (
        ("configmap", "colours"),
        ("rolebinding", "painter"),
        ("users.iam.kubesphere.io", "painter"),
    )
    console.kubectl("apply", "-f", "-", input=json.dumps(person("painter")))
    console.kubectl("create", "rolebinding", "painter", "--clusterrole=edit", "--user=painter")
    console.kubectl("create", "configmap", "colours", "--from-literal=wall=white")
    yield
    for kind, name in made:
        console.kubectl("delete", kind, name, "--wait=false")


def view(page: Page, console: Console) -> None:
    button = page.get_by_role("button", name="View as painter")

    def offered() -> bool:
        page.goto(console.url + VIEW)
        return button.is_visible()

    eventually(offered, "the controllers enable the user")
    button.click()
    expect(page.get_by_text("Viewing as painter")).to_be_visible()
    page.goto(console.url + "/access/view-as/changes")
    page.get_by_role("main").get_by_role("button", name="Allow changes").click()


def stop(page: Page, console: Console) -> None:
    page.goto(console.url + "/dashboard")
    page.get_by_role("button", name="Stop viewing").click()
    expect(page.get_by_text("yourself again")).to_be_visible()


def save(page: Page, value: str) -> None:
    page.get_by_role("textbox", name="wall").fill(value)
    page.get_by_role("button", name="Save", exact=True).click()


def wall(console: Console) -> str:
    return console.kubectl("get", "configmap", "colours", "-o", "jsonpath={.data.wall}")


@pytest.mark.usefixtures("apart")
def test_a_form_is_not_submitted_as_another_user_than_it_was_opened_as(
    console: Console, page: Page
) -> None:
    sign_in(page, console, KEYS, anew=True)
    other = page.context.new_page()
    view(other, console)
    save(page, "drawn as admin")
    expect(
        page.get_by_text("You opened this page as admin, and now you use the console as painter.")
    ).to_be_visible()
    expect(page.locator("textarea[readonly]", has_text="drawn as admin")).to_be_visible()
    assert wall(console) == "white"
    page.goto(console.url + KEYS)
    stop(other, console)
    save(page, "drawn as painter")
    expect(
        page.get_by_text("You opened this page as painter, and now you use the console as admin.")
    ).to_be_visible()
    expect(page.locator("textarea[readonly]", has_text="drawn as painter")).to_be_visible()
    assert wall(console) == "white"
    page.goto(console.url + KEYS)
    save(page, "blue")
    expect(page.get_by_text("Saved the keys of")).to_be_visible()
    assert wall(console) == "blue"
