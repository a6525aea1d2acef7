"""The connection between the proxy and kube-apiserver."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.proxying.browsing import Browser, Person
from tests.proxying.headers import CANARY, FORBIDDEN_REQUEST_HEADERS

Program = Callable[[web.Request], Awaitable[web.StreamResponse]]
PREFIX = "/api/v1/namespaces/shop/pods/web-1:80/proxy"
#: Headers sent by a browser that the program must not receive.
BROWSERS = {
    name.lower(): CANARY
    for name in FORBIDDEN_REQUEST_HEADERS
    if name not in ("Host", "Origin", "Sec-Fetch-Site")
}


@dataclass
class Wire:
    """A fake kube-apiserver at `url`, and a server at `elsewhere` that must not receive requests."""

    browser: Browser
    person: Person
    url: str = ""
    elsewhere: str = ""
    program: Program | None = None
    seen: list[web.Request] = field(default_factory=list)
    strayed: list[web.Request] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(request)
        self.bodies.append(await request.read())
        assert self.program is not None
        return await self.program(request)

    async def stray(self, request: web.Request) -> web.Response:
        self.strayed.append(request)
        return web.Response(text="elsewhere")

    def says(self, text: str = "", **options: Any) -> None:
        async def program(request: web.Request) -> web.Response:
            return web.Response(text=text, **options)

        self.program = program
