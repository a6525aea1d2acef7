"""The page of one object in a real browser."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import Console, live, sign_in
from tests.browser.keyboard import go_to
from tests.browser.pages.pod_list import RUNNING, pods, row
from tests.controlplane.waiting import eventually

KILLED = {
    "phase": "Running",
    "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}],
    "containerStatuses": [
        {
            "name": "c", "ready": False, "restartCount": 14, "image": "i", "imageID": "i",
            "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}},
            "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
        }
    ],
}  # fmt: skip
LISTED = "/clusters/host/pods?namespace=default"


def path_of(name: str) -> str:
    return f"/clusters/host/projects/default/pods/{name}"


@contextmanager
def at_its_page(console: Console, page: Page, *names: str) -> Iterator[None]:
    """Create these pods and open the page of the first one."""
    with pods(console, *names):
        sign_in(page, console, path_of(names[0]))
        live(page)
        yield


@contextmanager
def at_the_list(console: Console, page: Page, *names: str) -> Iterator[None]:
    with pods(console, *names):
        sign_in(page, console, LISTED)
        live(page)
        yield


def test_the_list_leads_to_the_cause_of_a_problem(console: Console, page: Page) -> None:
    with at_the_list(console, page, "apple", "melon"):
        console.set_status("melon", KILLED)
        expect(page.locator("#results tbody tr").first).to_contain_text("Crash loop")
        # The most severe problem is first, so its page is two keys away.
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url(console.url + path_of("melon"))
        live(page)
        cause = page.locator("#panel-cause .cause")
        expect(cause).to_contain_text("it ran out of memory and was killed")
        expect(cause).to_contain_text("The container was restarted 14 times")
        expect(cause).to_contain_text("exit 137, OOMKilled")
        expect(page.locator("#panel-containers")).to_contain_text("CrashLoopBackOff")
        page.keyboard.press("u")
        page.wait_for_url(console.url + LISTED)


def test_single_key_shortcuts_work(console: Console, page: Page, apart: None) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    with at_the_list(console, page, "apple", "melon"):
        page.keyboard.press("k")
        expect(row(page, "melon")).to_be_focused()
        page.keyboard.press("k")
        expect(row(page, "apple")).to_be_focused()
        page.keyboard.press("y")
        expect(page.locator("#announce")).to_have_text("Copied apple")
        assert page.evaluate("navigator.clipboard.readText()") == "apple"
        console.pod("late")
        expect(page.locator("#updates")).to_be_visible()
        page.keyboard.press("u")
        expect(row(page, "late")).to_be_visible()
        page.keyboard.press("Shift+D")
        page.wait_for_url(re.compile(path_of("apple") + "/actions/delete"))
        # In a project, the shortcut opens the project's own list.
        go_to(page, "s", re.compile(r"/services\?namespace=default$"))
        page.keyboard.press("/")
        page.keyboard.press("Escape")
        go_to(page, "n", re.compile("/nodes$"))


def test_the_copy_button_copies_or_selects_the_text(
    console: Console, page: Page, apart: None
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    with at_its_page(console, page, "apple"):
        page.goto(f"{page.url}/yaml")
        button = page.locator("[data-copy-text=yaml-text]")
        source = page.locator("#yaml-text").get_attribute("data-source")
        with page.expect_response(f"{console.url}{source}") as told:
            button.click()
        expect(page.locator("#announce")).to_have_text("Copied YAML")
        # Without line numbers.
        assert page.evaluate("navigator.clipboard.readText()") == told.value.text()
        # Without clipboard access, the text is selected for the user to copy.
        page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(); }")
        button.click()
        selected = "getSelection().toString()"
        eventually(lambda: "example/image:1" in page.evaluate(selected), "it is selected")


def test_the_current_tab_is_visible_on_a_phone(console: Console, page: Page) -> None:
    with at_its_page(console, page, "apple"):
        page.set_viewport_size({"width": 390, "height": 844})
        tabs = page.locator(".tabs")
        assert tabs.evaluate("(one) => one.scrollWidth > one.clientWidth")
        # The tabs after these lead to other pages: files of a running pod, and who may read it.
        last = tabs.locator("a[hx-get]").last.get_attribute("href") or ""
        page.goto(console.url + last)
        expect(tabs.locator("[aria-current=page]")).to_be_in_viewport(ratio=1)


def test_live_updates_keep_expanded_sections(console: Console, page: Page) -> None:
    with at_its_page(console, page, "apple"):
        console.kubectl("annotate", "pod", "apple", f"example.com/long={'x' * 300}")
        page.locator("#panel-metadata summary").click()
        frames: list[str] = []
        page.on("request", lambda request: frames.append(request.url))
        console.set_status("apple", KILLED)
        expect(page.locator("#detail-head")).to_contain_text("Crash loop")
        expect(page.locator("#panel-cause .cause")).to_contain_text(
            "Container c is in a crash loop"
        )
        console.set_status("apple", {**RUNNING})
        expect(page.locator("#detail-head")).to_contain_text("Running")
        expect(page.locator("#panel-cause .cause")).to_have_count(0)
        console.kubectl("label", "pod", "apple", "tier=front")
        expect(page.locator("#panel-metadata")).to_contain_text("tier=front")
        expect(page.locator("#panel-metadata details[open]")).to_have_count(1)
        assert frames == []


def test_a_resumed_page_shows_the_current_state(console: Console, page: Page) -> None:
    with at_its_page(console, page, "apple"):
        other = page.context.new_page()
        other.goto(page.url)
        live(other)
        page.keyboard.press("f")
        console.set_status("apple", KILLED)
        expect(other.locator("#detail-head")).to_contain_text("Crash loop")
        other.close()
        expect(page.locator("#detail-head")).to_contain_text("Running")
        page.keyboard.press("f")
        expect(page.locator("#detail-head")).to_contain_text("Crash loop")


def test_the_last_state_of_a_deleted_object_is_kept(console: Console, page: Page) -> None:
    with at_its_page(console, page, "apple"):
        expect(page.locator("#detail-gone")).to_be_hidden()
        console.kubectl("delete", "pod", "apple", "--grace-period=0", "--force")
        notice = page.locator("#detail-gone")
        expect(notice).to_have_text(
            re.compile(r"Deleted \d\d:\d\d:\d\d\. This page shows the last known state\.")
        )
        expect(page.locator("#panel-containers")).to_contain_text("example/image:1")
        expect(page.locator("#detail-head .acts")).to_be_hidden()
        notice.get_by_role("link").click()
        page.wait_for_url(console.url + LISTED)
        page.go_back()
        expect(page.locator("main")).to_contain_text("No pod default/apple found.")


def test_switching_tabs_keeps_live_updates(console: Console, page: Page) -> None:
    with at_its_page(console, page, "apple"):
        page.get_by_role("link", name="YAML", exact=True).click()
        page.wait_for_url(console.url + path_of("apple") + "/yaml")
        text = page.locator("#yaml-text")
        expect(text).to_contain_text("image: example/image:1")
        console.kubectl("label", "pod", "apple", "tier=front")
        expect(text).to_contain_text("tier: front")
        page.locator("#L3 > a").click()
        assert page.url.endswith("/yaml#L3")
        with page.expect_download() as started:
            page.get_by_role("link", name="Download").click()
        assert started.value.suggested_filename == "apple.yaml"
        page.keyboard.press("Escape")
        page.wait_for_url(console.url + LISTED)


# The CI run covers this in tests/browser/tasks/test_without_scripts.py.
@pytest.mark.deep
def test_detail_pages_work_without_scripts(console: Console, page: Page) -> None:
    with at_the_list(console, page, "apple"):
        state = page.context.storage_state()
        browser = page.context.browser
        assert browser is not None
        plain = browser.new_context(java_script_enabled=False, storage_state=state)
        other = plain.new_page()
        other.goto(console.url + LISTED)
        row(other, "apple").get_by_role("link", name="apple").click()
        other.wait_for_url(console.url + path_of("apple"))
        other.get_by_role("link", name="YAML", exact=True).click()
        expect(other.locator("#yaml-text")).to_contain_text("name: apple")
        other.get_by_role("link", name="Pods").last.click()
        other.wait_for_url(console.url + LISTED)
        plain.close()
