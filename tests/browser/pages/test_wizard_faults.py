"""Wizards in a browser after a session or the server process ended."""

import json
import re
from pathlib import Path
from threading import Event

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.console import PASSWORD, Console, answers, sign_in
from tests.browser.wizard_forms import NEW, field
from tests.contract.admission import admission
from tests.controlplane.waiting import eventually


def reviewed(page: Page, console: Console, name: str) -> str:
    """Fill in a Deployment with a Service, open its review, and return the URL."""
    page.goto(console.url + NEW)
    page.fill(field(page, "name"), name)
    page.keyboard.press("Enter")
    page.wait_for_url("**/containers")
    page.fill(field(page, "containers.0.image"), "example/web:1")
    page.locator('.steps [value="go.network"]').click()
    page.get_by_label("Create a Service for this workload").check()
    expect(page.locator(field(page, "service.ports.0.port"))).to_be_visible()
    page.get_by_role("button", name="Skip to review").click()
    page.wait_for_url("**/review")
    expect(page.get_by_role("button", name="Create 2 objects")).to_be_visible()
    return page.url


def test_a_session_that_ended_at_the_last_step_continues_there(
    console: Console, context: BrowserContext
) -> None:
    page = context.new_page()
    sign_in(page, console, "/account", anew=True)
    url = reviewed(page, console, "after-sign-in")
    other = context.new_page()
    other.goto(f"{console.url}/account")
    other.click("button.avatar")
    other.get_by_role("button", name="Sign out").click()
    other.wait_for_url("**/login*")
    other.close()
    page.get_by_role("button", name="Create 2 objects").click()
    expect(page.get_by_role("heading", name="Your session has ended.")).to_be_visible()
    with context.expect_page() as opened:
        page.get_by_role("link", name="Sign in").click()
    again = opened.value
    again.fill("input[name=username]", "admin")
    again.fill("input[name=password]", PASSWORD)
    again.click("button[type=submit]:not([form])")
    # The same draft at the same step.
    again.wait_for_url(url)
    expect(again.get_by_role("button", name="Create 2 objects")).to_be_visible()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="You are signed in again.")).to_be_visible()
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/created")
    expect(page.get_by_role("link", name="after-sign-in")).to_have_count(2)


def test_objects_of_an_attempt_are_known_after_the_server_was_killed(
    console: Console, page: Page, tmp_path: Path
) -> None:
    """The server is killed while it waits for the second object, which a webhook delays."""
    arrived, ended = Event(), Event()

    def delay(asked: dict[str, object]) -> dict[str, object]:
        if not asked.get("dryRun"):
            arrived.set()
            ended.wait(20)
            return {"allowed": False, "status": {"message": "too late", "code": 403}}
        return {"allowed": True}

    sign_in(page, console, "")
    with admission(tmp_path, delay) as server:
        rules = [("apps", "deployments")]
        webhook = server.configuration("ValidatingWebhookConfiguration", "default", rules)
        console.kubectl("create", "-f", "-", input=json.dumps(webhook))
        try:
            url = reviewed(page, console, "killed-between")
            page.get_by_role("button", name="Create 2 objects").click(no_wait_after=True)
            assert arrived.wait(30)
            console.kill()
        finally:
            console.kubectl("delete", webhook["kind"], webhook["metadata"]["name"])
            ended.set()
    console.restart()
    eventually(lambda: answers(console.url + "/readyz"), "the console is ready", timeout=60)
    page.goto(url)
    expect(page).to_have_url(re.compile("/creating$"))
    expect(page.locator(".results li")).to_contain_text(["Created", "Not attempted"])
    expect(page.locator(".results li").nth(0)).to_contain_text("Service")
    expect(page.get_by_role("button", name="Undo…")).to_be_visible()
    # The account page leads to the same page.
    page.goto(f"{console.url}/account")
    page.get_by_role("link", name=re.compile("killed-between")).click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Create 1 object", exact=True).click()
    page.wait_for_url("**/created")
    found = console.kubectl("get", "deployment,service", "-l", "app=killed-between", "-o", "name")
    assert found.split() == ["deployment.apps/killed-between"]
    assert "killed-between" in console.kubectl("get", "services", "-o", "name")
    page.get_by_role("button", name="Undo…").click()
    page.get_by_role("button", name=re.compile("^Delete")).click()
    expect(page.locator(".results li")).to_contain_text(["Deleted", "Deleted"])
