"""Following a log in a real browser."""

import json
import re
from collections.abc import Mapping
from contextlib import closing
from datetime import datetime, timedelta
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Locator, Page, WebSocket, WebSocketRoute, expect

from devcluster.controllers.behaviour import ANNOTATION
from devcluster.logs.options import LogOptions, read_log_options
from devcluster.logs.runs import RATE_ANNOTATION, TEXT_ANNOTATION
from tests.browser.logs.conftest import StartPod
from tests.browser.logs.fakes import FakeLog
from tests.browser.logs.scrolling import SCROLL
from tests.controlplane.waiting import eventually
from tests.hostile.texts import TEXTS
from tests.logs.escape_sequences import HARMLESS
from tests.support.depth import number

_WRITTEN = "(all) => all.map((one) => one.innerHTML)"
#: The same values of a page's HTML before any script has run.
_PLAIN = """(html) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  return [...page.querySelectorAll(".log-text")].map((one) => one.innerHTML);
}"""

#: Record the duration of each frame.
_FRAMES = """() => {
  window.frames_ = [];
  let last = performance.now();
  const next = () => {
    const now = performance.now();
    window.frames_.push(now - last);
    last = now;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}"""

_MULTIPLIES = """(() => {
  const parse = JSON.parse;
  JSON.parse = (text) => {
    const message = parse(text);
    if (message?.lines) message.lines = Array(100).fill(message.lines).flat();
    return message;
  };
})()"""

#: Take all free connection slots, and slots that are released later.
_HOLDS = """(path) => new Promise((resolve) => {
  let open = 0;
  const next = () => {
    const socket = new WebSocket(`ws://${location.host}${path}`);
    socket.onopen = () => socket.send(JSON.stringify({ follow: "en" }));
    socket.onmessage = ({ data }) => {
      if (!JSON.parse(data).sources) return;
      open += 1;
      if (open < 20) next();
      else resolve();
    };
    socket.onclose = () => setTimeout(next, 20);
  };
  next();
})"""

#: Sequences that end each weight and color, and incomplete or invalid colors.
_ENDS = ("22", "23", "24", "27", "29", "39", "49")
_ODD = ("", ">32", "32;99999;1", "38:5:2", "38;2;1", "38;3;2", f"{'1;' * 120}32")

#: Class, data attributes, and text of each line in the page.
_DRAWN = "(all) => all.map((one) => [one.className, { ...one.dataset }, one.textContent])"

#: Distance by which the first and the last line extend beyond the edges of the box.
_OVER = """(box) => {
  const top = box.getBoundingClientRect().top + box.clientTop;
  const edges = [...box.querySelectorAll(".log-line")].map((one) => one.getBoundingClientRect());
  return [top - edges.at(0).top, edges.at(-1).bottom - top - box.clientHeight];
}"""

#: Dispatch keys that don't scroll by themselves.
_UP_AND_BACK = """(box, back) => {
  for (const key of ["PageUp", back]) box.dispatchEvent(new KeyboardEvent("keydown", { key }));
}"""


def lines(page: Page) -> Locator:
    return page.locator(".log[data-log-url] .log-line")


def last_time(page: Page) -> str:
    return lines(page).last.locator(".log-time").get_attribute("title") or ""


def writes(start: StartPod) -> str:
    """Return the URL of the log that most tests follow."""
    return start("writes", **{RATE_ANNOTATION: "100"})


# In the CI run, other tests of this file cover new lines.
@pytest.mark.deep
def test_new_lines_are_shown(page: Page, start: StartPod) -> None:
    page.goto(writes(start))
    expect(page.locator("[data-log-state]")).to_have_text("Following")
    seen = last_time(page)
    eventually(lambda: last_time(page) > seen, "new lines")


