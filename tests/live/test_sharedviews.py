"""Sharing of views between websockets with equal content, and isolation between different viewers."""

import asyncio
import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from console.kube.gvr import NAMESPACES, PODS, ROLE_BINDINGS
from console.kube.informer import Freshness, Informer
from console.kube.projections import DECODERS
from console.live.consumer import LiveConsumer
from console.live.counters import counters
from console.live.frames import rows_frame
from console.live.sessionmonitor import get_session_monitor
from console.live.sharedview import SharedView
from console.live.sharedviews import get_shared_views
from console.live.view import ClientState
from console.ui.core.access import Access
from console.ui.core.clusters import Cluster
from console.ui.lists.selection import ListQuery
from console.ui.lists.table import build_table
from console.ui.navigation.page_routes import resolve_list
from rbac.process_clusters import set_host_cluster
from tests.live.conftest import URL, Browser, Browsers
from tests.support.informers import bring, preloaded, take_away
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess, admin, alice, namespace, pod, small_world


class Calls:
    """Count the calls of a function and pass them on."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, where: str, real: Callable[..., Any]
    ) -> None:
        self.count = 0
        self._real = real
        monkeypatch.setattr(where, self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.count += 1
        return self._real(*args, **kwargs)


async def followers(browsers: Browsers, count: int, url: str = URL) -> list[Browser]:
    found = [await browsers(admin()) for _ in range(count)]
    for browser in found:
        await browser.subscribe(url)
        assert 'id="freshness"' in await browser.html()
    for browser in found:
        assert await browser.quiet()
    return found


async def test_shared_view_is_computed_and_rendered_once(
    browsers: Browsers, pods: Informer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    several = await followers(browsers, 5)
    assert len(get_shared_views()) == 1
    tables = Calls(monkeypatch, "console.live.listview.build_table", build_table)
    drawn = Calls(monkeypatch, "console.live.frames.rows_frame", rows_frame)
    bring(pods, pod("web-1", restarts=8))
    frames = [await browser.html() for browser in several]
    assert 'data-key="shop/web-1"' in frames[0]
    # The same string object, which the server encodes only once.
    assert all(frame is frames[0] for frame in frames)
    assert (tables.count, drawn.count) == (1, 1)


async def test_different_lists_languages_and_permissions_are_not_shared(browsers: Browsers) -> None:
    for query in ("", "?sort=name", "?limit=20"):
        await (await browsers(admin())).subscribe(URL + query)
    for lang in ("en", "zh-Hans"):
        await (await browsers(alice())).subscribe(lang=lang)
    for browser in browsers.open:
        await browser.frame()
    assert len(get_shared_views()) == 5
    # The same list with a differently written query.
    other = await browsers(admin())
    await other.subscribe(f"{URL}?page=1&limit=50")
    await other.frame()
    assert len(get_shared_views()) == 5


async def test_changed_permissions_move_a_viewer_to_another_shared_view(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    [stays] = await followers(browsers, 1)
    access = FakeAccess("alice", get_in=None)
    moves = await browsers(access)
    await moves.subscribe()
    await moves.frame()
    assert len(get_shared_views()) == 1
    access.list_in = {"team-a"}
    bring(pods, pod("web-1", restarts=70))
    bring(pods, pod("api-1", "team-a", restarts=71))
    seen = []
    while not (frame := await moves.frame()).startswith('{"order"'):
        seen.append(frame)
    assert "team-a/api-1" in "".join(seen)
    assert "<td" not in "".join(frame for frame in seen if "shop/web-1" in frame)
    assert "shop/web-1" in await stays.html()
    assert len(get_shared_views()) == 2


async def test_frame_is_held_back_if_permissions_change_while_it_is_rendered(
    browsers: Browsers, pods: Informer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table is computed with one viewer's permissions, which are extended during the
    computation. The additional rows must not reach the other viewers of the shared view.
    """
    narrow = [FakeAccess(f"user-{n}", list_in={"team-a"}, delete_in=()) for n in range(2)]
    first, second = [await browsers(access) for access in narrow]
    for browser in (first, second):
        await browser.subscribe()
        await browser.frame()
        assert await browser.quiet()

    def grown(*args: Any) -> Any:
        monkeypatch.setattr("console.live.listview.build_table", build_table)
        narrow[0].list_in = {"team-a", "shop"}
        return build_table(*args)

    monkeypatch.setattr("console.live.listview.build_table", grown)
    bring(pods, pod("api-1", "team-a", waiting="ImagePullBackOff", restarts=71))
    assert 'data-key="shop/web-1"' in await first.html()
    found = [await second.frame() for _ in range(4)]
    assert "team-a/api-1" in found[0]
    assert ['id="summary"' in found[1], 'id="pager"' in found[2]] == [True, True]
    assert found[3].startswith('{"total"')
    assert "shop/" not in "".join(found)
    assert await second.quiet()


