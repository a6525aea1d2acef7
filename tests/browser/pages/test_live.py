"""Live updates of an open list in a real browser."""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Page, Response, Route, WebSocketRoute, expect

from tests.browser.console import Console, live, sign_in
from tests.browser.pages.pod_list import CRASHING, LISTED, RUNNING, opened, order, pods, row
from tests.browser.visibility import HIDE
from tests.contract.crds import definition
from tests.controlplane.waiting import eventually

ROW = "document.querySelector('#results tbody tr')"
TICK = "document.querySelector('#results tbody .tick input')"


def test_rows_are_inserted_without_fetching_the_list(console: Console, page: Page) -> None:
    with pods(console, "apple", "melon"):
        traffic = opened(console, page, "apple", "melon")
        # A pointer that was already over the table when the page loaded does not hold it.
        place = middle(page, "apple")
        page.mouse.move(*place)
        page.reload()
        live(page)
        page.mouse.move(*place)
        assert page.evaluate("document.querySelector('#results > table').matches(':hover')")
        console.pod("late")
        console.set_status("late", RUNNING)
        expect(row(page, "late")).to_contain_text("Running")
        eventually(lambda: order(page) == ["apple", "late", "melon"], "the new order")
        expect(page.locator("#summary .title .count")).to_have_text("3")
        console.set_status("melon", CRASHING)
        expect(page.locator("#results tbody tr").first).to_contain_text("Crash loop")
        eventually(lambda: order(page) == ["melon", "apple", "late"], "the new order")
        console.kubectl("delete", "pod", "late", "--grace-period=0", "--force")
        expect(row(page, "late")).to_have_count(0)
        assert order(page) == ["melon", "apple"]
        expect(page.locator("#pager .range")).to_have_text("1–2 of 2")
        assert traffic.lists == []


def test_rows_under_the_pointer_do_not_move(console: Console, page: Page) -> None:
    with pods(console, "apple", "melon"):
        opened(console, page, "apple", "melon")
        row(page, "apple").hover()
        page.mouse.move(*[part + 2 for part in middle(page, "apple")])
        console.pod("late")
        expect(page.locator("#updates")).to_contain_text("1 new")
        # Rows that come and go in the meantime are not retained, because a list can be held for
        # hours.
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
    """Open the same list in another window."""
    other = page.context.new_page()
    other.goto(console.url + "/clusters/host/pods?namespace=default")
    live(other)
    return other


def test_a_hidden_page_receives_nothing_and_catches_up(console: Console, page: Page) -> None:
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


