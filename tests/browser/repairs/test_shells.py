"""Debug containers, in a browser."""

import re

from playwright.sync_api import expect

from tests.browser.repairs.operator import Operator

SHIPPING = "shipping"


def it_says_why_a_debug_container_does_not_start(operator: Operator) -> None:
    page = operator.page
    name = operator.kubectl(
        *("get", "pods", "-n", SHIPPING, "-o", "name", "--field-selector", "status.phase=Running")
    ).split()[0]
    operator.open(SHIPPING, "pods", name.partition("/")[2])
    operator.act("debug")
    operator.picture("debug")
    operator.fill(page.get_by_label(re.compile("^(Image|镜像)$")), "registry.invalid/tools:1")
    operator.press(page.locator("form.confirm button[type=submit]"))
    step = page.locator("#starting .notice .mark")
    expect(step).to_have_attribute("data-severity", "error", timeout=30_000)
    expect(page.locator("#starting")).to_contain_text("no such host")
