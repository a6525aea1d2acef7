"""Inviting a user found by a part of the name, on a phone, with and without scripts, in both
languages.
"""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.chromium import Chromium
from tests.browser.console import Console
from tests.browser.tenants import IAM, TENANT, enter, person
from tests.controlplane.waiting import eventually
from tests.support.depth import fewer

INVITE = "/workspaces/guests/members/invite"


# The search results are tested in tests/workspaces/test_finding_on_a_cluster.py. These tests cover
# the search field.
@pytest.fixture(params=fewer([True, False], True), ids=["with scripts", "without scripts"])
def scripts(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def phone(browser: Chromium, scripts: bool) -> Iterator[BrowserContext]:
    context = browser.new_context(
        locale="zh-CN" if scripts else "en-GB",
        java_script_enabled=scripts,
        viewport={"width": 390, "height": 780},
    )
    context.set_default_timeout(20_000)
    yield context
    context.close()


def test_a_user_is_found_by_a_part_of_the_name(
    console: Console, phone: BrowserContext, scripts: bool
) -> None:
    workspace = {
        "apiVersion": f"{TENANT}/v1alpha2",
        "kind": "WorkspaceTemplate",
        "metadata": {"name": "guests"},
        "spec": {"template": {"spec": {"manager": "admin"}}},
    }
    for item in (person("guest-of-honour"), person("guest-too"), workspace):
        console.kubectl("apply", "-f", "-", input=json.dumps(item))
    eventually(
        lambda: console.kubectl("get", f"workspaceroles.{IAM}", "-o", "name").count("guests-") == 4,
        "Only members of this workspace",
    )
    page = phone.new_page()
    enter(page, console, "admin", INVITE)
    page.fill("#find", "HONOUR@" if scripts else "of-hon")
    if not scripts:
        page.get_by_role("button", name="Find", exact=True).click()
    found = page.locator("#found a")
    expect(found).to_have_text(["guest-of-honour"])
    assert page.locator("html").evaluate("html => html.scrollWidth") <= 390
    found.click()
    expect(page.locator("input[name=user]")).to_have_value("guest-of-honour")
    page.fill("#find", "zzz")
    if not scripts:
        page.get_by_role("button", name="Find", exact=True).click()
    words = "未找到用户" if scripts else "No users found"
    expect(page.locator("#found")).to_contain_text(words)