def test_a_resumed_list_shows_missed_changes(console: Console, page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    with pods(console, "apple", "melon"):
        opened(console, page, "apple", "melon")
        other = in_another_window(console, page)
        pause = page.locator("#freshness > button")
        pause.click()
        expect(pause).to_have_attribute("aria-pressed", "true")
        expect(page.locator("#announce")).to_have_text("Updates paused")
        console.set_status("apple", CRASHING)
        console.kubectl("delete", "pod", "melon", "--grace-period=0", "--force")
        expect(row(other, "apple")).to_contain_text("Crash loop")
        expect(row(other, "melon")).to_have_count(0)
        other.close()
        expect(row(page, "apple")).to_contain_text("Running")
        expect(row(page, "melon")).to_contain_text("Running")
        pause.click()
        expect(pause).to_have_attribute("aria-pressed", "false")
        expect(row(page, "apple")).to_contain_text("Crash loop")
        expect(row(page, "apple")).to_have_attribute("data-changed", "")
        expect(row(page, "melon")).to_have_count(0)


def test_updates_use_the_language_of_the_page(console: Console, page: Page) -> None:
    with pods(console, "apple"):
        sign_in(page, console, "")
        page.context.add_cookies(
            [{"name": "quarterdeck-lang", "value": "zh-hans", "url": console.url}]
        )
        page.goto(console.url + LISTED)
        live(page)
        console.set_status("apple", CRASHING)
        expect(row(page, "apple")).to_contain_text("反复崩溃")


def test_interaction_holds_the_order_of_rows(console: Console, page: Page) -> None:
    """The focus, a ticked box, or an open menu holds the list, wherever the pointer is."""
    pill = page.locator("#updates")
    with pods(console, "apple", "melon"):
        opened(console, page, "apple", "melon")
        # The number of new rows refers to the filtered list.
        page.locator("#q").fill("app")
        expect(row(page, "melon")).to_have_count(0)
        for name, hold, release in (
            ("app-after", f"{ROW}.focus()", f"{ROW}.blur()"),
            ("app-aside", f"{TICK}.click()", f"{TICK}.click()"),
            ("app-away", "picker.showPopover()", "picker.hidePopover()"),
        ):
            page.evaluate("document.activeElement.blur()")
            page.evaluate(hold)
            console.pod(name)
            expect(pill).to_be_visible()
            expect(pill).to_contain_text("1 new")
            expect(row(page, name)).to_have_count(0)
            page.evaluate(release)
            expect(row(page, name)).to_be_visible()
            expect(pill).to_be_hidden()


def test_a_deleted_row_is_marked_while_the_list_is_held(console: Console, page: Page) -> None:
    with pods(console, "apple", "melon"):
        opened(console, page, "apple", "melon")
        row(page, "apple").focus()
        pill = page.locator("#updates")
        console.set_status("melon", CRASHING)
        expect(pill).to_contain_text("Order changed")
        console.kubectl("delete", "pod", "melon", "--grace-period=0", "--force")
        status = row(page, "melon").locator(".status")
        expect(status).to_have_text(re.compile(r"^\s*Deleted \d\d:\d\d:\d\d\s*$"))
        expect(row(page, "melon")).to_have_attribute("data-gone", "")
        expect(pill).to_contain_text("1 removed")
        console.pod("late")
        expect(pill).to_contain_text("1 new, 1 removed")
        # A new object has the same name.
        console.pod("melon")
        expect(status).not_to_contain_text("Deleted")
        expect(pill).to_contain_text("1 new")
        row(page, "apple").blur()
        expect(row(page, "late")).to_be_visible()
        assert len(order(page)) == 3


def test_an_empty_list_shows_the_first_row_and_becomes_empty_again(
    console: Console, page: Page
) -> None:
    sign_in(page, console, "")
    # On a phone, new rows wait until the user shows them. An empty list has no rows to hold.
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(console.url + "/clusters/host/pods?label=only%3Dthese")
    live(page)
    expect(page.locator("#results > [data-state]")).to_be_visible()
    console.pod("first", only="these")
    expect(row(page, "first")).to_be_visible()
    expect(page.locator("#results > [data-state]")).to_have_count(0)
    console.pod("second", only="these")
    expect(page.locator("#updates")).to_contain_text("1 new")
    expect(row(page, "second")).to_have_count(0)
    page.locator("#updates").click()
    expect(row(page, "second")).to_be_visible()
    expect(page.locator("#updates")).to_be_hidden()
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(page.locator("#results > table")).to_have_attribute("data-frozen", "")
    console.kubectl("delete", "pod", "first", "second", "--grace-period=0", "--force")
    expect(page.locator("#results > [data-state]")).to_be_visible()
    expect(page.locator("#results > table")).to_be_hidden()


def test_pausing_while_rows_wait_keeps_the_list(console: Console, page: Page, apart: None) -> None:
    page.clock.install()
    with pods(console, "apple"):
        traffic = opened(console, page, "apple")
        row(page, "apple").focus()
        console.pod("late")
        expect(page.locator("#updates")).to_be_visible()
        page.keyboard.press("f")
        row(page, "apple").blur()
        page.clock.run_for(3_000)
        expect(page.locator("#updates")).to_be_visible()
        assert traffic.lists == []
        page.keyboard.press("f")
        expect(row(page, "late")).to_be_visible()


@pytest.fixture
def maps(console: Console) -> Iterator[str]:
    """Create 60 ConfigMaps and return the URL of their list. They are deleted together, because
    kubectl is slow for single objects.
    """
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    found = [
        {**kind, "metadata": {"name": f"lit-{number}", "labels": {"lit": "yes"}}}
        for number in range(60)
    ]
    items = {"apiVersion": "v1", "kind": "List", "items": found}
    console.kubectl("create", "-n", "default", "-f", "-", input=json.dumps(items))
    yield "/clusters/host/configmaps?namespace=default&label=lit%3Dyes"
    every = "/api/v1/namespaces/default/configmaps?labelSelector=lit%3Dyes"
    console.kubectl("delete", "--raw", every)


def test_at_most_ten_changed_rows_are_highlighted(console: Console, page: Page, maps: str) -> None:
    sign_in(page, console, f"{maps}&limit=100")
    live(page)
    expect(page.locator("#results tbody tr")).to_have_count(60)
    lit = page.locator("tr[data-changed]")
    change = """(most) => {
      quarterdeck.note(quarterdeck.rows().slice(0, most));
      quarterdeck.settle();
      return document.querySelectorAll("tr[data-changed]").length;
    }"""
    assert page.evaluate(change, 12) == 10
    expect(lit).to_have_count(0)
    # Highlighting so many rows would only flicker.
    assert page.evaluate(change, 60) == 0
    # With reduced motion, highlighted rows stay so until the next input.
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(change, 3) == 3
    page.keyboard.press("ArrowLeft")
    expect(lit).to_have_count(0)
    assert page.evaluate(change, 3) == 3
    page.mouse.click(5, 5)
    expect(lit).to_have_count(0)


def test_kinds_without_status_show_their_count_on_the_tab(console: Console, page: Page) -> None:
    sign_in(page, console, "/clusters/host/clusterroles")
    live(page)
    total = page.locator("#results > table").get_attribute("data-total")
    assert total and int(total) > 0
    count = page.locator(".kind-tabs [aria-current] [data-count=all]")
    # The live page renders its own count whenever the list has settled.
    page.evaluate("window.quarterdeck.settle()")
    expect(count).to_have_text(f"{int(total):,}")
    expect(count).to_be_visible()
    # A filter does not change the count.
    page.goto(console.url + "/clusters/host/clusterroles?q=nowhere")
    live(page)
    expect(page.locator("#results > table")).to_have_attribute("data-total", "0")
    page.evaluate("window.quarterdeck.settle()")
    expect(count).to_have_text(f"{int(total):,}")


def test_the_navigation_shows_the_number_of_failing_objects(console: Console, page: Page) -> None:
    with pods(console, "apple"):
        sign_in(page, console)
        live(page)
        expect(row(page, "apple")).to_contain_text("Running")
        count = page.locator(".rail-link[aria-current] [data-count=failing]")
        before = int(count.text_content() or "0")
        console.set_status("apple", CRASHING)
        expect(count).to_have_text(f"{before + 1:,}")
        expect(count).to_be_visible()
        expect(page).to_have_title(f"{before + 1:,} ◆ Pods")


def refuse(route: Route) -> None:
    route.fulfill(status=503)


def drop(route: Route) -> None:
    route.abort()


@pytest.mark.parametrize(
    ("path", "fail"),
    [
        ("/clusters/host/pods", refuse),
        ("/clusters/host/pods", drop),
        ("/access/roles?level=global", drop),
    ],
)
def test_failed_requests_are_retried(
    console: Console, page: Page, path: str, fail: Callable[[Route], None]
) -> None:
    """A list, and a page that is rendered as a whole, for which the server reports no change."""
    sign_in(page, console, path)
    live(page)
    page.route(console.url + path, fail, times=1)

    def is_the_same(answer: Response) -> bool:
        return answer.url == console.url + path and answer.status in (200, 304)

    with page.expect_response(is_the_same):
        page.evaluate("quarterdeck.update()")
    live(page)


def test_a_forbidden_update_reloads_the_page(console: Console, page: Page) -> None:
    """The error is shown on the reloaded page."""
    elsewhere = {"status": 302, "headers": {"location": "/account"}}
    answers: list[dict[str, Any]] = [{"status": 401}, {"status": 403}, elsewhere]
    sign_in(page, console, LISTED)
    for answer in answers:
        live(page)
        page.route(console.url + LISTED, partial(answered, answer), times=1)
        page.evaluate("document.documentElement.dataset.same = ''; void quarterdeck.update()")
        expect(page.locator("html[data-same]")).to_have_count(0)


def answered(answer: dict[str, Any], route: Route) -> None:
    route.fulfill(**answer)


def test_late_responses_of_a_previous_list_are_ignored(console: Console, page: Page) -> None:
    with pods(console, "apple", "melon"):
        opened(console, page, "apple", "melon")
        late: list[Route] = []
        page.route(console.url + LISTED, lambda route: late.append(route), times=1)
        with page.expect_request(console.url + LISTED):
            page.evaluate("void quarterdeck.update()")
        page.locator("#q").fill("melon")
        # Empty parameters are omitted.
        page.wait_for_url("**/pods?q=melon&namespace=default")
        expect(row(page, "apple")).to_have_count(0)
        with page.expect_response(console.url + LISTED):
            late[0].continue_()
        page.evaluate("fetch('/readyz').then((answer) => answer.text())")
        assert order(page) == ["melon"]
        page.locator("#q").fill("")
        page.wait_for_url(console.url + LISTED)
        expect(row(page, "apple")).to_be_visible()


def test_typed_input_survives_updates(console: Console, page: Page) -> None:
    """The layout for too many columns is also kept."""
    labels = ",".join(f"label:app.kubernetes.io/label-with-a-long-name-{n}" for n in range(8))
    with pods(console, "apple"):
        sign_in(page, console, f"{LISTED}&columns=name,status,{labels}")
        live(page)
        table = page.locator("#results > table")
        expect(table).to_have_attribute("data-fit", "scroll")
        expect(table).to_have_attribute("data-frozen", "")
        page.get_by_role("button", name="Columns", exact=True).click()
        restarts = page.get_by_role("checkbox", name="Restarts")
        restarts.check()
        page.locator("#q").focus()
        # The state shortly before the request.
        page.evaluate("document.activeElement.value = 'unfinished'")
        with page.expect_response(re.compile("/pods[?]")):
            page.evaluate("void quarterdeck.update()")
        console.set_status("apple", CRASHING)
        expect(row(page, "apple")).to_contain_text("Crash loop")
        expect(page.locator("#q")).to_have_value("unfinished")
        expect(table).to_have_attribute("data-fit", "scroll")
        expect(table).to_have_attribute("style", re.compile("--tracks"))
        expect(restarts).to_be_checked()
        # The layout is computed again for other columns.
        page.get_by_role("link", name="Default columns").click()
        expect(table).not_to_have_attribute("data-fit", "scroll")


STARTS = """() => [...document.querySelectorAll('#results thead th')]
  .map((head) => Math.round(head.getBoundingClientRect().left))"""
#: Whether no value of the list is wider than its column.
FITS = """() => [...document.querySelectorAll('#results :is(th, td):not(.actions, .tick)')]
  .every((cell) => cell.scrollWidth <= cell.clientWidth + 1)"""


def test_columns_move_only_for_values_that_do_not_fit(console: Console, page: Page) -> None:
    long = "a-pod-with-a-long-name-" + "n" * 40
    with pods(console, "apple", "melon"):
        opened(console, page, "apple", "melon")
        before = page.evaluate(STARTS)
        console.set_status("melon", CRASHING)
        expect(row(page, "melon")).to_contain_text("Crash loop")
        console.kubectl("label", "pod", "apple", "color=green")
        assert page.evaluate(STARTS) == before
        console.pod(long)
        expect(row(page, long)).to_be_visible()
        assert page.evaluate(FITS)
        assert page.evaluate(STARTS) != before


def test_the_reason_of_a_failed_load_is_shown(console: Console, page: Page) -> None:
    sign_in(page, console, LISTED)
    live(page)
    toast = page.locator(".toast")
    for fail, why in (
        (refuse, "The console returned status 503."),
        (drop, "The console is not responding."),
    ):
        page.route("**/pods?*q=*", fail, times=1)
        page.locator("#q").fill(why)
        expect(toast).to_contain_text(f"Could not load the list. {why}")
        toast.get_by_role("button", name="Dismiss").click()
        expect(toast).to_have_count(0)


def test_fetching_a_held_list_does_not_move_rows(console: Console, page: Page) -> None:
    """The update message does not contain the rows, so the list is fetched."""
    sockets: list[WebSocketRoute] = []

    def relay(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        server = socket.connect_to_server()
        server.on_message(lambda text: socket.send(text) if told else None)

    told = True
    page.route_web_socket("**/*", relay)
    with pods(console, "apple", "melon"):
        opened(console, page, "apple", "melon")
        other = in_another_window(console, page)
        row(page, "apple").focus()
        told = False
        console.set_status("melon", CRASHING)
        console.pod("late")
        expect(row(other, "melon")).to_contain_text("Crash loop")
        expect(row(other, "late")).to_be_visible()
        other.close()
        sockets[0].send(json.dumps({"refresh": True}))
        expect(row(page, "melon")).to_contain_text("Crash loop")
        expect(page.locator("#updates")).to_contain_text("1 new")
        expect(page.locator("#summary .title .count")).to_have_text("3")
        assert order(page) == ["apple", "melon"]
        row(page, "apple").blur()
        expect(row(page, "late")).to_be_visible()


def test_a_list_is_live_again_after_a_disconnect(console: Console, page: Page) -> None:
    """Even if there are many changes to send."""
    sockets: list[WebSocketRoute] = []

    def relay(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    page.route_web_socket("**/*", relay)
    with pods(console, "apple"):
        opened(console, page, "apple")
        page.evaluate(
            """() => {
              const { documentElement: root, body } = document;
              const note = () => root.dataset.seen = `${root.dataset.seen ?? ""} ${body.dataset.live}`;
              new MutationObserver(note).observe(body, { attributeFilter: ["data-live"] });
              document.querySelector("#results tbody tr").dataset.v = "v".repeat(70_000);
            }"""
        )
        sockets[0].close(code=1012)
        expect(page.locator("html")).to_have_attribute("data-seen", re.compile(" off.* live$"))
        console.set_status("apple", CRASHING)
        expect(row(page, "apple")).to_contain_text("Crash loop")
        sockets[1].send(json.dumps({"error": {"code": 503, "message": "Too many look at it."}}))
        expect(page.locator(".toast")).to_contain_text("Too many look at it.")
        # The page sends its state once, not repeatedly.
        denied = json.dumps({"error": {"code": 403, "message": "You may not."}})
        sockets[1].send(denied)
        expect(page.locator("html[data-seen]")).to_have_count(0)
        live(page)
        sockets[2].send(denied)
        expect(page.locator(".toast")).to_contain_text("You may not.")
        assert len(sockets) == 3


def test_a_denied_list_opens_the_page_with_the_reason(console: Console, page: Page) -> None:
    sign_in(page, console, "/clusters/host/clusterroles")
    live(page)
    page.evaluate("document.documentElement.dataset.same = ''")
    denied = {"status": 403, "content_type": "text/html", "body": "<main>You may not.</main>"}
    page.route("**/clusterroles?*", partial(answered, denied), times=1)
    page.locator("thead th[data-col=name] a").click()
    expect(page.locator("html[data-same]")).to_have_count(0)
    live(page)
    page.context.clear_cookies()
    page.locator("thead th[data-col=name] a").click()
    page.wait_for_url("**/login?next=*")


def column(name: str) -> dict[str, str]:
    return {"name": name, "type": "string", "jsonPath": ".status.phase"}


def is_there(page: Page, url: str) -> bool:
    answer = page.goto(url)
    return answer is not None and answer.ok


def test_live_updates_continue_after_a_full_refresh(console: Console, page: Page) -> None:
    """The columns of the type change, which causes the refresh."""
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
        # Although the table has the focus.
        row(page, "first").focus()
        spec["versions"][0]["additionalPrinterColumns"] = [column("Color")]
        apply(crd)
        expect(heads).to_contain_text("Color")
        page.evaluate("document.activeElement.blur()")
        apply(widget("second"))
        expect(row(page, "second")).to_be_visible()
    finally:
        console.kubectl("delete", "crd", name)
