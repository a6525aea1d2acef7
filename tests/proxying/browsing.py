"""A browser on the host of an open port, limited to requests and cookies."""

import asyncio
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from channels.testing import ApplicationCommunicator

from console.live.flow import EXTENSION, Flow
from console.proxying.application import ProxyApplication
from console.proxying.store import PortOwner
from console.ui.core.clusters import Cluster
from console.ui.core.requests import UserSession
from tests.ui.support import FakeAccess

LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "accept": "text/html"}


@dataclass
class Person:
    """A user whose session and permissions the test can revoke."""

    access: FakeAccess = field(default_factory=lambda: FakeAccess("admin", get_in=None))
    alive: bool = True

    def presence_of(self, owner: PortOwner) -> UserSession:
        async def lasts() -> bool:
            return self.alive

        def access_in(_cluster: Cluster) -> FakeAccess:
            return self.access

        return UserSession(lasts, access_in, owner.session)


@dataclass
class Answer:
    """A response. `cut` is True if the connection was aborted before the response was complete."""

    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    whole: bool = False
    cut: bool = False

    @property
    def text(self) -> str:
        return self.body.decode()

    def all(self, name: str) -> list[str]:
        return [value for known, value in self.headers if known.lower() == name.lower()]

    def get(self, name: str) -> str:
        return next(iter(self.all(name)), "")


@dataclass
class Browser:
    """A browser with cookies.

    `inner` receives the requests to other hosts. `waiting` is set while the browser does not
    read.
    """

    application: ProxyApplication
    host: str = ""
    cookies: dict[str, str] = field(default_factory=dict)

    async def go(self, url: str) -> Answer:
        """Follow a link to the URL."""
        parts = urlsplit(url)
        self.host = parts.netloc
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        return await self.get(path, **LINK)

    async def get(self, path: str, **headers: Any) -> Answer:
        return await self.send("GET", path, **headers)

    async def send(self, method: str, path: str, body: bytes = b"", **headers: Any) -> Answer:
        answer = Answer()
        await self.begin(answer, method, path, body, **headers)
        return answer

    def begin(
        self,
        answer: Answer,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        gone: asyncio.Event | None = None,
        flow: Flow | None = None,
        **headers: Any,
    ) -> "asyncio.Task[None]":
        """Send a request and wait for the response, or until `gone` is set."""
        scope = self._scope(method, path, headers)
        found = flow or Flow()
        found.abort = lambda: setattr(answer, "cut", True)
        scope["extensions"] = {EXTENSION: found}
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict[str, Any]:
            if messages:
                return messages.pop()
            await (gone or asyncio.Event()).wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                answer.status = message["status"]
                answer.headers = [(n.decode(), v.decode()) for n, v in message["headers"]]
                self._keep(answer)
            else:
                answer.body += message["body"]
                answer.whole = not message.get("more_body")

        return asyncio.create_task(self.application(scope, receive, send))

    def request(self, method: str, path: str, **headers: Any) -> ApplicationCommunicator:
        """Start a request whose messages the test sends."""
        return ApplicationCommunicator(self.application, self._scope(method, path, headers))

    def connect(self, path: str, *protocols: str, **headers: Any) -> ApplicationCommunicator:
        """Open a websocket from the port's own page unless the headers say otherwise."""
        given = {"origin": f"https://{self.host}", **headers}
        scope = {**self._scope("GET", path, given), "type": "websocket"}
        scope["subprotocols"] = list(protocols)
        return ApplicationCommunicator(self.application, scope)

    def _scope(self, method: str, path: str, headers: dict[str, str]) -> dict[str, Any]:
        raw_path, _mark, query = path.partition("?")
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        raw = [(b"host", self.host.encode())]
        raw += [(name.encode(), value.encode("latin-1")) for name, value in named.items()]
        if self.cookies and "cookie" not in named:
            pairs = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
            raw.append((b"cookie", pairs.encode()))
        return {
            "type": "http",
            "method": method,
            "path": raw_path,
            "raw_path": raw_path.encode("latin-1"),
            "query_string": query.encode(),
            "headers": raw,
        }

    def _keep(self, answer: Answer) -> None:
        for text in answer.all("set-cookie"):
            name, _equals, value = text.partition(";")[0].partition("=")
            self.cookies[name] = value
