"""Times are told where the reader is."""

import re

from playwright.sync_api import expect

from tests.browser.chromium import Chromium
from tests.browser.console import Console, live, sign_in

HERE = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d GMT\+8$")


def it_tells_moments_in_the_readers_zone(console: Console, browser: Chromium) -> None:
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
