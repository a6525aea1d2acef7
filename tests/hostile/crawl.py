"""Somebody who opens every page there is, and looks at what the browser made of it."""

from urllib.parse import urlsplit

from django.urls import Resolver404, resolve
from playwright.async_api import BrowserContext, Dialog, Page, Request, WebSocket

from tests.hostile.exports import wrong_exports
from tests.hostile.scan import LISTEN, Scanner


class Visitor:
    """One tab. `problems`: what was wrong, and where; `links`: the pages that were offered;
    `answers`: status by path."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.problems: list[str] = []
        self.links: set[str] = set()
        self.answers: dict[str, int] = {}
        self.pages = self.frames = 0
        self._scan = Scanner()
        page.on("dialog", self._dialog)
        page.on("pageerror", lambda error: self.note(f"error in a script: {error}"))
        page.on("console", lambda message: self._console(message.text))
        page.on("request", self._request)
        page.on("popup", lambda _page: self.note("a window of its own"))
        page.on("download", lambda _file: self.note("a download"))
        page.on("websocket", self._websocket)

    @classmethod
    async def arrive(cls, context: BrowserContext, url: str) -> "Visitor":
        await context.add_init_script(LISTEN)
        return cls(await context.new_page(), url)

    async def sign_in(self, password: str) -> None:
        await self.page.goto(self.url + "/login")
        await self.page.fill("input[name=username]", "admin")
        await self.page.fill("input[name=password]", password)
        await self.page.click("button[type=submit]:not([form])")
        await self.page.wait_for_selector("#rail")

    async def open(self, path: str) -> int:
        """Opens a page and looks at it; the answer is its status."""
        response = await self.page.goto(self.url + path)
        assert response is not None
        if response.status >= 500:
            self.note(f"status {response.status}")
        await self.look()
        self.answers[path] = response.status
        return response.status

    async def look(self) -> None:
        self.pages += 1
        for problem in await self._scan(self.page):
            self.note(problem)
        found = await self.page.eval_on_selector_all(
            "a[href]", "all => all.map(a => new URL(a.getAttribute('href'), location).href)"
        )
        self.links |= {link for link in found if link.startswith(self.url + "/")}

    async def exports(self, path: str) -> None:
        for problem in await wrong_exports(self.page.context, self.url + path):
            self.problems.append(f"{path}\n    {problem}")

    async def choose_all(self) -> None:
        """Asks for the deletion of all rows of the list that is open."""
        if await self.page.query_selector("#tick-all"):
            await self.page.check("#tick-all")
            await self.page.click("#bulk button[type=submit]")
            await self.page.wait_for_url("**/bulk/**")
            await self.look()
            if not await self.page.query_selector("input[name=targets]"):
                self.note("nothing would be deleted")

    async def wait_for(self, script: str, *given: object, seconds: float = 20) -> None:
        await self.page.wait_for_function(script, arg=list(given), timeout=seconds * 1000)

    def note(self, problem: str) -> None:
        self.problems.append(f"{self.page.url.removeprefix(self.url)[:160]}\n    {problem}")

    async def _dialog(self, dialog: Dialog) -> None:
        self.note("a dialog")
        await dialog.dismiss()

    def _console(self, text: str) -> None:
        if "Content Security Policy" in text or "zqx" in text and "Failed to load" not in text:
            self.note(f"console: {text[:300]}")

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        own = request.url.startswith((self.url + "/", "data:image/svg+xml"))
        if not own or parts.path.startswith("/zqx"):
            self.note(f"a request to {request.url[:200]}")

    def _websocket(self, socket: WebSocket) -> None:
        if urlsplit(socket.url).netloc != urlsplit(self.url).netloc:
            self.note(f"a socket to {socket.url}")
        socket.on("framereceived", lambda _frame: self._count())

    def _count(self) -> None:
        self.frames += 1


def sort_of(link: str) -> tuple[object, ...] | None:
    """Pages of the same sort are made by the same templates; None for what is no page."""
    parts = urlsplit(link)
    try:
        match = resolve(parts.path)
    except Resolver404:
        return None
    names = tuple(sorted({pair.partition("=")[0] for pair in parts.query.split("&")}))
    if "format" in names:
        return None
    return (match.view_name, match.kwargs.get("tab", ""), names)
