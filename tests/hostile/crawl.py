"""A visitor that opens every page and checks how the browser interpreted it."""

from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from django.urls import Resolver404, resolve
from playwright.async_api import BrowserContext, Dialog, Page, Request, WebSocket

from tests.hostile.exports import FORMS, wrong_exports
from tests.hostile.scan import LISTEN, Scanned, Scanner


class Visitor:
    """One browser tab.

    `problems`: findings with their page; `links`: URLs that were found; `answers`: status by
    path; `opened`: paths that were opened in the tab and not only fetched; `rows` and `parts`:
    number of frames with rows of a list or parts of a detail page.
    """

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.problems: list[str] = []
        self.links: set[str] = set()
        self.answers: dict[str, int] = {}
        self.opened: set[str] = set()
        self.pages = self.rows = self.parts = 0
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
        """Open a page, scan it, and return its status."""
        response = await self.page.goto(self.url + path)
        assert response is not None
        if response.status >= 500:
            self.note(f"status {response.status}")
        await self.look()
        self.opened.add(path)
        self.answers[path] = response.status
        return response.status

    async def look(self) -> None:
        self._take(await self._scan(self.page))

    async def glance(self, path: str) -> int:
        """Fetch a page without opening it, and scan how this browser parses its HTML, without
        running it. Used for further pages of templates that were already opened. Return the
        status, or 0 if the response is not a page.
        """
        for _attempt in range(3):
            response = await self.page.context.request.get(self.url + path)
            # A list that is read with the user's identity may still be loading and returns 503.
            if response.status != 503:
                break
        if response.status >= 500:
            self.note(f"status {response.status}", path)
        self.answers[path] = response.status
        if "text/html" not in response.headers.get("content-type", ""):
            return 0
        text = await response.text()
        self._take(await self._scan(self.page, self.url + path, text), path)
        return response.status

    def _take(self, scanned: Scanned, path: str = "") -> None:
        self.pages += 1
        for problem in scanned["found"]:
            self.note(problem, path)
        self.links |= {link for link in scanned["links"] if link.startswith(self.url + "/")}

    async def exports(self, path: str, forms: Sequence[str] = FORMS) -> None:
        for problem in await wrong_exports(self.page.context, self.url + path, forms):
            self.note(problem, path)

    async def choose_all(self) -> None:
        """Select all rows of the open list and request their deletion."""
        if await self.page.query_selector("#tick-all"):
            await self.page.check("#tick-all")
            await self.page.click("#bulk button[type=submit]")
            await self.page.wait_for_url("**/bulk/**")
            await self.look()
            if not await self.page.query_selector("input[name=targets]"):
                self.note("nothing would be deleted")

    async def type_text(self, change: Callable[[str], str]) -> None:
        """Change the text in the editor's plain-text mode."""
        area = self.page.locator("textarea[name=text]")
        await self.page.click("[data-editor-act=plain]")
        await area.fill(change(await area.input_value()))

    async def press(self, step: str, there: str) -> None:
        """Submit the form, wait for the element `there`, and scan the page."""
        async with self.page.expect_navigation():
            await self.page.click(f"button[name=step][value={step}]")
        await self.page.wait_for_selector(there)
        await self.look()

    async def wait_for(self, script: str, *given: object, seconds: float = 60) -> None:
        await self.page.wait_for_function(script, arg=list(given), timeout=seconds * 1000)

    def note(self, problem: str, path: str = "") -> None:
        where = path or self.page.url.removeprefix(self.url)
        self.problems.append(f"{where[:160]}\n    {problem}")

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
        socket.on("framereceived", lambda frame: self._count(str(frame)))

    def _count(self, frame: str) -> None:
        self.rows += frame.lstrip().startswith("<tr ")
        self.parts += "data-part" in frame


def sort_of(link: str) -> frozenset[tuple[str, str, str]]:
    """Return the view, the tab, and each query parameter of a URL, which together identify its
    templates. Return an empty set if the URL is not a page.
    """
    parts = urlsplit(link)
    try:
        match = resolve(parts.path)
    except Resolver404:
        return frozenset()
    names = {pair.partition("=")[0] for pair in parts.query.split("&")}
    if "format" in names:
        return frozenset()
    return frozenset((match.view_name, match.kwargs.get("tab", ""), name) for name in names)
