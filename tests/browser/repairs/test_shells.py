"""Debug containers in a browser."""

import re

from playwright.sync_api import expect

from tests.browser.repairs.operator import Operator

SHIPPING = "shipping"


def open_pod(operator: Operator) -> None:
    """Open the page of a running pod."""
    running = ("--field-selector", "status.phase=Running")
    names = operator.kubectl("get", "pods", "-n", SHIPPING, "-o", "name", *running)
    operator.open(SHIPPING, "pods", names.split()[0].partition("/")[2])


def test_the_reason_of_a_failed_debug_container_is_shown(operator: Operator) -> None:
    page = operator.page
    open_pod(operator)
    operator.act("debug")
    operator.picture("debug")
    operator.fill(page.get_by_label(re.compile("^(Image|镜像)$")), "registry.invalid/tools:1")
    operator.press(page.locator("form.confirm button[type=submit]"))
    step = page.locator("#starting .notice .mark")
    expect(step).to_have_attribute("data-severity", "error", timeout=30_000)
    expect(page.locator("#starting")).to_contain_text("no such host")


def test_a_debug_container_opens_in_a_terminal(operator: Operator) -> None:
    page = operator.page
    open_pod(operator)
    operator.act("debug")
    operator.press(page.locator("form.confirm button[type=submit]"))
    page.wait_for_url(re.compile(r"/terminal\?container=debugger-\w+&attach=1$"))
