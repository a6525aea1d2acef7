"""The dock at the bottom of the page, which stays open across pages."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Frame, Locator, Page, expect

from devcluster.controllers.behaviour import ANNOTATION
from devcluster.logs.runs import RATE_ANNOTATION
from tests.browser.console import Console, sign_in
from tests.browser.logs.conftest import StartPod
from tests.browser.logs.fakes import FakeConsole, FakeLog
from tests.browser.logs.scrolling import SCROLL
from tests.browser.looks import axe
from tests.browser.looks.conftest import with_axe
from tests.browser.visibility import HIDE
from tests.controlplane.waiting import eventually
from tests.support.depth import fewer, some

__all__ = ["with_axe"]

PODS = "/clusters/host/pods?namespace=default"
PLACE = "/clusters/host/projects/default/pods"
BELOW = ".acts [data-below-kind=log]"


def tabs(page: Page) -> Locator:
    return page.locator("#dock [role=tab]")


def lines(page: Page) -> Locator:
    """Return the log lines of the visible tab."""
    return page.frame_locator(".dock-panel[data-current] iframe").locator(".log-line")


def state(page: Page) -> Locator:
    return page.frame_locator(".dock-panel[data-current] iframe").locator("[data-log-state]")


def last_time(page: Page) -> str:
    return lines(page).last.locator(".log-time").get_attribute("title") or ""


def follows(page: Page) -> None:
    expect(state(page)).to_have_text("Following")
    expect(lines(page).first).to_be_visible()
    seen = last_time(page)
    eventually(lambda: last_time(page) > seen, "new lines")


def shown(page: Page) -> Frame:
    frame = page.locator(".dock-panel[data-current] iframe").element_handle().content_frame()
    assert frame is not None
    return frame


def stored(page: Page) -> dict[str, Any]:
    """Return the session storage entries of the dock."""
    found: dict[str, str] = page.evaluate("({ ...sessionStorage })")
    return {key: json.loads(text) for key, text in found.items() if key.startswith("dock")}


#: Return the first visible line.
_FIRST = """(box) => {
  const { top } = box.getBoundingClientRect();
  const seen = (one) => one.getBoundingClientRect().bottom > top + 0.5;
  return [...box.querySelectorAll(".log-line")].find(seen).textContent;
}"""


@pytest.fixture
def two(start: StartPod) -> tuple[str, str]:
    """Start two pods that write logs, and return their names."""
    for name in ("first", "second"):
        start(name, **{RATE_ANNOTATION: "8"})
    return "first", "second"


def open_both(page: Page, console: Console) -> None:
    """Open one log from the menu of its row and one with a key on its page."""
    page.goto(console.url + PODS)
    row = page.locator("#results tr[data-key='default/first']")
    row.locator(".actions [popovertarget]").click()
    row.locator("[data-below-kind=log]").click()
    expect(row.locator(".menu")).to_be_hidden()
    follows(page)
    open_second(page, console)
    expect(tabs(page)).to_have_count(2)
    expect(tabs(page).nth(1)).to_have_attribute("aria-selected", "true")


def tabs_of(active: str) -> dict[str, Any]:
    """Return the stored state of both tabs, with the named one active."""
    tabs = [
        {
            "id": name,
            "url": f"{PLACE}/{name}/log?timestamps=1",
            "name": f"{name} · app",
            "kind": "log",
        }
        for name in ("first", "second")
    ]
    return {"owner": "admin", "tabs": tabs, "active": active, "state": "open", "height": 240}


def has_both(page: Page, console: Console, active: str) -> None:
    """Open a page with both tabs in the stored state. The inactive tab is not loaded."""
    hold(page, console, tabs_of(active))
    page.goto(f"{console.url}{PLACE}/second")
    expect(state(page)).to_have_text("Following")


def hold(page: Page, console: Console, held: dict[str, Any]) -> None:
    """Put the state of the dock into session storage."""
    page.goto(console.url + "/readyz")
    page.evaluate("(held) => sessionStorage.setItem('dock', JSON.stringify(held))", held)


def open_second(page: Page, console: Console) -> None:
    """Open only the second tab."""
    page.goto(f"{console.url}/clusters/host/projects/default/pods/second")
    expect(page.locator(BELOW)).to_be_visible()
    page.keyboard.press("Shift+L")
    follows(page)


def test_logs_open_in_the_dock_from_an_overview_and_a_list(
    page: Page, start: StartPod, console: Console
) -> None:
    start("crashes", **{ANNOTATION: "crash error boom"})
    console.kubectl("label", "pod", "crashes", "app=breaks")
    page.goto(f"{console.url}/clusters/host/projects/default")
    page.get_by_role("button", name="Log of crashes: open in the dock").click()
    expect(lines(page).first).to_be_visible()
    page.goto(f"{console.url}{PODS}&label=app%3Dbreaks")
    page.get_by_role("button", name="Logs: open in the dock", exact=True).click()
    expect(tabs(page)).to_contain_text(["crashes", "app=breaks"])
    expect(lines(page).first).to_be_visible()


def test_logs_continue_across_pages_without_loss(
    console: Console, page: Page, two: tuple[str, str]
) -> None:
    open_both(page, console)
    # The tab in the background shows that it has new lines.
    expect(tabs(page).first).to_have_accessible_name(re.compile("first · app.*new"))
    began = last_time(page)
    for path in some("over pages", ("/dashboard", "/clusters/host/services", PODS), 1):
        page.goto(console.url + path)
        expect(tabs(page)).to_have_text([re.compile("first · app"), re.compile("second · app")])
        expect(tabs(page).nth(1)).to_have_attribute("aria-selected", "true")
        follows(page)
    # The other tab is loaded when it is selected, and continues from its last position.
    tabs(page).first.click()
    follows(page)
    page.goto(f"{console.url}/dashboard")
    kept = stored(page)
    for tab, name in zip(kept["dock"]["tabs"], two, strict=True):
        found = [one["stamp"] for one in kept[f"dock.{tab['id']}"]["value"]["lines"]]
        written = console.kubectl("logs", name, "--timestamps").splitlines()
        stamps = [line.partition(" ")[0] for line in written]
        first = stamps.index(found[0])
        assert found == stamps[first : first + len(found)]
        assert found[0] < began < found[-1]


def test_the_dock_is_restored_after_a_reload(
    console: Console, page: Page, two: tuple[str, str]
) -> None:
    open_second(page, console)
    frame = page.frame_locator(".dock-panel[data-current] iframe")
    expect(lines(page).nth(5)).to_be_visible()
    page.locator("#dock [role=separator]").press("ArrowUp")
    frame.get_by_role("button", name="Pause").click()
    expect(state(page)).to_have_text(re.compile(r"Paused, \d{2,} new lines"))
    held = lines(page).first.locator(".log-time").get_attribute("title")
    page.reload()
    expect(page.locator("#dock [role=separator]")).to_have_attribute("aria-valuenow", "264")
    expect(state(page)).to_have_text(re.compile(r"Paused, \d{2,} new lines"))
    assert lines(page).first.locator(".log-time").get_attribute("title") == held
    frame.get_by_role("button", name="Pause").click()
    follows(page)
    # The filter is kept, and opening the same log again selects its tab.
    frame.get_by_text("Log options").click()
    frame.get_by_label("Search").fill("level=info")
    frame.get_by_role("button", name="Show").click()
    eventually(lambda: "level" in shown(page).url, "what is asked for")
    expect(state(page)).to_have_text("Following")
    frame.get_by_role("button", name="Pause").click()
    expect(state(page)).to_have_text(re.compile("Paused"))
    page.reload()
    expect(state(page)).to_have_text(re.compile("Paused"))
    assert "q=level%3Dinfo" in shown(page).url
    page.locator(BELOW).click()
    expect(tabs(page)).to_have_count(1)


@pytest.mark.parametrize(
    ("wrap", "part"), [("", 1210 / 1800), ("&wrap=1", 410 / 1000)], ids=["", "wrapped"]
)
def test_the_scroll_position_is_restored(
    page: Page, console: Console, two: tuple[str, str], fake_log: FakeLog, wrap: str, part: float
) -> None:
    """The log is scrolled up without being paused, and it receives more lines than the page keeps."""
    held = tabs_of("first")
    [one, _] = held["tabs"]
    hold(page, console, held | {"tabs": [one | {"url": one["url"] + wrap}]})
    page.goto(console.url + "/dashboard")
    box = page.frame_locator(".dock-panel[data-current] iframe").locator(".log")
    button = page.frame_locator(".dock-panel[data-current] iframe").locator("[data-log-end]")
    expect(box).to_be_visible()

    def come(number: int, count: int, name: str) -> None:
        at = {"one": [f"2026-01-02T10:00:0{number}Z", 1, "run"]}
        fake_log.lines(number, *(f"{name} {n}" for n in range(count)), at=at)

    fake_log.say(sources=["one"])
    for number, count, name in ((1, 1200, "a"), (2, 300, "b"), (3, 300, "c")):
        come(number, count, name)
    expect(lines(page).last).to_contain_text("c 299")
    box.evaluate(SCROLL, part)
    first = box.evaluate(_FIRST)
    page.goto(f"{console.url}{PLACE}/second")
    expect(state(page)).to_have_text("Following. 500 older lines were removed from this page")
    assert box.evaluate(_FIRST) == first
    assert fake_log.heard[-1][0]["at"] == {"one": ["2026-01-02T10:00:02Z", 1, "run"]}
    fake_log.say(sources=["one"])
    come(3, 300, "c")
    come(4, 10, "d")
    expect(button).to_have_text("10 new lines")
    assert box.evaluate(_FIRST) == first
    # Fewer long lines are kept, because browsers limit the storage size.
    button.click()
    fake_log.lines(5, *["x" * 10_000] * 40)
    expect(lines(page).last).to_contain_text("x" * 10_000)
    page.goto(f"{console.url}/dashboard")
    assert len(stored(page)["dock.first"]["value"]["lines"]) == 14


def test_tabs_show_new_lines_and_ended_logs(
    page: Page, console: Console, two: tuple[str, str], fake_log: FakeLog
) -> None:
    held = tabs_of("first")
    hold(page, console, held | {"tabs": held["tabs"][:1]})
    page.goto(console.url + "/dashboard")
    frame = page.frame_locator(".dock-panel[data-current] iframe")
    expect(frame.locator(".log")).to_be_visible()
    expect(tabs(page).locator("[data-dock-icon]").filter(visible=True)).to_have_count(1)
    as_page = page.locator("[data-dock-tool=page]")
    expect(as_page).to_have_attribute("href", f"{PLACE}/first/log?timestamps=1")
    fake_log.say(sources=["one", "two"])
    fold = page.locator("[data-dock-tool=bar]")
    expect(fold).to_have_attribute("aria-expanded", "true")
    fold.click()
    expect(fold).to_have_attribute("aria-expanded", "false")
    expect(page.locator(".dock-panel")).to_have_attribute("inert", "")
    fake_log.say(n=1, lines=[], at={})
    fake_log.has_heard({"ack": 1})
    plain, new, ended = "first · app", "first · app new", "first · app ended"
    expect(tabs(page)).to_have_accessible_name(plain)
    # One of the two sources continues.
    fake_log.say(n=2, lines=[], notes=[[0, "It is gone.", True]], at={"one": ["", 1, ""]})
    expect(tabs(page)).to_have_accessible_name(new)
    fold.click()
    expect(tabs(page)).to_have_accessible_name(plain)
    page.evaluate(HIDE, True)
    fake_log.lines(3, "unseen")
    expect(tabs(page)).to_have_accessible_name(new)
    page.evaluate(HIDE, False)
    expect(tabs(page)).to_have_accessible_name(plain)
    # Other lines are loaded from the beginning.
    shown(page).evaluate("() => { location.search += '&q=other' }")
    assert fake_log.greeted(2)["at"] == {}
    expect(frame.locator(".log")).to_be_visible()
    expect(as_page).to_have_attribute("href", re.compile("q=other"))
    fold.click()
    fake_log.say(error={"code": 403, "message": "You no longer have permission to view this page."})
    expect(tabs(page)).to_have_accessible_name(ended)
    fake_log.lines(1, "late")
    expect(tabs(page)).to_have_accessible_name(ended)


def test_the_dock_can_be_resized_and_shown_full_screen(
    page: Page, console: Console, two: tuple[str, str], fake_log: FakeLog
) -> None:
    """The full-screen dock covers the page only until the user opens another page."""
    hold(page, console, tabs_of("first"))
    page.goto(console.url + "/dashboard")
    root, main, bar = page.locator("html"), page.locator("#main"), page.locator(".shell > header")
    handle, full = page.get_by_role("separator"), page.locator("[data-dock-tool=full]")
    handle.hover()
    page.mouse.down()
    page.mouse.move(600, 500)
    page.mouse.move(600, 450)
    page.mouse.up()
    page.mouse.move(600, 300)
    expect(handle).to_have_attribute("aria-valuenow", "350")
    expect(handle).to_have_attribute("aria-valuemax", "640")
    page.set_viewport_size({"width": 1280, "height": 400})
    expect(handle).to_have_attribute("aria-valuenow", "240")
    page.set_viewport_size({"width": 390, "height": 800})
    for part in (main, bar):
        expect(part).to_have_attribute("inert", "")
    page.set_viewport_size({"width": 1280, "height": 800})
    for part in (main, bar):
        expect(part).not_to_have_attribute("inert", "")
    expect(handle).to_have_attribute("aria-valuenow", "350")
    full.click()
    expect(full).to_have_attribute("aria-pressed", "true")
    expect(bar).not_to_have_attribute("inert", "")
    page.reload()
    expect(full).to_have_attribute("aria-pressed", "true")
    page.goto(f"{console.url}{PLACE}/second")
    expect(root).to_have_attribute("data-dock", "open")
    expect(full).to_have_attribute("aria-pressed", "false")
    expect(main).not_to_have_attribute("inert", "")
    # Leaving full-screen mode shows the page below.
    full.click()
    tabs(page).first.press("F6")
    expect(page.frame_locator("[data-current] iframe").locator(".log")).to_be_focused()
    page.keyboard.press("F6")
    expect(root).to_have_attribute("data-dock", "open")
    expect(main).to_be_focused()
    page.keyboard.press("F6")
    page.keyboard.press("ArrowLeft")
    expect(tabs(page).nth(1)).to_be_focused()
    page.keyboard.press("Escape")
    expect(main).to_be_focused()
    # Tab moves the focus back to the selected tab.
    expect(tabs(page).nth(0)).to_have_attribute("tabindex", "0")
    expect(tabs(page).nth(1)).to_have_attribute("tabindex", "-1")
    page.locator("[data-dock-tool=close]").click()
    expect(tabs(page)).to_have_text([re.compile("second · app")])
    expect(tabs(page)).to_have_attribute("aria-selected", "true")
    page.locator("[data-dock-tool=bar]").click()
    page.locator("[data-dock-tool=closeAll]").click()
    expect(page.locator("#dock")).to_be_hidden()
    page.locator(BELOW).click()
    expect(root).to_have_attribute("data-dock", "open")
    expect(page.locator("#announce")).to_have_text(
        "second is open in the dock. Press F6 to go there."
    )


def test_a_tab_that_failed_to_load_can_be_retried(
    page: Page, console: Console, two: tuple[str, str], fake_log: FakeLog
) -> None:
    hold(page, console, tabs_of("first"))
    page.route("**/first/log?*frame=dock*", lambda route: route.abort())
    page.goto(console.url + "/dashboard")
    failed = page.locator("[data-current] [data-dock-failed]")
    expect(failed).to_be_visible()
    page.unroute_all()
    failed.get_by_role("button", name="Retry").click()
    expect(page.frame_locator("[data-current] iframe").locator(".log")).to_be_visible()
    expect(failed).to_be_hidden()


def test_closing_a_tab_ends_its_shell(
    page: Page, console: Console, two: tuple[str, str], apart: None
) -> None:
    shell = FakeConsole(page, "/terminal")
    [one, _] = tabs_of("first")["tabs"]
    tab = one | {"url": f"{PLACE}/first/terminal", "kind": "terminal"}
    hold(page, console, tabs_of("first") | {"tabs": [tab]})
    page.goto(console.url + "/dashboard")
    shell.greeted(1)
    about = {"id": "one", "new": True, "at": 0, "typed": 0, "container": "app"}
    shell.say(terminal=about | {"tty": True, "reads": True})
    frame = page.frame_locator("[data-current] iframe")
    expect(frame.locator("[data-terminal-state]")).to_have_text("Connected to app")
    tabs(page).click(button="middle")
    eventually(lambda: page.title() and {"end": True} in shell.heard[0], "it has ended")
    assert stored(page) == {}
    # The shell cannot be reopened, so its state is not stored.
    assert not page.evaluate(
        "Object.keys(sessionStorage).some((key) => key.startsWith('terminal'))"
    )


def test_the_dock_can_be_used_by_keyboard(
    console: Console, page: Page, two: tuple[str, str]
) -> None:
    has_both(page, console, "second")
    first, second = tabs(page).nth(0), tabs(page).nth(1)
    up = page.locator("[data-up]")
    up.focus()
    page.keyboard.press("F6")
    expect(second).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(first).to_be_focused()
    page.keyboard.press("End")
    expect(second).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    expect(first).to_have_attribute("aria-selected", "true")
    follows(page)
    # The focus moves into the log, whose keys work there, and back.
    page.keyboard.press("F6")
    log = page.frame_locator(".dock-panel[data-current] iframe").locator(".log")
    expect(log).to_be_focused()
    page.keyboard.press("F6")
    expect(up).to_be_focused()
    page.keyboard.press("F6")
    page.keyboard.press("Shift+Tab")
    handle = page.locator("#dock [role=separator]")
    expect(handle).to_be_focused()
    page.keyboard.press("End")
    expect(handle).to_have_attribute("aria-valuenow", "640")
    page.keyboard.press("Home")
    expect(handle).to_have_attribute("aria-valuenow", "120")
    page.locator("[data-dock-tool=full]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_have_attribute("inert", "")
    page.keyboard.press("Escape")
    expect(page.locator("#main")).not_to_have_attribute("inert", "")
    page.locator("[data-dock-tool=bar]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-dock", "bar")
    first.focus()
    page.keyboard.press("Delete")
    expect(tabs(page)).to_have_count(1)
    expect(second).not_to_be_attached()
    expect(tabs(page)).to_be_focused()
    page.keyboard.press("Delete")
    expect(page.locator("#dock")).to_be_hidden()
    expect(page.locator("#main")).to_be_focused()
    assert stored(page) == {}


def test_the_dock_fills_the_screen_of_a_phone(
    console: Console, page: Page, two: tuple[str, str]
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_second(page, console)
    box = page.locator("#dock").bounding_box()
    assert box is not None and (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 390, 844)
    page.reload()
    follows(page)
    # The form for log options is not wider than the phone either.
    frame = page.frame_locator(".dock-panel[data-current] iframe")
    frame.get_by_text("Log options").click()
    box = frame.get_by_role("search", name="Log options").bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390
    frame.get_by_text("Log options").click()
    # On the next page it is a bar at the bottom that covers nothing.
    page.goto(console.url + PODS)
    expect(page.locator("html")).to_have_attribute("data-dock", "bar")
    expect(page.locator(".dock-panel iframe")).to_have_count(0)
    box = page.locator("#dock").bounding_box()
    assert box is not None and box["y"] + box["height"] == 844 and box["height"] < 60
    tabs(page).first.click()
    follows(page)
    page.locator("[data-dock-tool=bar]").click()
    expect(page.locator("#results")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("[data-dock-tool=closeAll]").click()
    expect(page.locator("#dock")).to_be_hidden()


def test_tabs_are_closed_by_middle_click_and_close_button(
    console: Console, page: Page, two: tuple[str, str]
) -> None:
    """On a phone all tabs are closed at once, from the top bar."""
    has_both(page, console, "second")
    tabs(page).nth(1).click(button="middle")
    expect(tabs(page)).to_have_count(1)
    tabs(page).first.locator("[data-dock-x]").click()
    expect(page.locator("#dock")).to_be_hidden()
    assert (
        page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--dock')")
        == "0px"
    )


def test_opening_too_many_tabs_shows_a_message(
    console: Console, page: Page, two: tuple[str, str]
) -> None:
    many = [
        {"id": f"t{n}", "url": f"/x?{n}", "opened": "", "name": f"n{n}", "kind": "log"}
        for n in range(8)
    ]
    held = {"owner": "admin", "tabs": many, "active": "t0", "state": "bar", "height": 240}
    hold(page, console, held)
    page.goto(f"{console.url}/clusters/host/projects/default/pods/second")
    page.locator(BELOW).click()
    expect(page.locator(".toast")).to_contain_text("The dock already has 8 tabs")
    expect(tabs(page)).to_have_count(8)


def test_a_shell_continues_across_pages(console: Console, page: Page, two: tuple[str, str]) -> None:
    page.goto(f"{console.url}/clusters/host/projects/default/pods/first")
    expect(page.locator(".acts [data-below-kind=terminal]")).to_be_visible()
    page.keyboard.press("Shift+T")
    frame = page.frame_locator(".dock-panel[data-current] iframe")
    connected = re.compile("Connected to app")
    expect(frame.locator("[data-terminal-state]")).to_have_text(connected)
    # A new terminal has the focus.
    expect(frame.locator(".terminal textarea")).to_be_focused()
    page.keyboard.type("answer=42\n")
    for path in some("a shell over pages", ("/dashboard", PODS), 1):
        page.goto(console.url + path)
        expect(frame.locator("[data-terminal-state]")).to_have_text(connected)
        expect(frame.locator(".xterm-rows")).to_contain_text("answer=42")
        # The keyboard belongs to the page until the user focuses the terminal.
        assert page.evaluate("document.activeElement === document.body")
    page.keyboard.press("F6")
    expect(tabs(page)).to_be_focused()
    page.keyboard.press("F6")
    expect(frame.locator(".terminal textarea")).to_be_focused()
    page.keyboard.type("echo it is $answer\n")
    expect(frame.locator(".xterm-rows")).to_contain_text("it is 42")
    page.keyboard.press("F6")
    expect(page.locator("#main")).to_be_focused()
    tabs(page).click(button="middle")
    expect(page.locator("#dock")).to_be_hidden()


def test_an_ended_background_shell_is_marked(console: Console, page: Page, start: StartPod) -> None:
    start("leaves")
    page.goto(f"{console.url}{PLACE}/leaves")
    expect(page.locator(".acts [data-below-kind=terminal]")).to_be_visible()
    page.keyboard.press("Shift+T")
    frame = page.frame_locator(".dock-panel[data-current] iframe")
    expect(frame.locator("[data-terminal-state]")).to_have_text(re.compile("Connected to app"))
    page.locator(BELOW).click()
    expect(tabs(page).nth(1)).to_have_attribute("aria-selected", "true")
    console.kubectl("delete", "pod", "leaves", "--grace-period=0", "--force")
    console.made.remove(("default", "leaves"))
    expect(tabs(page).first).to_have_accessible_name(re.compile("ended"))


# The dock is forgotten by the sign-in page, however the session ended.
@pytest.mark.parametrize("end", fewer(["menu", "elsewhere"], "elsewhere"))
def test_signing_out_clears_the_dock(
    console: Console, page: Page, two: tuple[str, str], end: str
) -> None:
    if end == "menu":
        # Sign in with a separate session that the test can end.
        page.context.clear_cookies()
        sign_in(page, console, "/account", anew=True)
    open_second(page, console)
    assert len(stored(page)) > 0
    # The contents of a terminal are stored separately.
    page.evaluate("sessionStorage.setItem('terminal:page:/x', '{}')")
    if end == "menu":
        page.locator(".avatar").click()
        page.locator("[data-logout] button").click()
    else:
        page.context.clear_cookies()
        page.reload()
    page.wait_for_url("**/login*")
    expect(page.locator("#username")).to_be_visible()
    assert stored(page) == {}
    assert page.evaluate("sessionStorage.getItem('terminal:page:/x')") is None


def test_the_dock_of_another_user_is_not_restored(
    console: Console, page: Page, two: tuple[str, str]
) -> None:
    hold(page, console, tabs_of("second") | {"owner": "somebody"})
    page.evaluate("sessionStorage.setItem('dock.second', '{}')")
    page.goto(console.url + PODS)
    expect(page.locator("#results")).to_be_visible()
    expect(page.locator("#dock")).to_be_hidden()
    assert stored(page) == {}


def test_the_dock_does_not_add_history_entries(
    console: Console, page: Page, two: tuple[str, str]
) -> None:
    has_both(page, console, "second")
    page.goto(f"{console.url}/dashboard")
    tabs(page).first.click()
    expect(tabs(page).first).to_have_attribute("aria-selected", "true")
    follows(page)
    page.go_back()
    page.wait_for_url("**/pods/second")
    expect(tabs(page).first).to_have_attribute("aria-selected", "true")
    follows(page)
    assert "/pods/first/log" in shown(page).url


def test_only_dock_pages_can_be_framed_and_only_by_the_console(
    console: Console, page: Page, two: tuple[str, str]
) -> None:
    log = "/clusters/host/projects/default/pods/first/log"

    def framing(path: str) -> tuple[int, str, str]:
        answer = page.context.request.get(console.url + path, max_redirects=0)
        policy = answer.headers["content-security-policy"]
        found = re.search("frame-ancestors ([^;]+)", policy)
        assert found is not None
        return answer.status, found[1], answer.headers["x-frame-options"]

    assert framing(f"{log}?frame=dock") == (200, "'self'", "SAMEORIGIN")
    assert framing(f"{log.replace('first', 'none')}?frame=dock") == (404, "'self'", "SAMEORIGIN")
    for path in (log, f"{PODS}&frame=dock", "/dashboard?frame=dock", "/account", "/static/none"):
        assert framing(path)[1:] == ("'none'", "DENY")
    page.goto(f"{console.url}{log}?timestamps=1&frame=dock")
    page.wait_for_url(f"**{log}?timestamps=1")
    page.context.clear_cookies()
    assert framing(f"{log}?frame=dock") == (302, "'none'", "DENY")
    assert framing("/login?frame=dock")[1:] == ("'none'", "DENY")


# The contrast of both themes is tested in tests/browser/looks/test_modes.py.
@pytest.mark.parametrize("theme", fewer(["light", "dark"], "dark"))
def test_the_dock_is_accessible(
    console: Console, page: Page, two: tuple[str, str], theme: str, with_axe: None
) -> None:
    page.context.add_cookies([{"name": "theme", "value": theme, "url": console.url}])
    # Another page, because the policy blocks axe's own style changes, and that would be reported as
    # an error.
    other = page.context.new_page()
    has_both(other, console, "second")
    assert axe.violations(other, within="#dock") == []
    assert axe.violations(shown(other)) == []
    other.locator("[data-dock-tool=bar]").click()
    assert axe.violations(other, within="#dock") == []


# The last test, because it deletes the pod.
def test_the_end_of_a_log_is_shown(console: Console, page: Page, two: tuple[str, str]) -> None:
    has_both(page, console, "first")
    tabs(page).nth(1).click()
    console.kubectl("delete", "pod", "first", "--grace-period=0", "--force")
    console.made.remove(("default", "first"))
    expect(tabs(page).first).to_have_accessible_name(re.compile("ended"))
    tabs(page).first.click()
    expect(state(page)).to_have_text("The log has ended")
