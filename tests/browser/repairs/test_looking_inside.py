"""Logs of a rollout, shells in containers and on nodes, the dock, and ports, in a browser."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, expect

from tests.browser.repairs.operator import Operator

SHIPPING, APP = "shipping", "rates-api"
CONNECTED = re.compile("^(Connected to|已连接到)")
FOLLOWS = re.compile("^(Following|正在跟踪)")


def open_pod(operator: Operator) -> None:
    """Open the page of a running pod of the app."""
    operator.kubectl("rollout", "status", f"deployment/{APP}", "-n", SHIPPING, "--timeout=60s")
    operator.open(SHIPPING, "pods", min(pods(operator)))


def below(page: Page) -> FrameLocator:
    """Return the contents of the active tab of the dock."""
    return page.frame_locator(".dock-panel[data-current] iframe")


def tabs(page: Page) -> Locator:
    return page.locator("#dock [role=tab]")


def open_below(operator: Operator, kind: str, key: str) -> None:
    """Open the log or terminal of the current page in the dock."""
    if operator.touches:
        operator.page.locator(f".detail-head .acts [data-below-kind={kind}]").click()
    else:
        expect(operator.page.locator(f"[data-below-kind={kind}]").first).to_be_visible()
        operator.page.keyboard.press(key)


def fold(operator: Operator) -> None:
    """Minimize the dock on a phone, where it covers the page."""
    if operator.touches:
        operator.page.locator("[data-dock-tool=bar]").click()


def types(operator: Operator, screen: Locator, line: str) -> None:
    """Type into a terminal, which has the focus after it is opened."""
    if operator.touches:
        screen.click()
    operator.page.keyboard.type(line)
    operator.page.keyboard.press("Enter")


@pytest.fixture(autouse=True)
def _nothing_below(operator: Operator) -> Iterator[None]:
    """Clear the dock after each test."""
    yield
    operator.page.evaluate("sessionStorage.clear()")


def test_logs_follow_a_rollout(operator: Operator) -> None:
    page = operator.page
    operator.open(SHIPPING, "deployments", APP)
    open_below(operator, "log", "Shift+L")
    log = below(page)
    expect(log.locator("[data-log-state]")).to_have_text(FOLLOWS)
    expect(log.locator(".log-line").first).to_be_visible()
    before = pods(operator)
    fold(operator)
    operator.act("restart")
    operator.confirm()
    # The page was reloaded several times, and the log continues with the output of the new pods.
    if operator.touches:
        tabs(page).first.click()
    operator.kubectl("rollout", "status", f"deployment/{APP}", "-n", SHIPPING, "--timeout=60s")
    [*new] = pods(operator) - before
    assert new and not pods(operator) & before
    for name in new:
        expect(log.locator(".log-source", has_text=name).first).to_be_attached(timeout=60_000)
    operator.picture("rollout-logs")


def pods(operator: Operator) -> set[str]:
    """Return the names of the app's pods that are not terminating."""
    what = ("pods", "-n", SHIPPING, "-l", f"app.kubernetes.io/name={APP}")
    shown = "{range .items[*]}{.metadata.name} {.metadata.deletionTimestamp}{'\\n'}{end}"
    lines = operator.kubectl("get", *what, "-o", f"jsonpath={shown}".replace("'", '"')).split("\n")
    return {line.strip() for line in lines if line.strip() and len(line.split()) == 1}


# The CI run covers these two in tests/browser/logs.
@pytest.mark.deep
def test_a_shell_accepts_input(operator: Operator) -> None:
    page = operator.page
    open_pod(operator)
    operator.press(page.locator(".detail-head .acts a[href$='/terminal']"))
    expect(page.locator("[data-terminal-state]")).to_have_text(CONNECTED)
    screen = page.locator(".xterm")
    types(operator, screen, "cat /etc/os-release; ps; df -h /")
    expect(screen).to_contain_text("Filesystem")
    operator.picture("terminal")
    types(operator, screen, "exit 3")
    expect(page.locator("[data-terminal-state]")).to_have_text(re.compile(r"\b3\b|3。"))
    expect(page.locator("[data-terminal-again]")).to_be_visible()


@pytest.mark.deep
def test_logs_and_shells_in_the_dock_continue_across_pages(operator: Operator) -> None:
    page = operator.page
    open_pod(operator)
    open_below(operator, "log", "Shift+L")
    expect(below(page).locator("[data-log-state]")).to_have_text(FOLLOWS)
    fold(operator)
    open_below(operator, "terminal", "Shift+T")
    expect(below(page).locator("[data-terminal-state]")).to_have_text(CONNECTED)
    screen = below(page).locator(".xterm")
    types(operator, screen, "answer=42; uname -a")
    expect(screen).to_contain_text("Linux")
    operator.go(f"pods?namespace={SHIPPING}")
    expect(tabs(page)).to_have_count(2)
    if operator.touches:
        operator.picture("dock-folded")
        tabs(page).nth(1).click()
    else:
        page.keyboard.press("F6")
        expect(tabs(page).nth(1)).to_be_focused()
        page.keyboard.press("F6")
    expect(below(page).locator("[data-terminal-state]")).to_have_text(CONNECTED)
    types(operator, screen, "echo it is $answer")
    expect(screen).to_contain_text("it is 42")
    operator.picture("dock")


def test_opening_a_node_shell(operator: Operator) -> None:
    page = operator.page
    node = operator.kubectl("get", "nodes", "-o", "jsonpath={.items[0].metadata.name}")
    operator.go(f"nodes/{node}")
    operator.act("shell")
    operator.picture("node-shell-asked")
    operator.press(page.locator("form.confirm button[type=submit]"))
    page.wait_for_url(re.compile(r"/terminal\?container=shell&attach=1$"))
    expect(page.locator("[data-terminal-state]")).to_have_text(CONNECTED)
    screen = page.locator(".xterm")
    types(operator, screen, "id")
    expect(screen).to_contain_text("uid=0(root)")
    operator.picture("node-shell")
    types(operator, screen, "exit")
    expect(page.locator("[data-terminal-again]")).to_be_visible()


# The CI run covers this in tests/browser/logs/test_ports.py.
@pytest.mark.deep
def test_opening_a_port(operator: Operator) -> None:
    page = operator.page
    open_pod(operator)
    ports = page.locator("#panel-ports")
    ports.scroll_into_view_if_needed()
    operator.picture("ports")
    with page.expect_popup() as popup:
        operator.press(ports.locator("button[form=act]").first)
    tab = popup.value
    tab.wait_for_url(re.compile(r"http://[0-9a-f]{32}\.ports\.localhost:\d+/$"))
    expect(tab.locator("body")).to_contain_text("GET /")
    tab.close()
