"""A log that is followed in a real browser."""

import json
import re
from contextlib import closing
from datetime import datetime, timedelta
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Locator, Page, WebSocket, WebSocketRoute, expect

from devcluster.controllers.behaviour import ANNOTATION
from devcluster.logs.runs import RATE_ANNOTATION, TEXT_ANNOTATION
from tests.browser.logs.conftest import StartPod
from tests.controlplane.waiting import eventually
from tests.depth import number
from tests.hostile.texts import TEXTS
from tests.logs.test_colours import HARMLESS

_WRITTEN = "(all) => all.map((one) => one.innerHTML)"
#: The same of a page as it comes, before any script.
_PLAIN = """(html) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  return [...page.querySelectorAll(".log-text")].map((one) => one.innerHTML);
}"""

#: Every frame: how long it took.
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

#: Takes all that are free, again when those of others go.
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


def lines(page: Page) -> Locator:
    return page.locator(".log[data-log-url] .log-line")


def last_time(page: Page) -> str:
    return lines(page).last.locator(".log-time").get_attribute("title") or ""


def writes(start: StartPod) -> str:
    """The address of the log that most tests follow."""
    return start("writes", **{RATE_ANNOTATION: "100"})


# The gate sees lines come where they are wrapped, and in other tests of this file.
@pytest.mark.deep
def it_shows_lines_as_they_come(page: Page, start: StartPod) -> None:
    page.goto(writes(start))
    expect(page.locator("[data-log-state]")).to_have_text("Following")
    seen = last_time(page)
    eventually(lambda: last_time(page) > seen, "new lines")


def it_stands_still_while_it_is_paused_and_loses_nothing(page: Page, start: StartPod) -> None:
    page.goto(writes(start))
    expect(page.locator("[data-log-state]")).to_have_text("Following")
    page.get_by_role("button", name="Pause").click()
    held = last_time(page)
    expect(page.locator("[data-log-state]")).to_have_text(re.compile(r"Paused, \d{3,} new lines"))
    assert last_time(page) == held
    page.locator("[data-log-end]").click()
    expect(page.locator("[data-log-state]")).to_have_text("Following")
    eventually(lambda: last_time(page) > held, "the newest lines")


def it_lets_go_of_the_newest_lines_when_somebody_scrolls_up(page: Page, start: StartPod) -> None:
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


def it_draws_what_the_page_without_scripts_does(page: Page, start: StartPod) -> None:
    """Whatever a program writes: the two readers of escape sequences say the same, and none is markup."""
    given = [text.replace("\n", " ").replace("\r", " ")[:2000] for text in TEXTS if text.strip()]
    colours = [
        "\x1b[1;31mred\x1b[22m pale\x1b[0m",
        "\x1b[38;5;46mx\x1b[48;2;200;40;40my",
        "\x1b[38mz",
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


def it_says_once_why_there_is_no_log(page: Page, start: StartPod) -> None:
    page.goto(start("waits", **{ANNOTATION: "pull-fails"}))
    expect(lines(page)).to_contain_text(["is waiting to start"])
    refusals = page.get_by_text("is waiting to start").filter(visible=True)
    expect(refusals).to_have_count(1)


def it_stays_quick_while_twenty_thousand_lines_a_second_come(page: Page, start: StartPod) -> None:
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
    # Half of them in time, on a machine that is busy with making the lines as well.
    assert frames[len(frames) // 2] < 50
    assert frames[-1] < 1000
    assert page.locator("*").count() < 10_000


def it_says_that_the_oldest_lines_had_to_go(page: Page, start: StartPod, apart: None) -> None:
    """A page keeps 200,000 lines: it reads each of the server's a hundred times."""
    page.add_init_script(_MULTIPLIES)
    page.goto(start("multiplies", **{RATE_ANNOTATION: "1000"}))
    state = page.locator("[data-log-state]")
    expect(state).to_have_text(re.compile(r"\d,000 older lines are no longer on this page"))
    held = last_time(page)
    eventually(lambda: last_time(page) > held, "new lines")


def it_wraps_long_lines_and_follows_them(page: Page, start: StartPod) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{writes(start)}&wrap=1")
    expect(page.locator("[data-log-state]")).to_have_text("Following")
    seen = last_time(page)
    eventually(lambda: last_time(page) > seen, "new lines")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator(".log[data-log-url]")
    assert box.evaluate("(one) => one.scrollWidth <= one.clientWidth")


def it_leads_from_a_line_to_what_is_around_it(page: Page, start: StartPod) -> None:
    page.goto(writes(start))
    expect(lines(page).nth(20)).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    time = lines(page).nth(5).locator(".log-time")
    stamp = time.get_attribute("title")
    time.click()
    line = page.locator(".log-line:target")
    expect(line).to_be_in_viewport()
    expect(line.locator(".log-time")).to_have_attribute("title", stamp or "")


def it_comes_when_there_is_room_again(page: Page, start: StartPod) -> None:
    """As many as one may have are open still, as those of a page that is loaded again may be."""
    # Each of the many is sent all of its lines, so they are few.
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
        # Asking the page also hears what came.
        eventually(lambda: page.title() and "Too many logs" in str(told), "it is told to wait")
        expect(page.locator("[data-log-state]")).to_contain_text("Too many logs are open.")
    expect(page.locator("[data-log-state]")).to_have_text("Following")


def it_comes_back_when_the_console_did_not_say_goodbye(
    page: Page, start: StartPod, apart: None
) -> None:
    """It said that it cannot go on now, and was gone before it could close the socket."""
    words, sockets = "The cluster does not answer.", list[WebSocketRoute]()

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
