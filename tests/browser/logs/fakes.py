"""Fakes of the console at the sockets of a page, for what a real one says too rarely."""

import json
import re
from typing import Any

from playwright.sync_api import Page, WebSocketRoute

from tests.controlplane.waiting import eventually

#: A page that lost its socket opens another one at once.
_AT_ONCE = """(() => {
  const wait = setTimeout;
  window.setTimeout = (run, ms, ...more) => wait(run, run.name === "open" ? 0 : ms, ...more);
})()"""
_FRAMES_LATER = "new Promise((on) => requestAnimationFrame(() => requestAnimationFrame(on)))"


class FakeConsole:
    """At a page's sockets. `heard`: what the page said, by socket."""

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
        """What the page says first at the last of so many sockets."""
        # Asking the page also hears what came.
        eventually(
            lambda: self.page.title() and [*map(bool, self.heard)] == [True] * times, "a page"
        )
        said: dict[str, Any] = self.heard[-1][0]
        return {key: value for key, value in said.items() if key != "size"}

    def cut(self, code: int = 1006) -> dict[str, Any]:
        """Ends the socket. Returns what the page says first at the next one."""
        self.sockets[-1].close(code=code)
        return self.greeted(len(self.sockets) + 1)

    def end(self, code: int) -> None:
        """Ends the socket of a page that comes back no more."""
        count = len(self.sockets)
        self.sockets[-1].close(code=code)
        for _ in range(2):
            self.page.evaluate(_FRAMES_LATER)
        assert len(self.sockets) == count


class FakeLog(FakeConsole):
    """At the followed logs of a page."""

    def __init__(self, page: Page) -> None:
        super().__init__(page, "/log")

    def lines(self, number: int, *texts: str, **more: Any) -> None:
        """As a message of this number, of the first source."""
        about = [0, f"2026-01-02T10:00:0{number}.123456789Z", ""]
        self.say(n=number, lines=[[*about, text, True, False, 0] for text in texts], **more)

    def has_heard(self, *wanted: Any) -> None:
        """The page says that at its open socket, and has said nothing else after its greeting."""
        # Asking the page also hears what came.
        eventually(lambda: self.page.title() and self.heard[-1][1:] == [*wanted], f"{wanted}")
