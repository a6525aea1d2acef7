"""Signing in and watching pods change in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import PODS, Console, live, sign_in
from tests.browser.pages.pod_list import CRASHING, RUNNING, row
from tests.controlplane.waiting import eventually


# The CI run covers this in test_live.py, with a smaller list.
@pytest.mark.deep
def test_a_pod_appears_changes_and_disappears(console: Console, page: Page) -> None:
    sign_in(page, console)
    expect(page).to_have_url(re.compile("/clusters/host/pods"))
    live(page)
    console.pod("visitor")
    expect(row(page, "visitor")).to_be_visible(timeout=10_000)
    console.set_status("visitor", RUNNING)
    expect(row(page, "visitor")).to_contain_text("Running", timeout=10_000)
    console.set_status("visitor", CRASHING)
    expect(row(page, "visitor")).to_contain_text("Crash loop", timeout=10_000)
    expect(row(page, "visitor")).to_contain_text("exit 137, OOMKilled")
    console.kubectl("delete", "pod", "visitor", "--grace-period=0", "--force")
    expect(row(page, "visitor")).to_have_count(0, timeout=10_000)


def test_a_stale_list_is_marked_and_catches_up_without_loss(console: Console, page: Page) -> None:
    console.pod("survivor", "lost")
    sign_in(page, console)
    live(page)
    expect(row(page, "survivor")).to_be_visible()
    banner = page.locator("#banner")
    expect(banner).to_be_hidden()
    paused = page.context.new_page()
    paused.goto(console.url + PODS)
    live(paused)
    paused.locator("#freshness > button").click()
    console.cluster.kill()
    try:
        expect(page.locator("body")).to_have_attribute("data-live", "stale", timeout=15_000)
        expect(page.locator("#freshness")).to_contain_text(re.compile(r"\d\d:\d\d:\d\d"))
        expect(page.locator("#announce")).to_have_text("Stale: the cluster is not responding")
        expect(banner).to_be_visible()
        since = page.locator("#freshness").get_attribute("data-since") or ""
        expect(banner.locator("time")).to_have_attribute("datetime", since)
        expect(banner.locator("time")).to_have_text(re.compile(r"^\d\d:\d\d:\d\d$"))
        expect(banner.locator(".problem")).not_to_be_empty()
        expect(paused.locator("body")).to_have_attribute("data-live", "stale")
        expect(paused.locator("#freshness > button")).to_have_attribute("aria-pressed", "true")
        paused.close()
        other = page.context.new_page()
        other.goto(console.url + "/clusters/host/pods")
        expect(row(other, "survivor")).to_be_visible()
        expect(other.locator("body")).to_have_attribute("data-live", "stale")
        other.close()
    finally:
        console.cluster.restart()
    console.kubectl("delete", "pod", "lost", "--grace-period=0", "--force")
    console.pod("found")
    expect(row(page, "found")).to_be_visible(timeout=20_000)
    expect(row(page, "lost")).to_have_count(0)
    live(page)
    expect(banner).to_be_hidden()
    # Actions are offered again after the permissions are confirmed.
    actions = row(page, "survivor").get_by_role("button", name="Actions for survivor")
    expect(actions).to_be_visible(timeout=30_000)


# The CI run deletes from the menu of a row in tests/browser/repairs/test_everyday.py, and tests
# audit records in tests/audit.
@pytest.mark.deep
def test_a_pod_is_deleted_with_the_users_identity_after_confirmation(
    console: Console, page: Page
) -> None:
    console.pod("condemned")
    sign_in(page, console, "/clusters/host/pods?q=condemned")
    expect(row(page, "condemned")).to_be_visible()
    # Deletion is disabled while permissions are stale, and an earlier test may have restarted the
    # server.
    actions = row(page, "condemned").get_by_role("button", name="Actions for condemned")
    expect(actions).to_be_visible(timeout=30_000)
    actions.click()
    page.get_by_role("link", name=re.compile("Delete")).last.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("condemned")
    page.get_by_role("button", name=re.compile("Delete")).click()
    expect(page).to_have_url(re.compile("/clusters/host/pods"))
    expect(page.get_by_text(re.compile("condemned"))).not_to_have_count(0)
    eventually(lambda: not console.has_pod("condemned"), "the pod is gone", timeout=40)
    log = console.log.read_text()
    assert re.search(r'"verb": ?"delete".*"condemned"', log)


# The CI run filters in tests/browser/tasks/test_without_scripts.py and deletes in test_choosing.py.
@pytest.mark.deep
def test_lists_and_actions_work_without_scripts(console: Console, plain: Page) -> None:
    console.pod("plain", tier="web")
    console.pod("other")
    plain.goto(console.url + PODS)
    plain.fill("input[name=q]", "plain")
    plain.press("input[name=q]", "Enter")
    expect(plain).to_have_url(re.compile("q=plain"))
    expect(row(plain, "plain")).to_be_visible()
    expect(row(plain, "other")).to_have_count(0)
    plain.goto(console.url + PODS + "?label=tier%3Dweb")
    expect(row(plain, "plain")).to_be_visible()
    plain.goto(console.url + "/clusters/host/projects/default/pods/plain/actions/delete")
    plain.get_by_role("button", name=re.compile("Delete")).click()
    eventually(lambda: not console.has_pod("plain"), "the pod is gone", timeout=40)


# The CI run covers one failed sign-in in test_whole_flow.py and the other cases in
# tests/accounts/test_login.py.
@pytest.mark.deep
@pytest.mark.parametrize("password", ["wrong", "", "x" * 1024])
def test_a_wrong_password_is_rejected(console: Console, page: Page, password: str) -> None:
    page.goto(console.url + "/clusters/host/pods")
    expect(page).to_have_url(re.compile("/login"))
    page.fill("input[name=username]", "admin")
    page.locator("input[name=password]").evaluate("e => { e.required = false }")
    page.fill("input[name=password]", password)
    page.locator("main button[type=submit], form button[type=submit]").first.click()
    expect(page.get_by_text("Incorrect username or password.")).to_be_visible()
