"""A port that is opened in a real browser, and what a hostile page there can do: nothing.

With SCREENSHOTS set to a folder, what is seen is written there.
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

#: How a request ended: its status, "opaque" for one that cannot be read, "refused" for none.
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
    """Makes a pod that answers at port 8080, for one test; its page, for whoever is signed in."""
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
    """The tab that the first port of the pod is opened in."""
    page.goto(address)
    with page.expect_popup() as popup:
        page.get_by_role("button", name="Open port 8080").click()
    tab = popup.value
    tab.wait_for_url(re.compile(r"http://[0-9a-f]{32}\.ports\.localhost:\d+/$"))
    return tab


def origin(page: Page) -> str:
    parts = urlsplit(page.url)
    return f"{parts.scheme}://{parts.netloc}"


def it_opens_a_port_on_a_host_of_its_own(page: Page, start: StartPod, picture: Picture) -> None:
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
    # What is sent to the program comes there as well.
    body = {"method": "POST", "body": "x" * 1_000_000}
    assert tab.evaluate(_ASK, ["/upload", body]) == 200
    assert tab.evaluate(_ASK, ["/upload", {"method": "OPTIONS"}]) == 405


def it_keeps_a_hostile_page_from_the_console_and_from_other_ports(
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
    # Whatever came was a refusal.
    assert {code for url, code in answers if not url.startswith(origin(hostile))} <= {403}
    # Neither by a cookie for all: ours counts all the same.
    hostile.evaluate("document.cookie = 'quarterdeck-port=x; Domain=ports.localhost; Path=/'")
    other.reload()
    expect(other).to_have_title("other")


def it_ends_when_its_user_logs_out(page: Page, start: StartPod, console: Console) -> None:
    address = start("ends")
    # Whatever the page before had open is over.
    page.goto("about:blank")
    with page.expect_websocket() as live:
        tab = opened(page, address)

    def answer_late(route: Route) -> None:
        # What the page hears meanwhile leads it nowhere else.
        with live.value.expect_event("close"):
            answer = route.fetch(max_redirects=0)
        console.session.clear()
        route.fulfill(response=answer)

    page.route("**/logout", answer_late)
    page.click("button.avatar")
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_url(console.url + "/login")
    page.unroute("**/logout")
    tab.reload()
    # The second once the console has closed it: it looks every few seconds.
    over = re.compile(r"Your session is over\.|No port is open here for you\.")
    expect(tab.locator("body")).to_contain_text(over)
    expect(tab.get_by_role("link")).to_have_attribute("href", console.url)