def test_pausing_keeps_the_lines_and_loses_nothing(page: Page, start: StartPod) -> None:
    page.goto(writes(start))
    expect(page.locator("[data-log-state]")).to_have_text("Following")
    expect(lines(page).last).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    held = last_time(page)
    expect(page.locator("[data-log-state]")).to_have_text(re.compile(r"Paused, \d{3,} new lines"))
    assert last_time(page) == held
    page.locator("[data-log-end]").click()
    expect(page.locator("[data-log-state]")).to_have_text("Following")
    eventually(lambda: last_time(page) > held, "the newest lines")


def test_scrolling_up_stops_following(page: Page, start: StartPod) -> None:
    page.goto(writes(start))
    expect(lines(page).nth(20)).to_be_visible()
    page.locator(".log[data-log-url]").hover()
    page.mouse.wheel(0, -600)
    button = page.locator("[data-log-end]")
    expect(button).to_have_text(re.compile(r"\d+ new lines"))
    held = last_time(page)
    expect(button).to_have_text(re.compile(r"\d{2,} new lines"))
    assert last_time(page) == held
    button.click()
    eventually(lambda: last_time(page) > held, "the newest lines")


def test_lines_are_rendered_as_on_the_page_without_scripts(page: Page, start: StartPod) -> None:
    """The two parsers of escape sequences must agree for any output of a program, and none of it is
    interpreted as HTML.
    """
    given = [text.replace("\n", " ")[:2000] for text in TEXTS if text.strip()]
    colours = [
        "\x1b[1;31mred\x1b[22m pale\x1b[0m",
        "\x1b[31m<img src=x>&lt;<zqx-node>\x1b[0m<form>",
        "\x1b[38;5;46mx\x1b[48;2;200;40;40my",
        "\x1b[38mz",
        "".join(f"\x1b[{n}m{n}\x1b[0m" for n in range(110)),
        "".join(f"\x1b[38;5;{n}m{n}" for n in range(256)),
        "".join(f"\x1b[{codes}m{codes}" for codes in ("9;7;4;3;2;1;31;41", *_ENDS)),
        *(f"\x1b[31m\x1b[{codes}mx" for codes in _ODD),
        "\x9b31mred\ttab \u00ad\u200b\u3000\x1b[31K",
        "\x1b[32m10%\r\x1b[31m50%\r\x1b[0m\r100%\x1b[33m\x07\r",
    ]
    every = [*(line for line in HARMLESS if line), *colours, *given]
    address = start("hostile", **{TEXT_ANNOTATION: "\n".join(every)})
    count = len("\n".join(every).split("\n"))
    page.set_viewport_size({"width": 1280, "height": 2000 + 30 * count})
    page.goto(address)

    def all_there() -> list[str]:
        found: list[str] = page.evaluate(_PLAIN, page.request.get(address).text())
        return found if len(found) == count else []

    there = eventually(all_there, "all is written")
    expect(lines(page)).to_have_count(count)
    here = lines(page).locator(".log-text").evaluate_all(_WRITTEN)
    assert here == there
    assert page.locator("zqx-node, .log iframe, .log img, .log form").count() == 0


def test_matches_are_highlighted_in_rendered_and_live_lines(page: Page, start: StartPod) -> None:
    every = ["a \U0001f600 <b>Fail</b> FAIL", "\x1b[31mfa\x1b[1mil\x1b[0m \u200bfail", "10%\rfail"]
    address = f"{start('marked', **{TEXT_ANNOTATION: chr(10).join([*every, 'good'])})}&q=fail"
    page.goto(address)

    def all_there() -> list[str]:
        found: list[str] = page.evaluate(_PLAIN, page.request.get(address).text())
        return found if len(found) == 3 else []

    there = eventually(all_there, "all is written")
    expect(lines(page)).to_have_count(3)
    assert lines(page).locator(".log-text").evaluate_all(_WRITTEN) == there
    hits = [["Fail", "FAIL"], ["fa", "il", "fail"], ["fail"]]
    for number_, texts in enumerate(hits):
        expect(lines(page).nth(number_).locator("mark")).to_have_text(texts)