async def test_slow_websocket_receives_one_refresh_instead_of_frames(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    slow, other = await followers(browsers, 2)
    told = counters.refreshes
    slow.stop_reading()
    for restarts in range(20, 25):
        bring(pods, pod("web-1", restarts=restarts))
        assert f">{restarts}<" in await other.html()
    slow.read_on()
    assert await slow.control() == {"refresh": True}
    assert counters.refreshes == told + 1
    # Waits until the browser sends its new state.
    bring(pods, pod("web-1", restarts=30))
    assert ">30<" in await other.html()
    assert await slow.quiet()
    await slow.subscribe()
    assert 'id="freshness"' in await slow.html()
    bring(pods, pod("web-1", restarts=31))
    assert ">31<" in await slow.html()


async def test_slow_websocket_that_missed_nothing_receives_nothing(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    [slow] = await followers(browsers, 1)
    slow.stop_reading()
    slow.read_on()
    assert await slow.quiet()
    bring(pods, pod("web-1", restarts=30))
    assert ">30<" in await slow.html()


async def test_slow_websocket_that_joins_receives_a_refresh_once_it_reads(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    slow = await browsers(admin())
    slow.stop_reading()
    had = slow.page()
    bring(pods, pod("web-1", restarts=30))
    await slow.return_with(had)
    assert await slow.quiet()
    slow.read_on()
    assert await slow.control() == {"refresh": True}


class Watcher:
    """A websocket that calls a function when it receives a message."""

    clogged = False

    def __init__(self) -> None:
        self._access = admin()
        self.shared_view: SharedView | None = None
        self.told: list[str] = []
        self.then: Callable[[], object] = list

    def access_in(self, cluster: Cluster) -> Access:
        return self._access

    async def send_message(self, message: dict[str, Any]) -> None:
        self.told.append(message["text"])
        self.then()

    async def fail(self, error: Exception) -> None:
        raise error


@pytest.mark.parametrize("again", [False, True])
async def test_ended_subscription_receives_no_further_frames(
    pods: Informer[Any], again: bool
) -> None:
    place = resolve_list(URL)
    assert place is not None
    shared_views, first, second = get_shared_views(), Watcher(), Watcher()
    known = ClientState(build_table(ListQuery.of(place.spec, admin()), pods).etag)
    for watcher in (first, second):
        shared_views.join_view(watcher, place, "en", known)
    shared = first.shared_view
    assert shared is not None
    assert shared is second.shared_view
    await shared.flush()

    def change_the_list() -> None:
        """Simulate a client message that arrives while frames are sent."""
        if again:
            shared_views.join_view(second, place, "en", known)
        else:
            shared_views.leave(second)

    first.then = change_the_list
    bring(pods, pod("web-1", restarts=30))
    async with asyncio.timeout(5):
        while not first.told:
            await asyncio.sleep(0.01)
    assert second.told == [] or (again and second.told == ['{"refresh":true}'])
    for watcher in (first, second):
        shared_views.leave(watcher)


async def test_failing_shared_view_closes_only_its_websockets(
    browsers: Browsers, pods: Informer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = await followers(browsers, 2)
    [other] = await followers(browsers, 1, URL + "?namespace=team-b")

    def broken(*args: object) -> object:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("console.live.listview.row_of", broken)
    take_away(pods, pod("web-2"))
    for browser in pair:
        error = await browser.control()
        assert error["error"]["code"] == 500
        assert "secret" not in str(error)
        assert await browser.closed() == 1013
    bring(pods, pod("web-1", "team-b", restarts=13))
    assert ">13<" in await other.html()


async def test_refused_websocket_cannot_subscribe_again(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    access = admin()
    browser = await browsers(access)
    await browser.subscribe()
    await browser.frame()
    access.list_in = ()
    bring(pods, pod("web-1", restarts=5))
    assert (await browser.control())["error"]["code"] == 403
    assert await browser.closed() == 4403
    access.list_in = None
    await browser.subscribe()
    assert await browser.quiet()
    assert len(get_shared_views()) == 0


async def test_resources_are_released_when_all_viewers_left(
    pods: Informer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = counters.sockets
    found = [Browser(admin()) for _ in range(3)]
    for browser in found:
        await browser.connect()
        await browser.subscribe()
        await browser.frame()
    assert counters.sockets == before + 3
    for browser in found:
        await browser.leave()
    assert counters.sockets == before
    assert (len(get_shared_views()), len(pods._listeners)) == (0, 0)
    assert get_session_monitor()._checking is None
    assert LiveConsumer.cap.open("admin") == 0


class Arriving(Informer[Any]):
    """An informer that syncs between two reads of its state, like on the cluster core's thread."""

    looks = 0
    arrives_at = 0
    _freshness: Freshness

    @property
    def freshness(self) -> Freshness:
        self.looks += 1
        if self.looks == self.arrives_at:
            self.replace([msgspec.Raw(msgspec.json.encode(one)) for one in small_world()], "1")
            self.connected()
        return self._freshness

    @freshness.setter
    def freshness(self, found: Freshness) -> None:
        self._freshness = found


def use_pods(pods: Informer[Any]) -> None:
    namespaces = preloaded(NAMESPACES, [namespace("shop")])
    bindings = preloaded(ROLE_BINDINGS)
    set_host_cluster(StaticRuntime({PODS: pods, NAMESPACES: namespaces, ROLE_BINDINGS: bindings}))


async def test_viewers_waiting_for_the_first_list_see_why_it_is_missing(
    browsers: Browsers,
) -> None:
    pods: Informer[Any] = Informer(PODS, DECODERS[PODS])
    use_pods(pods)
    several = [await browsers(admin()) for _ in range(2)]
    for browser in several:
        await browser.subscribe(etag="of before")
        assert 'data-state="off"' in await browser.html()
        assert await browser.quiet()
    pods.disconnected("The cluster is away")
    for browser in several:
        assert 'data-problem="The cluster is away"' in await browser.html()
        assert await browser.quiet()


@pytest.mark.parametrize("url", [URL, "/clusters/host/projects/shop/pods/web-1"])
@pytest.mark.parametrize("at", range(1, 8))
async def test_viewers_are_notified_of_the_first_list_regardless_of_timing(
    browsers: Browsers, url: str, at: int
) -> None:
    pods: Arriving = Arriving(PODS, DECODERS[PODS])
    use_pods(pods)
    browser = await browsers(admin())
    pods.arrives_at = pods.looks + at
    await browser.subscribe(url, etag="of before")
    states: list[str] = []
    while not await browser.quiet():
        states += re.findall(r'id="freshness" data-state="(\w+)"', await browser.frame())
    assert pods.looks >= pods.arrives_at
    assert states[-1:] == ["live"]
