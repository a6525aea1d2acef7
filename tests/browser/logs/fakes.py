"""Fakes of the console's side of websockets, for messages that a real console rarely sends."""

import json
import re
from typing import Any

from playwright.sync_api import Page, WebSocketRoute

from tests.controlplane.waiting import eventually

#: Reconnect without delay after the socket was lost.
_AT_ONCE = """(() => {
  const wait = setTimeout;
  window.setTimeout = (run, ms, ...more) => wait(run, run.name === "open" ? 0 : ms, ...more);
})()"""
_FRAMES_LATER = "new Promise((on) => requestAnimationFrame(() => requestAnimationFrame(on)))"


class FakeConsole:
    """The server side of a page's websockets. `heard` holds the messages of the page, by socket."""

    def __init__(self, page: Page, where: str) -> None:
        self.page, self.sockets, self.heard = page, list[WebSocketRoute](), list[list[Any]]()
        page.add_init_script(_AT_ONCE)
        page.route_web_socket(re.compile(where), self._open)

    def _open(self, socket: WebSocketRoute) -> None:
        heard = list[Any]()
        socket.on_message(lambda said: heard.append(json.loads(said) if said[:1] == "{" else said))
        self.sockets.append(socket)
        self.heard.append(heard)

    def say(self, **message: Any) -> None:
        self.sockets[-1].send(json.dumps(message))

    def greeted(self, times: int) -> dict[str, Any]:
        """Wait for this number of sockets and return the first message on the last one."""
        # Any call to the page also dispatches pending events.
        eventually(
            lambda: self.page.title() and [*map(bool, self.heard)] == [True] * times, "a page"
        )
        said: dict[str, Any] = self.heard[-1][0]
        return {key: value for key, value in said.items() if key not in ("page", "size")}

    def cut(self, code: int = 1006) -> dict[str, Any]:
        """Close the socket and return the page's first message on the next one."""
        self.sockets[-1].close(code=code)
        return self.greeted(len(self.sockets) + 1)

    def end(self, code: int) -> None:
        """Close the socket of a page that does not reconnect."""
        count = len(self.sockets)
        self.sockets[-1].close(code=code)
        for _ in range(2):
            self.page.evaluate(_FRAMES_LATER)
        assert len(self.sockets) == count


class FakeLog(FakeConsole):
    """The server side of followed logs."""

    def __init__(self, page: Page) -> None:
        super().__init__(page, "/log")

    def lines(self, number: int, *texts: str, **more: Any) -> None:
        """Send a message with this number and lines of the first source."""
        about = [0, f"2026-01-02T10:00:0{number}.123456789Z", ""]
        self.say(n=number, lines=[[*about, text, True, False, 0] for text in texts], **more)

    def has_heard(self, *wanted: Any) -> None:
        """Wait until the page has sent exactly these messages on the open socket after its
        greeting.
        """
        # Any call to the page also dispatches pending events.
        eventually(lambda: self.page.title() and self.heard[-1][1:] == [*wanted], f"{wanted}")