def test_rendered_lines_stay_until_live_lines_arrive(
    page: Page, start: StartPod, fake_log: FakeLog
) -> None:
    page.goto(f"{writes(start)}&tail=100")
    rendered = page.locator("[data-log-lines] .log-line")
    fake_log.greeted(1)
    fake_log.say(sources=["app"])
    fake_log.say(n=1, lines=[], notes=[[0, "Some lines may be missing here.", False]])
    fake_log.has_heard({"ack": 1})
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(rendered.first).to_be_visible()
    expect(page.locator("[data-log-url]")).to_be_hidden()
    fake_log.lines(2, "live")
    expect(rendered.first).to_be_hidden()
    expect(lines(page)).to_have_count(2)
    expect(lines(page).last).to_contain_text("live")


def test_log_of_a_kubelet_that_ignores_start_and_tail_is_shown(
    page: Page, start: StartPod, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kubelet sends the whole log each time."""

    def ignoring(name: str, query: Mapping[str, str]) -> LogOptions:
        ignored = ("sinceTime", "sinceSeconds", "tailLines")
        return read_log_options(name, {k: v for k, v in query.items() if k not in ignored})

    monkeypatch.setattr("devcluster.subresources.read_log_options", ignoring)
    page.goto(writes(start))
    shown = page.locator(".log:visible .log-line")
    expect(shown.first).to_be_visible()
    expect(page.locator("[data-log-state]")).to_have_text("Following")
    expect(lines(page).first).to_be_visible()
    seen = last_time(page)
    eventually(lambda: last_time(page) > seen, "new lines")


def test_cut_line_links_to_the_whole_line(page: Page, start: StartPod) -> None:
    page.goto(start("cut", **{TEXT_ANNOTATION: "x" * 20_000}))
    expect(lines(page)).to_have_count(1)
    expect(lines(page).locator(".log-cut")).to_contain_text("Line is cut: 3,616 more bytes")
    with page.expect_download() as download:
        lines(page).get_by_role("link", name="Download line").click()
    assert download.value.path().read_text() == "x" * 20_000 + "\n"


def test_a_missing_log_is_explained_once(page: Page, start: StartPod) -> None:
    page.goto(start("waits", **{ANNOTATION: "pull-fails"}))
    expect(lines(page)).to_contain_text(["is waiting to start"])
    refusals = page.get_by_text("is waiting to start").filter(visible=True)
    expect(refusals).to_have_count(1)


def test_the_page_stays_responsive_at_20000_lines_per_second(page: Page, start: StartPod) -> None:
    page.goto(start("pours", **{RATE_ANNOTATION: "20000"}))
    expect(page.locator("[data-log-state]")).to_have_text("Following")
    expect(lines(page).first).to_be_visible()
    page.evaluate(_FRAMES)
    began = datetime.fromisoformat(last_time(page))

    seconds = number(1, 3)

    def enough_came() -> bool:
        return datetime.fromisoformat(last_time(page)) - began > timedelta(seconds=seconds)

    eventually(enough_came, f"{seconds * 20_000} lines")
    frames = sorted(page.evaluate("window.frames_"))
    # Only half of the frames must be in time, because the machine also generates the lines.
    assert frames[len(frames) // 2] < 50
    assert frames[-1] < 1000
    assert page.locator("*").count() < 10_000


def test_dropped_old_lines_are_reported(page: Page, start: StartPod, apart: None) -> None:
    """A page keeps 200,000 lines. The test multiplies each line of the server by a hundred."""
    page.add_init_script(_MULTIPLIES)
    page.goto(start("multiplies", **{RATE_ANNOTATION: "1000"}))
    state = page.locator("[data-log-state]")
    expect(state).to_have_text(re.compile(r"\d,000 older lines were removed from this page"))
    held = last_time(page)
    eventually(lambda: last_time(page) > held, "new lines")


def test_wrapped_lines_are_followed(page: Page, start: StartPod) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{writes(start)}&wrap=1")
    expect(page.locator("[data-log-state]")).to_have_text("Following")
    seen = last_time(page)
    eventually(lambda: last_time(page) > seen, "new lines")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator(".log[data-log-url]")
    assert box.evaluate("(one) => one.scrollWidth <= one.clientWidth")


def test_a_phone_shows_the_log_below_one_row_of_controls(page: Page, start: StartPod) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(writes(start))
    expect(page.locator("[data-log-state]")).to_have_text("Following")
    expect(lines(page).first).to_be_visible()
    log = page.locator(".log[data-log-url]").bounding_box()
    assert log is not None and log["height"] > 844 / 2 and log["y"] + log["height"] <= 844
    search = page.get_by_label("Search", exact=True)
    expect(search).to_be_hidden()
    page.get_by_text("Log options", exact=True).click()
    expect(search).to_be_in_viewport()
    # Wider windows have room for the options.
    page.set_viewport_size({"width": 1280, "height": 800})
    page.reload()
    expect(search).to_be_visible()


def test_a_line_links_to_its_context(page: Page, start: StartPod) -> None:
    page.goto(writes(start))
    expect(lines(page).nth(20)).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    time = lines(page).nth(5).locator(".log-time")
    stamp = time.get_attribute("title")
    time.click()
    line = page.locator(".log-line:target")
    expect(line).to_be_in_viewport()
    expect(line.locator(".log-time")).to_have_attribute("title", stamp or "")


def test_a_log_connects_when_a_connection_slot_is_released(page: Page, start: StartPod) -> None:
    """All permitted connections are in use, as can happen while a page is reloaded."""
    # Each connection receives all lines, so the pod writes few.
    address = start("says-little", **{RATE_ANNOTATION: "1"})
    page.goto(address)
    expect(page.locator("[data-log-state]")).to_have_text("Following")
    url = page.locator("[data-log-url]").get_attribute("data-log-url")
    told: list[str | bytes] = []

    def hear(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: told.append(frame))

    page.on("websocket", hear)
    page.goto(urljoin(address, "/readyz"))
    with closing(page.context.new_page()) as holder:
        holder.goto(page.url)
        holder.evaluate(_HOLDS, url)
        page.goto(address)
        # Any call to the page also dispatches pending events.
        eventually(lambda: page.title() and "Too many logs" in str(told), "it is told to wait")
        expect(page.locator("[data-log-state]")).to_contain_text("Too many logs are open.")
    expect(page.locator("[data-log-state]")).to_have_text("Following")


def test_a_log_reconnects_after_an_error_without_close(
    page: Page, start: StartPod, apart: None
) -> None:
    """The console sent an error and disappeared before it could close the socket."""
    words, sockets = "The cluster is not responding.", list[WebSocketRoute]()

    def break_once(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        if len(sockets) == 1:
            socket.send(json.dumps({"error": {"code": 503, "message": words}}))
        else:
            socket.connect_to_server()

    page.route_web_socket(re.compile("/log"), break_once)
    page.goto(writes(start))
    expect(page.locator("[data-log-state]")).to_have_text(words)
    sockets[0].close()
    expect(page.locator("[data-log-state]")).to_have_text("Following")


def test_source_context_and_match_of_each_line_are_shown(
    page: Page, start: StartPod, fake_log: FakeLog
) -> None:
    page.goto(f"{writes(start)}&q=broken&context=1")
    state = page.locator("[data-log-state]")
    fake_log.say(sources=["one"])
    about = [0, "2026-01-02T10:00:00.123456789Z", ""]
    fake_log.say(n=1, lines=[[*about, "alone", False, False, 0]])
    time, line = "10:00:00.123", ["log-line", {}]
    expect(state).to_have_text("Following")
    assert lines(page).evaluate_all(_DRAWN) == [[*line, f"{time}alone"]]
    # All lines fit into the box, so PageUp does not scroll.
    page.locator(".log[data-log-url]").press("PageUp")
    fake_log.say(sources=["one", "two"])
    fake_log.say(
        n=2,
        lines=[
            [0, about[1], "error", "it is broken", True, False, 0],
            [*about, "long", False, False, 1234],
        ],
        notes=[[1, "It is gone.", True]],
    )
    gone = ["log-line log-note", {}, "two── It is gone. ──"]
    more = [
        ["log-line", {"level": "error", "found": ""}, f"{time}oneit is broken"],
        [*line, f"{time}oneLine is cut: 1,234 more bytes Download linelong"],
        gone,
    ]
    expect(lines(page)).to_have_count(4)
    expect(page.locator("[data-log-end]")).to_be_hidden()
    assert lines(page).evaluate_all(_DRAWN)[1:] == more
    # After a disconnect the sources are sent again, and only one of them continues.
    fake_log.say(n=3, lines=[], notes=[[1, "It is gone.", True]])
    fake_log.has_heard({"ack": 1}, {"ack": 2}, {"ack": 3})
    expect(state).to_have_text("Following")
    expect(lines(page)).to_have_count(4)
    fake_log.say(n=4, lines=[], notes=[[0, "It is gone.", True]])
    expect(state).to_have_text("The log has ended")
    # The source reappeared and ended.
    fake_log.say(n=5, lines=[[1, *about[1:], "again", False, False, 0]])
    expect(state).to_have_text("Following")
    fake_log.say(n=6, lines=[], notes=[[1, "It is gone.", True]])
    expect(state).to_have_text("The log has ended")
    again = [[*line, f"{time}twoagain"], gone]
    assert lines(page).evaluate_all(_DRAWN)[5:] == again


def test_visible_lines_are_kept_while_paused(
    page: Page, start: StartPod, fake_log: FakeLog
) -> None:
    """Backpressure prevents that lines from before the pause are dropped."""
    page.add_init_script(_MULTIPLIES)
    page.goto(writes(start))
    state, button = page.locator("[data-log-state]"), page.locator("[data-log-end]")
    fake_log.say(sources=["one"])
    fake_log.lines(1, *(f"line {n}" for n in range(2105)))
    expect(state).to_have_text("Following. 11,000 older lines were removed from this page")
    expect(button).to_be_hidden()
    expect(lines(page).last).to_have_text("10:00:01.123line 2104")
    box = page.locator(".log[data-log-url]")
    # The box shows whole lines down to the last one.
    above, under = box.evaluate(_OVER)
    assert 0 <= above < 24 and abs(under) < 1, (above, under)
    # There is nothing further down to scroll to.
    box.hover()
    page.mouse.wheel(0, 200)
    fake_log.lines(2, *(f"next {n}" for n in range(30)))
    expect(lines(page).last).to_have_text("10:00:02.123next 29")
    box.evaluate(SCROLL, 0.9)
    expect(button).to_have_text("Jump to the newest lines")
    held = lines(page).first.text_content()
    fake_log.lines(3, *(f"more {n}" for n in range(20)))
    expect(state).to_have_text("Following. 16,000 older lines were removed from this page")
    expect(button).to_have_text("2,000 new lines")
    assert lines(page).first.text_content() == held
    # Lines that were never visible count as new, however often the user scrolls.
    box.evaluate(SCROLL, 0.8)
    assert lines(page).first.text_content() != held
    fake_log.lines(4, "little")
    expect(button).to_have_text("2,100 new lines")
    page.get_by_role("button", name="Pause").click()
    expect(state).to_have_text("Paused, 2,100 new lines")
    fake_log.lines(5, *(f"last {n}" for n in range(20)))
    expect(state).to_have_text("Paused. New lines are loaded when you resume.")
    acks = [{"ack": n} for n in range(1, 6)]
    fake_log.has_heard(*acks[:4])
    button.click()
    expect(button).to_be_hidden()
    expect(state).to_contain_text(re.compile(r"^Following\. "))
    expect(lines(page).last).to_have_text("10:00:05.123last 19")
    fake_log.has_heard(*acks)
    # Scrolling back to the end resumes following, even before the box has moved.
    box.hover()
    page.mouse.wheel(0, -300)
    expect(button).to_be_visible()
    page.mouse.wheel(0, 5000)
    expect(button).to_be_hidden()
    for at, key in enumerate(("End", "PageDown"), 6):
        box.evaluate(_UP_AND_BACK, key)
        fake_log.lines(at, key)
        expect(lines(page).last).to_have_text(f"10:00:0{at}.123{key}")
        expect(button).to_be_hidden()


def test_a_resized_log_box_is_filled_with_lines(
    page: Page, start: StartPod, fake_log: FakeLog
) -> None:
    page.set_viewport_size({"width": 1280, "height": 600})
    page.goto(writes(start))
    fake_log.say(sources=["one"])
    fake_log.lines(1, *(f"line {n}" for n in range(300)))
    expect(lines(page).last).to_have_text(re.compile("line 299"))
    for height, paused in ((900, False), (1200, True)):
        if paused:
            page.get_by_role("button", name="Pause").click()
        shown = lines(page).count()
        page.set_viewport_size({"width": 1280, "height": height})
        expect(lines(page).nth(shown + 5)).to_be_attached()


def test_wrapped_lines_keep_the_newest_in_view(
    page: Page, start: StartPod, fake_log: FakeLog
) -> None:
    page.goto(f"{writes(start)}&wrap=1")
    fake_log.say(sources=["one"])
    fake_log.lines(1, *(f"line {n}" for n in range(1200)))
    expect(lines(page)).to_have_count(1000)
    fake_log.lines(2, *(f"more {n}" for n in range(100)))
    expect(lines(page).last).to_be_in_viewport()
    expect(lines(page).last).to_have_text("10:00:02.123more 99")
    expect(lines(page)).to_have_count(1000)
    # Not while the user looks at other lines.
    page.locator(".log[data-log-url]").press("Home")
    first = lines(page).first
    expect(first).to_be_in_viewport()
    fake_log.lines(3, "last")
    expect(lines(page)).to_have_count(1001)
    expect(first).to_be_in_viewport()


def test_the_size_of_kept_lines_is_limited(page: Page, start: StartPod, fake_log: FakeLog) -> None:
    """A few lines can be very long."""
    page.add_init_script(_MULTIPLIES)
    page.goto(writes(start))
    fake_log.say(sources=["one"])
    fake_log.lines(1, *(f"{n:03}{'x' * 3500}" for n in range(100)))
    state = page.locator("[data-log-state]")
    expect(state).to_have_text("Following. 1,000 older lines were removed from this page")
    page.get_by_role("button", name="Pause").click()
    fake_log.lines(2, "x" * 3500)
    expect(state).to_have_text("Paused. New lines are loaded when you resume.")


def test_a_log_reconnects_until_it_has_ended(
    page: Page, start: StartPod, fake_log: FakeLog
) -> None:
    page.goto(writes(start))
    state = page.locator("[data-log-state]")
    fake_log.say(sources=["one"])
    at = {"one": ["2026-01-02T10:00:01.123456789Z", 1, "run"]}
    fake_log.say(n=1, lines=[], at=at)
    # A source that is missing from the message keeps its position.
    fake_log.say(n=2, lines=[], at={})
    fake_log.has_heard({"ack": 1}, {"ack": 2})
    assert fake_log.cut() == {"follow": "en", "at": at}
    expect(state).to_have_text("Not live: the console is not responding")
    for _ in range(6):
        fake_log.say(error={"code": 429, "message": "There are too many."})
        fake_log.cut(1013)
    expect(page.locator("#announce")).to_have_text("There are too many.")
    expect(state).to_have_text("There are too many.")
    fake_log.say(error={"code": 429, "message": "There are far too many."})
    expect(state).to_have_text("There are far too many.")
    fake_log.end(1013)
    page.reload()
    fake_log.greeted(9)
    fake_log.say(error={"code": 403, "message": "You no longer have permission to view this page."})
    expect(state).to_be_visible()
    expect(state).to_have_text("You no longer have permission to view this page.")
    fake_log.end(1008)
