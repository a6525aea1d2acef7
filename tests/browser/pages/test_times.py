"""Times are shown in the user's time zone."""

import re
from datetime import UTC, datetime, timedelta

from playwright.sync_api import Page, expect

from console.ui.fragments.placeholders import age_between
from tests.browser.chromium import Chromium
from tests.browser.console import Console, live, sign_in
from tests.browser.pages.pod_list import row

DAY = 86_400
#: Return the texts of time elements for these moments, given as local times or as milliseconds ago.
TOLD = """([about, times]) => {
  const main = document.getElementById("main");
  const elements = times.map((one) => {
    const time = document.createElement("time");
    time.className = about;
    const then = typeof one === "string" ? one : Date.now() - quarterdeck.skew - one;
    time.dateTime = new Date(then).toISOString();
    const place = main.appendChild(document.createElement("span"));
    place.className = "age";
    place.append(time);
    return time;
  });
  quarterdeck.tick();
  return elements.map((time) => time.textContent);
}"""
HERE = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d GMT\+8$")


def test_times_use_the_time_zone_of_the_browser(console: Console, browser: Chromium) -> None:
    context = browser.new_context(timezone_id="Asia/Shanghai")
    page = context.new_page()
    sign_in(page, console, "/clusters/host/namespaces/kube-system/overview")
    live(page)
    moments = page.locator("time.moment")
    expect(moments.first).to_have_text(HERE)
    written = moments.first.get_attribute("datetime")
    same = page.evaluate(
        "(time) => Date.parse(time.textContent.replace(/ GMT.*/, '+08:00').replace(' ', 'T')) "
        "=== Date.parse(time.dateTime)",
        moments.first.element_handle(),
    )
    assert same, written
    pointed = page.locator("time[title]").first
    pointed.hover()
    expect(pointed).to_have_attribute("title", HERE)
    context.close()


def test_ages_match_those_of_the_server(console: Console, page: Page) -> None:
    sign_in(page, console, "/account")
    lengths = [-9, 0, 59, 60, 3599, 3600, DAY - 1, DAY, 365 * DAY - 1, 365 * DAY, 800 * DAY]
    now = datetime.now(UTC)
    told = page.evaluate(TOLD, ["", [length * 1000 + 400 for length in lengths]])
    assert told == [age_between(now - timedelta(seconds=length), now, "en") for length in lengths]
    today, before = page.evaluate(TOLD, ["clock", [0, "2026-01-02T03:04:05"]])
    assert re.fullmatch(r"\d\d:\d\d:\d\d", today)
    assert before == "2026-01-02 03:04:05"


def test_ages_do_not_depend_on_the_browsers_clock(
    console: Console, page: Page, apart: None
) -> None:
    page.clock.install(time=datetime.now(UTC) + timedelta(hours=5))
    console.pod("young")
    sign_in(page, console)
    live(page)
    age = row(page, "young").locator(".age time")
    expect(age).to_have_text(re.compile(r"^\d+s$"))
    page.clock.fast_forward(2 * 3600 * 1000)
    expect(age).to_have_text("2h")
