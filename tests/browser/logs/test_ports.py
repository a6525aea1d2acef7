"""Opening a port in a real browser, and isolation of hostile pages on it.

If SCREENSHOTS is set to a directory, screenshots are written to it.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.console import Console, sign_in
from tests.controlplane.waiting import eventually

StartPod = Callable[[str], str]
Picture = Callable[[Page, str], None]

#: Return the result of a request: its status, "opaque" for an unreadable response, or "refused".
_ASK = """async ([url, options]) => {
  try {
    const answer = await fetch(url, options);
    return answer.type === "opaque" ? "opaque" : answer.status;
  } catch {
    return "refused";
  }
}"""
_FRAME = """url => new Promise(done => {
  const frame = document.createElement("iframe");
  frame.src = url;
  frame.onload = () => {
    try { done(frame.contentDocument === null ? "apart" : frame.contentDocument.title); }
    catch { done("apart"); }
  };
  document.body.append(frame);
})"""


@pytest.fixture
def start(console: Console, page: Page) -> Iterator[StartPod]:
    """Create a pod that responds on port 8080 for one test, and return the URL of its page."""
    sign_in(page, console, "")
    names: list[str] = []

    def started(name: str) -> str:
        ports = [{"name": "http", "containerPort": 8080}]
        spec = {"containers": [{"name": "app", "image": "example/app:1", "ports": ports}]}
        about = {"name": name, "namespace": "default"}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": spec}
        console.kubectl("create", "-f", "-", input=json.dumps(pod))
        names.append(name)
        state = ("get", "pod", name, "-o", "jsonpath={.status.phase}")
        eventually(lambda: console.kubectl(*state) == "Running", f"{name} runs")
        return f"{console.url}/clusters/host/projects/default/pods/{name}"

    yield started
    if names:
        console.kubectl("delete", "pod", "--grace-period=0", "--force", *names)


@pytest.fixture
def picture() -> Picture:
    folder = os.environ.get("SCREENSHOTS")

    def taken(page: Page, name: str) -> None:
        if folder:
            page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)

    return taken


def opened(page: Page, address: str) -> Page:
    """Open the first port of the pod and return its tab."""
    page.goto(address)
    with page.expect_popup() as popup:
        page.get_by_role("button", name="Open port 8080").click()
    tab = popup.value
    tab.wait_for_url(re.compile(r"http://[0-9a-f]{32}\.ports\.localhost:\d+/$"))
    return tab


def origin(page: Page) -> str:
    parts = urlsplit(page.url)
    return f"{parts.scheme}://{parts.netloc}"


def test_a_port_opens_on_a_separate_host(page: Page, start: StartPod, picture: Picture) -> None:
    tab = opened(page, start("web"))
    panel = page.locator("#panel-ports")
    expect(panel).to_contain_text("kubectl port-forward pod/web 8080 -n default")
    picture(page, "ports")
    expect(tab).to_have_title("web")
    expect(tab.locator("body")).to_contain_text("GET /")
    picture(tab, "ports-open")
    assert "ticket" not in tab.url and tab.evaluate("document.cookie") == ""
    assert tab.evaluate("window.opener") is None and tab.evaluate("document.referrer") == ""
    tab.goto(f"{origin(tab)}/deep/er?a=b")
    expect(tab.locator("body")).to_contain_text("GET /deep/er?a=b")
    # Requests with a body reach the program.
    body = {"method": "POST", "body": "x" * 1_000_000}
    assert tab.evaluate(_ASK, ["/upload", body]) == 200
    assert tab.evaluate(_ASK, ["/upload", {"method": "OPTIONS"}]) == 405


def test_a_hostile_page_cannot_reach_the_console_or_other_ports(
    page: Page, start: StartPod, console: Console
) -> None:
    hostile, other = opened(page, start("hostile-port")), opened(page, start("other"))
    victim = origin(other)
    mine = {"credentials": "include"}
    blind = {**mine, "mode": "no-cors"}
    delete = {**blind, "method": "POST"}
    pods = f"{console.url}/clusters/host/pods?format=json"
    assert hostile.evaluate(_ASK, ["/", mine]) == 200
    answers: list[tuple[str, int]] = []
    hostile.on("response", lambda answer: answers.append((answer.url, answer.status)))
    for url in (pods, f"{victim}/"):
        for options in (mine, blind, delete):
            assert hostile.evaluate(_ASK, [url, options]) in ("refused", "opaque")
        assert hostile.evaluate(_FRAME, url) == "apart"
    # Every response was a refusal.
    assert {code for url, code in answers if not url.startswith(origin(hostile))} <= {403}
    # A cookie for the parent domain has no effect: the console's own cookie is used.
    hostile.evaluate("document.cookie = 'quarterdeck-port=x; Domain=ports.localhost; Path=/'")
    other.reload()
    expect(other).to_have_title("other")


def test_an_open_port_closes_when_the_user_signs_out(
    page: Page, start: StartPod, console: Console
) -> None:
    address = start("ends")
    # Close all connections of the previous page.
    page.goto("about:blank")
    with page.expect_websocket() as live:
        tab = opened(page, address)

    def answer_late(route: Route) -> None:
        # Keep the page from navigating to another URL in the meantime.
        with live.value.expect_event("close"):
            answer = route.fetch(max_redirects=0)
        console.session.clear()
        route.fulfill(response=answer)

    page.route("**/logout", answer_late)
    page.click("button.avatar")
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(console.url + "/login")
    page.unroute("**/logout")
    tab.reload()
    # The second request fails after the console has closed the session. It checks every few
    # seconds.
    over = re.compile(r"Your session has ended\.|Your browser has no open port at this address\.")
    expect(tab.locator("body")).to_contain_text(over)
    expect(tab.get_by_role("link")).to_have_attribute("href", console.url)
