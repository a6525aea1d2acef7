"""CPU usage of a browser that shows the live list of pods while pods change.

One Chromium shows the list, without user input. Its CPU time is the sum over all its processes,
including the rendering of pixels on the CPU, because there is no GPU.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from playwright.sync_api import Browser, Page, sync_playwright

from bench.churn import ChurnProcess, order
from bench.cluster import LoadedControlPlane
from bench.pages import AT_MOST, LIST, RATE
from bench.rate import ChangeRate
from bench.result import Result
from bench.webconsole import WebConsole
from tests.browser.chromium import FLAGS, PROGRAM
from tests.controlplane.build import Report

#: The default order is by severity.
_ORDERS = {"": "", "_sort_name": "?sort=name"}
#: Seconds to wait after opening a list, and seconds of a measurement.
_SETTLING_SECONDS, _SECONDS = 5.0, 30.0


@dataclass
class _Received:
    """Counts the bytes of the frames that arrive at a websocket."""

    size: int = 0

    def add(self, frame: str | bytes) -> None:
        self.size += len(frame.encode() if isinstance(frame, str) else frame)


def measure(cluster: LoadedControlPlane, rounds: int, report: Report) -> list[Result]:
    """Measure each order once. `rounds` is ignored."""
    report("starting the console\n")
    with (
        WebConsole(cluster) as console,
        ChurnProcess(order(cluster, AT_MOST, RATE, generation=7)),
        sync_playwright() as playwright,
    ):
        changes = ChangeRate(cluster)
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=FLAGS)
        received = _Received()
        page = _signed_in(browser, console, received)
        results: list[Result] = []
        for name, query in _ORDERS.items():
            report(f"watching the list {query}\n")
            share, per_minute = _watched(browser, page, received, console.url + LIST + query)
            results.append(Result(f"browser_cores{name}", cluster.pods, share, "cores"))
            results.append(Result(f"browser_bytes_per_minute{name}", cluster.pods, per_minute, "B"))
        browser.close()
        rate = changes.per_second()
    return [Result("browser_changes_per_second", cluster.pods, rate, "1/s"), *results]


def _signed_in(browser: Browser, console: WebConsole, received: _Received) -> Page:
    """Sign in, and count the frames of all websockets of the page."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.on("websocket", lambda socket: socket.on("framereceived", received.add))
    page.goto(f"{console.url}/login?next={LIST}")
    page.fill("input[name=username]", console.accounts[0])
    page.fill("input[name=password]", console.password)
    page.click("button[type=submit]:not([form])")
    page.wait_for_selector("body[data-live=live]")
    return page


def _watched(browser: Browser, page: Page, received: _Received, url: str) -> tuple[float, float]:
    """Return the CPU usage in cores and the bytes of websocket messages per minute. Raise OSError
    if no message arrives.
    """
    page.goto(url)
    page.wait_for_selector("body[data-live=live]")
    page.wait_for_timeout(_SETTLING_SECONDS * 1000)
    used, size = _cpu_seconds(browser), received.size
    page.wait_for_timeout(_SECONDS * 1000)
    share = (_cpu_seconds(browser) - used) / _SECONDS
    if received.size == size:
        raise OSError("changes do not reach the page")
    return share, (received.size - size) * 60 / _SECONDS


def _cpu_seconds(browser: Browser) -> float:
    session = browser.new_browser_cdp_session()
    processes: Sequence[dict[str, float]] = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return sum(one["cpuTime"] for one in processes)
