"""An open list page and the websocket of its viewer."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from pytest_django import Settings

from console.kube.gvr import NAMESPACES, PODS, ROLE_BINDINGS
from console.kube.host_runtime import get_runtime
from console.kube.informer import Informer
from console.live.consumer import LiveConsumer
from console.live.flow import EXTENSION, Flow
from console.live.limits import SocketCap
from console.live.listview import ListView
from console.live.scheduler import Scheduler
from console.routing import websocket_application
from console.ui.lists.selection import ListQuery
from console.ui.lists.table import Table, build_table
from console.ui.navigation.page_routes import resolve_list
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.support.informers import preloaded
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess, namespace, small_world

URL = "/clusters/host/pods"
#: Seconds within which a frame must arrive, even on a busy machine.
TIMEOUT = 5.0
#: Seconds without a frame that count as silence; many times the duration of a flush in these tests.
QUIET = 0.2


@pytest.fixture(autouse=True)
def _site(settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.views.urls"
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scheduler, "flush_seconds", 0.01)
    monkeypatch.setattr(ListView, "arrange_seconds", 0.01)
    monkeypatch.setattr(LiveConsumer, "cap", SocketCap())


@pytest.fixture
def pods() -> Informer[Any]:
    return preloaded(PODS, small_world())


@pytest.fixture
def bindings() -> Informer[Any]:
    return preloaded(ROLE_BINDINGS)


@pytest.fixture(autouse=True)
def runtime(pods: Informer[Any], bindings: Informer[Any]) -> Iterator[StaticRuntime]:
    namespaces = preloaded(NAMESPACES, [namespace("shop")])
    found = StaticRuntime({PODS: pods, NAMESPACES: namespaces, ROLE_BINDINGS: bindings})
    set_host_cluster(found)
    yield found
    unset_host_cluster()


class Session:
    """The viewer's session: signed in or not, with a counter of the checks."""

    def __init__(self) -> None:
        self.alive = True
        self.asked = 0

    async def __call__(self) -> bool:
        self.asked += 1
        return self.alive


class Browser:
    """The client side of a live websocket, with the behavior of the page's script."""

    def __init__(
        self, access: FakeAccess | None, session: Session | None = None, language: str = "en"
    ) -> None:
        self.access = access
        self.flow = Flow()
        self.session = session or Session()
        self._socket = WebsocketCommunicator(websocket_application, "/ws/live")
        self._socket.scope["account"] = access.identity.name if access else None
        self._socket.scope["access_in"] = (lambda _cluster: access) if access else None
        self._socket.scope["session_alive"] = self.session
        self._socket.scope["language"] = language
        self._socket.scope["extensions"] = {EXTENSION: self.flow}

    async def connect(self) -> bool:
        connected, _subprotocol = await self._socket.connect(timeout=TIMEOUT)
        return bool(connected)

    async def say(self, text: str) -> None:
        await self._socket.send_input({"type": "websocket.receive", "text": text})

    async def subscribe(self, url: str = URL, etag: str | None = None, lang: str = "en") -> None:
        """Subscribe with the etag of the current page unless another one is given."""
        found = etag if etag is not None else self.page(url).etag
        await self.say(json.dumps({"subscribe": url, "etag": found, "lang": lang}))

    async def return_with(self, table: Table) -> None:
        """Subscribe with the rows of `table`."""
        shown = [(row.key, row.signature) for row in table.rows]
        message = {"subscribe": table.url, "etag": table.etag, "lang": "en", "rows": shown}
        await self.say(json.dumps(message))

    def page(self, url: str = URL) -> Table:
        """Return the list that the page would show now."""
        assert self.access is not None
        place = resolve_list(url)
        assert place is not None
        return build_table(ListQuery.of(place.spec, self.access), get_runtime().informer(PODS))

    async def html(self) -> str:
        frame = await self.frame()
        assert not frame.startswith("{"), frame
        return frame

    async def control(self) -> dict[str, Any]:
        frame = await self.frame()
        assert frame.startswith("{"), frame
        found: dict[str, Any] = json.loads(frame)
        return found

    async def frame(self) -> str:
        return str(await self._socket.receive_from(timeout=TIMEOUT))

    async def closed(self) -> int:
        """Return the close code."""
        message = await self._socket.receive_output(timeout=TIMEOUT)
        assert message["type"] == "websocket.close", message
        return int(message["code"])

    async def quiet(self) -> bool:
        return bool(await self._socket.receive_nothing(timeout=QUIET))

    def stop_reading(self) -> None:
        self.flow.clogged = True

    def read_on(self) -> None:
        self.flow.clogged = False
        self.flow.on_clear()

    async def leave(self) -> None:
        await self._socket.disconnect(timeout=TIMEOUT)


class Browsers:
    def __init__(self) -> None:
        self.open: list[Browser] = []

    async def __call__(self, access: FakeAccess | None, session: Session | None = None) -> Browser:
        """Return a browser with an open websocket."""
        browser = Browser(access, session)
        assert await browser.connect()
        self.open.append(browser)
        return browser


@pytest.fixture
async def browsers() -> AsyncIterator[Browsers]:
    found = Browsers()
    yield found
    for browser in found.open:
        await browser.leave()
