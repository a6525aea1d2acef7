"""How an open list follows the cluster, in a real browser."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Page, Request, Response, expect

from tests.browser.console import Console, live, sign_in
from tests.browser.pages.test_pods import CRASHING, RUNNING, row
from tests.contract.crds import definition
from tests.controlplane.waiting import eventually

HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


class Traffic:
    """What a page asks for and gets, from its opening on."""

    def __init__(self, page: Page) -> None:
        self.lists: list[str] = []
        self.frames: list[str] = []
        page.on("request", self._request)
        page.on("websocket", lambda ws: ws.on("framereceived", self._frame))

    def _request(self, request: Request) -> None:
        if request.headers.get("hx-request"):
            self.lists.append(request.url)

    def _frame(self, payload: str | bytes) -> None:
        self.frames.append(str(payload))


@contextmanager
def pods(console: Console, *names: str) -> Iterator[None]:
    with console.tidied():
        console.pod(*names)
        for name in names:
            console.set_status(name, RUNNING)
        yield


def opened(console: Console, page: Page, *names: str) -> Traffic:
    """The list by name, with what it has done since it is up to date."""
    sign_in(page, console, "")
    traffic = Traffic(page)
    page.goto(console.url + "/clusters/host/pods?namespace=default")
    live(page)
    for name in names:
        expect(row(page, name)).to_contain_text("Running")
    return traffic


def order(page: Page) -> list[str]:
    keys = page.locator("#results tbody tr").evaluate_all("rows => rows.map(r => r.dataset.key)")
    return [key.removeprefix("default/") for key in keys]


def it_puts_rows_in_their_place_without_fetching_the_list(console: Console, page: Page) -> None:
    with pods(console, "apple", "melon"):
        traffic = opened(console, page, "apple", "melon")
        console.pod("late")
        console.set_status("late", RUNNING)
        expect(row(page, "late")).to_contain_text("Running")
        assert order(page) == ["apple", "late", "melon"]
        expect(page.locator("#summary .title .count")).to_have_text("3")
        console.set_status("melon", CRASHING)
        expect(page.locator("#results tbody tr").first).to_contain_text("Crash loop")
        assert order(page) == ["melon", "apple", "late"]
        console.kubectl("delete", "pod", "late", "--grace-period=0", "--force")
        expect(row(page, "late")).to_have_count(0)
        assert order(page) == ["melon", "apple"]
        expect(page.locator("#pager .range")).to_have_text("1–2 of 2")
        assert traffic.lists == []


def it_leaves_the_rows_under_the_pointer_where_they_are(console: Console, page: Page) -> None:
    with pods(console, "apple", "melon"):
        opened(console, page, "apple", "melon")
        row(page, "apple").hover()
        page.mouse.move(*[part + 2 for part in middle(page, "apple")])
        console.pod("late")
        expect(page.locator("#updates")).to_contain_text("1 new")
        # What comes and goes meanwhile leaves nothing behind: a list may be held for hours.
        console.pod("guest")
        expect(page.locator("#updates")).to_contain_text("2 new")
        console.kubectl("delete", "pod", "guest", "--grace-period=0", "--force")
        expect(page.locator("#updates")).to_contain_text("1 new")
        assert page.evaluate("[...quarterdeck.coming.keys()]") == ["default/late"]
        console.set_status("melon", CRASHING)
        expect(row(page, "melon")).to_contain_text("Crash loop")
        assert order(page) == ["apple", "melon"]
        page.mouse.move(5, 5)
        expect(row(page, "late")).to_be_visible()
        expect(page.locator("#updates")).to_be_hidden()
        assert order(page) == ["melon", "late", "apple"]


def middle(page: Page, name: str) -> tuple[float, float]:
    box = row(page, name).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def in_another_window(console: Console, page: Page) -> Page:
    """The same list."""
    other = page.context.new_page()
    other.goto(console.url + "/clusters/host/pods?namespace=default")
    live(other)
    return other


def it_sends_nothing_to_a_hidden_page_and_catches_it_up(console: Console, page: Page) -> None:
    with pods(console, "apple", "melon"):
        traffic = opened(console, page, "apple", "melon")
        page.evaluate(HIDE, True)
        other = in_another_window(console, page)
        got = len(traffic.frames)
        console.pod("late")
        console.set_status("apple", CRASHING)
        expect(row(other, "late")).to_be_visible()
        expect(row(other, "apple")).to_contain_text("Crash loop")
        other.close()
        assert len(traffic.frames) == got
        expect(row(page, "late")).to_have_count(0)
        page.evaluate(HIDE, False)
        expect(row(page, "late")).to_be_visible()
        expect(row(page, "apple")).to_contain_text("Crash loop")
        assert order(page)[0] == "apple"
        assert traffic.lists == []


def it_shows_after_a_pause_what_came_meanwhile(console: Console, page: Page) -> None:
    with pods(console, "apple", "melon"):
        opened(console, page, "apple", "melon")
        other = in_another_window(console, page)
        pause = page.locator("#freshness > button")
        pause.click()
        console.set_status("apple", CRASHING)
        expect(row(other, "apple")).to_contain_text("Crash loop")
        other.close()
        expect(row(page, "apple")).to_contain_text("Running")
        pause.click()
        expect(row(page, "apple")).to_contain_text("Crash loop")


def it_lights_up_ten_rows_at_most(console: Console, page: Page) -> None:
    sign_in(page, console, "/clusters/host/clusterroles?limit=100")
    live(page)
    rows = page.locator("#results tbody tr")
    assert rows.count() >= 60
    lit = page.locator("tr[data-changed]")
    change = """(most) => {
      quarterdeck.note(quarterdeck.rows().slice(0, most));
      quarterdeck.settle();
      return document.querySelectorAll("tr[data-changed]").length;
    }"""
    assert page.evaluate(change, 12) == 10
    expect(lit).to_have_count(0)
    # Of so many it would only flicker.
    assert page.evaluate(change, 60) == 0


def it_counts_objects_without_states_on_their_tab(console: Console, page: Page) -> None:
    sign_in(page, console, "/clusters/host/clusterroles")
    live(page)
    total = page.locator("#results > table").get_attribute("data-total")
    assert total and int(total) > 0
    count = page.locator(".kind-tabs [aria-current] [data-count=all]")
    # What the live page counts: it draws the number anew whenever the list settles.
    page.evaluate("window.quarterdeck.settle()")
    expect(count).to_have_text(f"{int(total):,}")
    expect(count).to_be_visible()
    # Where a filter narrows the list it stays.
    page.goto(console.url + "/clusters/host/clusterroles?q=nowhere")
    live(page)
    expect(page.locator("#results > table")).to_have_attribute("data-total", "0")
    page.evaluate("window.quarterdeck.settle()")
    expect(count).to_have_text(f"{int(total):,}")


def it_counts_in_the_rail_what_fails(console: Console, page: Page) -> None:
    with pods(console, "apple"):
        sign_in(page, console)
        live(page)
        expect(row(page, "apple")).to_contain_text("Running")
        count = page.locator(".rail-link[aria-current] [data-count=failing]")
        before = int(count.text_content() or "0")
        console.set_status("apple", CRASHING)
        expect(count).to_have_text(f"{before + 1:,}")
        expect(count).to_be_visible()


@pytest.mark.parametrize("path", ["/clusters/host/pods", "/access/roles?level=global"])
def it_asks_again_for_what_it_did_not_get(console: Console, page: Page, path: str) -> None:
    """A list, and a page that is drawn whole, of which it is told that nothing has changed."""
    sign_in(page, console, path)
    live(page)
    page.route(console.url + path, lambda route: route.fulfill(status=503), times=1)

    def is_the_same(answer: Response) -> bool:
        return answer.url == console.url + path and answer.status in (200, 304)

    with page.expect_response(is_the_same):
        page.evaluate("quarterdeck.update()")
    live(page)


def column(name: str) -> dict[str, str]:
    return {"name": name, "type": "string", "jsonPath": ".status.phase"}


def is_there(page: Page, url: str) -> bool:
    answer = page.goto(url)
    return answer is not None and answer.ok


def it_follows_on_after_it_was_fetched_anew(console: Console, page: Page) -> None:
    """As it is when its type has other columns."""
    crd = definition(additionalPrinterColumns=[column("Size")])
    name, spec = crd["metadata"]["name"], crd["spec"]

    def apply(item: dict[str, Any]) -> None:
        console.kubectl("apply", "-f", "-", input=json.dumps(item))

    def widget(name: str) -> dict[str, Any]:
        of = {"apiVersion": f"{spec['group']}/v1", "kind": "Widget"}
        return {**of, "metadata": {"name": name}}

    apply(crd)
    try:
        console.kubectl("wait", "--for=condition=Established", f"crd/{name}")
        apply(widget("first"))
        sign_in(page, console)
        eventually(lambda: is_there(page, f"{console.url}/clusters/host/{name}"), "its list")
        heads = page.locator("#results thead")
        expect(heads).to_contain_text("Size")
        expect(row(page, "first")).to_be_visible()
        live(page)
        spec["versions"][0]["additionalPrinterColumns"] = [column("Color")]
        apply(crd)
        expect(heads).to_contain_text("Color")
        apply(widget("second"))
        expect(row(page, "second")).to_be_visible()
    finally:
        console.kubectl("delete", "crd", name)
