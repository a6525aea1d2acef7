"""`python -m bench.browser_memory`: test a list page for browser memory leaks over an hour.

Two pages show the live list of pods of an embedded cluster at 50 changes per second. Most
changes are status changes; every tenth deletes a pod and creates another, so rows move, appear
and disappear all the time. The page `free` gets no user input. On `held` the pointer rests on
the table, so changes of the order wait during the whole run.

Each minute, after forced garbage collections, the script prints the JavaScript heap, the DOM
nodes and event listeners from the browser's counters, and the memory of the page's process. A
page is flat if none of the values is more than 10 % higher at the end than after the warm-up.
The exit status reports the result.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import msgspec
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from bench import memory
from bench.webconsole import WebConsole
from devcluster.server import DevCluster

_CHROMIUM = "/usr/bin/chromium"
_FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run")
_LIST = "/clusters/host/pods"
#: Minutes to ignore at the start, and the number of minutes to compare at both ends.
_WARM_UP, _COMPARED = 2, 5
_TOLERANCE = 0.10
#: Garbage collections per value, and the delay in milliseconds before each.
_COLLECTIONS, _BETWEEN_MS = 8, 400


class Sample(msgspec.Struct, frozen=True):
    """Resource usage of a page in one minute. `heap` and `process` are in bytes."""

    minute: int
    heap: int
    nodes: int
    listeners: int
    process: int


class WatchedPage:
    """A page in a separate browser process."""

    def __init__(self, name: str, page: Page, session: CDPSession, pid: int) -> None:
        self.name, self.page = name, page
        self._session, self._pid = session, pid
        #: True if the rows haven't changed since the last sample. A page without changes proves
        #: nothing.
        self.is_still, self._shown = False, ""
        self.samples: list[Sample] = []

    def sample(self, minute: int) -> Sample:
        """Return the minimum of several measurements: rows that are being replaced are not a leak."""
        shown = self.page.locator("#results tbody").inner_text()
        self.is_still, self._shown = shown == self._shown, shown
        found = [self._collected(minute) for _ in range(_COLLECTIONS)]
        least = Sample(minute, *(min(values) for values in zip(*map(_figures, found), strict=True)))
        self.samples.append(least)
        return least

    def _collected(self, minute: int) -> Sample:
        self.page.wait_for_timeout(_BETWEEN_MS)
        self._session.send("HeapProfiler.collectGarbage")
        heap = self._session.send("Runtime.getHeapUsage")["usedSize"]
        dom = self._session.send("Memory.getDOMCounters")
        process = memory.read("VmRSS", self._pid)
        return Sample(minute, int(heap), dom["nodes"], dom["jsEventListeners"], process)


def _figures(one: Sample) -> tuple[int, int, int, int]:
    return one.heap, one.nodes, one.listeners, one.process


def growth(samples: Sequence[Sample]) -> dict[str, float]:
    """Return the growth of each value: the median of the last minutes divided by that of the first
    minutes after the warm-up. Raise ValueError if there are too few samples.
    """
    counted = [one for one in samples if one.minute >= _WARM_UP]
    number = min(_COMPARED, len(counted) // 2)
    if number < 1:
        raise ValueError(f"at least {_WARM_UP + 1} minutes are needed")

    def ratio(field: str) -> float:
        first, last = counted[:number], counted[-number:]
        values = [median(getattr(one, field) for one in part) for part in (first, last)]
        return float(values[1] / values[0])

    return {field: ratio(field) for field in ("heap", "nodes", "listeners", "process")}


def is_flat(growths: dict[str, float]) -> bool:
    return all(value <= 1 + _TOLERANCE for value in growths.values())


def measure(minutes: int, rate: float) -> list[WatchedPage]:
    """Run the test, and print a line for each page and minute."""
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="soak-"))
        cluster = stack.enter_context(DevCluster(Path(folder)))
        changes = stack.enter_context(_changes(cluster.kubeconfig, rate))
        console = stack.enter_context(WebConsole(cluster))
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=_FLAGS)
        watched = [_opened(browser, console, name) for name in ("free", "held")]
        _say(
            f"{'min':>4} {'page':<5} {'heap kB':>8} {'nodes':>7} {'listeners':>9} {'process MB':>10}"
        )
        started = time.monotonic()
        for minute in range(minutes + 1):
            watched[0].page.wait_for_timeout(
                max(0, started + minute * 60 - time.monotonic()) * 1000
            )
            for page in watched:
                _rest(page)
                _say(_line(page.name, page.sample(minute)))
            if minute:
                changed = _changed(changes)
                _say(f"     {changed / 60:.1f} changes per second")
                if changed and all(page.is_still for page in watched):
                    raise OSError("changes do not reach the pages")
        browser.close()
        return watched


@contextmanager
def _changes(kubeconfig: Path, rate: float) -> Iterator[subprocess.Popen[str]]:
    """Start the process that changes pods. Raise OSError if it fails to start."""
    command = [sys.executable, "-m", "bench.pod_changes", str(kubeconfig), f"--rate={rate}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            if not process.stdout or not process.stdout.readline():
                raise OSError("the process that changes pods did not start")
            yield process
        finally:
            process.terminate()


def _changed(changes: subprocess.Popen[str]) -> int:
    """Return the number of changes in the last minute. Raise OSError if the process has ended."""
    line = changes.stdout.readline() if changes.stdout else ""
    if not line:
        raise OSError("the process that changes pods has ended")
    return int(line)


def _opened(browser: Browser, console: WebConsole, name: str) -> WatchedPage:
    """Sign in and open the live list. A separate browser context runs in a separate process."""
    others = _renderers(browser)
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{console.url}/login?next={_LIST}")
    page.fill("input[name=username]", console.accounts[0])
    page.fill("input[name=password]", console.password)
    page.click("button[type=submit]:not([form])")
    page.wait_for_selector("body[data-live=live]")
    session = context.new_cdp_session(page)
    pid = max(_renderers(browser) - others, key=lambda one: memory.read("VmRSS", one))
    watched = WatchedPage(name, page, session, pid)
    _rest(watched)
    return watched


def _renderers(browser: Browser) -> set[int]:
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return {one["id"] for one in processes if one["type"] == "renderer"}


def _rest(watched: WatchedPage) -> None:
    """Keep the pointer on the table, with tiny movements like those of a user."""
    if watched.name == "held":
        x, y = 640, 500 + len(watched.samples) % 2
        watched.page.mouse.move(x, y - 2)
        watched.page.mouse.move(x, y)


def _line(name: str, one: Sample) -> str:
    return (
        f"{one.minute:>4} {name:<5} {one.heap / 1000:>8,.0f} {one.nodes:>7,} {one.listeners:>9,}"
        f" {one.process / 1e6:>10.1f}"
    )


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.browser_memory", description=__doc__)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--rate", type=float, default=50.0, help="changes per second")
    given = parser.parse_args(arguments)
    if given.minutes < _WARM_UP + 1:
        parser.error(f"--minutes: at least {_WARM_UP + 1}")
    flat = True
    for page in measure(given.minutes, given.rate):
        growths = growth(page.samples)
        flat &= is_flat(growths)
        listed = ", ".join(f"{name} {value - 1:+.1%}" for name, value in growths.items())
        _say(f"{page.name}: {'flat' if is_flat(growths) else 'NOT FLAT'} ({listed})")
    return 0 if flat else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
