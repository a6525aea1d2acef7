"""The list of pods in a browser."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Locator, Page, Request, expect

from tests.browser.console import Console, live, sign_in

RUNNING = {
    "phase": "Running",
    "conditions": [{"type": "Ready", "status": "True"}],
    "containerStatuses": [
        {
            "name": "c", "ready": True, "restartCount": 0, "image": "i", "imageID": "i",
            "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
        }
    ],
}  # fmt: skip
CRASHING = {
    "phase": "Running",
    "containerStatuses": [
        {
            "name": "c", "ready": False, "restartCount": 4, "image": "i", "imageID": "i",
            "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
        }
    ],
}  # fmt: skip


def row(page: Page, name: str, namespace: str = "default") -> Locator:
    return page.locator(f'tr[data-key="{namespace}/{name}"]')


LISTED = "/clusters/host/pods?namespace=default"


class Traffic:
    """The list requests and the websocket frames of a page since it was opened."""

    def __init__(self, page: Page) -> None:
        self.lists: list[str] = []
        self.frames: list[str] = []
        page.on("request", self._request)
        page.on("websocket", lambda ws: ws.on("framereceived", self._frame))

    def _request(self, request: Request) -> None:
        if request.headers.get("hx-request"):
            self.lists.append(request.url)

    def _frame(self, payload: str | bytes) -> None:
        self.frames.append(str(payload))


@contextmanager
def pods(console: Console, *names: str) -> Iterator[None]:
    with console.tidied():
        console.pod(*names)
        for name in names:
            console.set_status(name, RUNNING)
        yield


def opened(console: Console, page: Page, *names: str) -> Traffic:
    """Open the list by name, wait until it is up to date, and return its traffic."""
    sign_in(page, console, "")
    traffic = Traffic(page)
    page.goto(console.url + LISTED)
    live(page)
    for name in names:
        expect(row(page, name)).to_contain_text("Running")
    return traffic


def order(page: Page) -> list[str]:
    keys = page.locator("#results tbody tr").evaluate_all("rows => rows.map(r => r.dataset.key)")
    return [key.removeprefix("default/") for key in keys]
