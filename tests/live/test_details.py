"""Messages to the websockets of an open detail page."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from console.kube.gvr import EVENTS, PODS, ROLE_BINDINGS, Key
from console.kube.informer import Informer
from console.live.detailview import DetailView
from console.live.mailbox import Mail
from console.live.sharedviews import get_shared_views
from console.live.view import ClientState
from console.ui.core.permissions import Denied
from console.ui.details.detail import start_informers
from console.ui.navigation.page_routes import DetailRoute, resolve_page
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.live.conftest import Browser, Browsers
from tests.support.events import event
from tests.support.informers import bring, preloaded, take_away
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess, admin, alice, charlie, pod

URL = "/clusters/host/projects/shop/pods/web-1"
OWN = Mail(keys=frozenset({Key("shop", "web-1")}))
OTHER = Mail(keys=frozenset({Key("shop", "web-2")}))
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def events() -> Informer[Any]:
    return preloaded(EVENTS)


@pytest.fixture(autouse=True)
def runtime(pods: Informer[Any], bindings: Informer[Any], events: Informer[Any]) -> Any:
    found = StaticRuntime({PODS: pods, EVENTS: events, ROLE_BINDINGS: bindings})
    set_host_cluster(found)
    yield found
    unset_host_cluster()


def place_of(url: str = URL) -> DetailRoute:
    place = resolve_page(url)
    assert isinstance(place, DetailRoute)
    return place


def opened(pods: Informer[Any], url: str = URL) -> DetailView:
    """Return an open detail page whose viewers have its current parts."""
    place = place_of(url)
    view = DetailView(place, "en", pods, start_informers(place.needs, admin()), now=lambda: NOON)
    assert view.update(Mail(), admin(), anew=True) == []
    return view


def ids(frames: list[str]) -> set[str]:
    return {
        part
        for frame in frames
        for part in ("detail-gone", "detail-head", "panel-cause", "panel-summary", "panel-latest",
                     "panel-containers", "panel-conditions", "panel-metadata", "panel-events",
                     "panel-yaml")
        if f'id="{part}"' in frame
    }  # fmt: skip


def test_only_changed_parts_are_sent(pods: Informer[Any]) -> None:
    view = opened(pods)
    assert view.update(OWN, admin()) == []
    bring(pods, pod("web-1", restarts=9, labels={"app": "web", "tier": "front"}))
    assert ids(view.update(OWN, admin())) == {"panel-summary", "panel-containers"}
    assert view.update(Mail(state=True), admin()) == []


def test_changes_of_other_objects_are_ignored(
    pods: Informer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    view = opened(pods)
    monkeypatch.setattr("console.live.detailview.detail", lambda *args, **kwargs: 1 / 0)
    bring(pods, pod("web-2", restarts=9))
    assert view.update(OTHER, admin()) == []


def test_panels_are_updated_when_their_types_change(
    pods: Informer[Any], events: Informer[Any]
) -> None:
    view = opened(pods)
    bring(events, event("e-1", "Pod/web-1", "uid-shop-web-1"))
    [frame] = view.update(Mail(types=frozenset({EVENTS})), admin())
    assert ids([frame]) == {"panel-latest"}
    assert "told by e-1" in frame
    bring(events, event("e-2", "Pod/web-2", "uid-shop-web-2"))
    assert view.update(Mail(types=frozenset({EVENTS})), admin()) == []


def test_deleted_object_shows_its_last_state_with_a_notice(pods: Informer[Any]) -> None:
    view = opened(pods)
    take_away(pods, pod("web-1"))
    [frame] = view.update(OWN, admin())
    assert ids([frame]) == {"detail-gone"}
    assert 'datetime="2026-11-20T12:00:00+00:00"' in frame
    assert 'href="/clusters/host/pods?namespace=shop"' in frame
    assert " hidden>" not in frame
    # The notice is sent once, with the time of the first detection.
    assert view.update(OWN, admin()) == []
    bring(pods, pod("web-1", uid="another", labels={"app": "web", "tier": "front"}, restarts=3))
    [frame] = view.update(OWN, admin())
    assert ids([frame]) == {"detail-gone", "panel-metadata"}


def test_returning_viewer_receives_the_deletion_notice(pods: Informer[Any]) -> None:
    had = opened(pods).client_state()
    take_away(pods, pod("web-1"))
    view = opened(pods)
    [frame] = view.catch_up(had, admin()) or []
    assert ids([frame]) == {"detail-gone"}
    assert "Deleted. This page shows the last known state." in frame
    assert view.catch_up(ClientState("old"), admin()) is None


def test_returning_viewer_receives_only_changed_parts(pods: Informer[Any]) -> None:
    had = opened(pods).client_state()
    bring(pods, pod("web-1", waiting="CrashLoopBackOff", labels={"app": "web", "tier": "front"}))
    view = opened(pods)
    found = ids(view.catch_up(had, admin()) or [])
    assert found == {
        "detail-head",
        "panel-cause",
        "panel-summary",
        "panel-containers",
        "panel-conditions",
    }
    assert view.catch_up(view.client_state(), admin()) == []


def test_changed_ages_alone_send_nothing(pods: Informer[Any]) -> None:
    view = opened(pods, f"{URL}/yaml")
    assert view.update(Mail(state=True, overflow=True), admin()) == []


def test_denied_viewer_gets_no_rendering(pods: Informer[Any]) -> None:
    view = opened(pods)
    for access in (charlie(), alice()):
        with pytest.raises(Denied):
            view.update(OWN, access)


# Tests through the websocket.


async def follower(browsers: Browsers, access: FakeAccess, url: str = URL) -> Browser:
    """Return a browser that subscribed without content and received all parts."""
    browser = await browsers(access)
    await browser.say(json.dumps({"subscribe": url, "etag": "", "lang": "en", "rows": []}))
    assert 'id="freshness"' in await browser.html()
    assert 'id="detail-head"' in await browser.html()
    return browser


async def test_viewers_with_equal_permissions_share_one_rendering(
    browsers: Browsers, pods: Informer[Any], events: Informer[Any]
) -> None:
    several = [await follower(browsers, admin()) for _ in range(3)]
    await follower(browsers, FakeAccess("bob", delete_in=()))
    assert len(get_shared_views()) == 2
    bring(events, event("e-1", "Pod/web-1", "uid-shop-web-1"))
    frames = [await browser.html() for browser in several]
    assert "told by e-1" in frames[0]
    assert all(frame is frames[0] for frame in frames)
    assert events.listeners == 1
    for browser in browsers.open:
        await browser.say('{"pause": true}')
    for browser in browsers.open:
        # The response arrives after the pause was processed.
        await browser.say("{}")
    while len(get_shared_views()):
        await browsers.open[-1].frame()
    assert events.listeners == 0


async def test_deleted_object_keeps_its_last_state_on_the_page(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    browser = await follower(browsers, admin())
    take_away(pods, pod("web-1"))
    frame = await browser.html()
    assert 'id="detail-gone"' in frame and "last known state" in frame


@pytest.mark.parametrize("name", ["web-1", "no-such-pod"])
async def test_losing_the_permission_closes_the_websocket(
    browsers: Browsers, pods: Informer[Any], bindings: Informer[Any], name: str
) -> None:
    access = FakeAccess("eve")
    browser = await browsers(access)
    url = f"/clusters/host/projects/shop/pods/{name}"
    await browser.say(json.dumps({"subscribe": url, "etag": "", "lang": "en", "rows": []}))
    await browser.frame()
    await browser.frame()
    access.list_in = ()
    bring(bindings, {"metadata": {"name": "b", "uid": "b", "resourceVersion": "9"}})
    assert (await browser.control())["error"]["code"] == 403
    assert await browser.closed() == 4403


@pytest.mark.parametrize("name", ["web-1", "no-such-pod"])
async def test_subscription_without_permission_is_refused(browsers: Browsers, name: str) -> None:
    browser = await browsers(charlie())
    await browser.say(
        json.dumps({"subscribe": f"/clusters/host/projects/shop/pods/{name}/yaml", "lang": "en"})
    )
    assert (await browser.control())["error"]["code"] == 403
    assert await browser.closed() == 4403


async def test_only_informers_the_viewer_may_list_are_started(runtime: StaticRuntime) -> None:
    nothing = FakeAccess("eve", list_in=())
    assert start_informers(place_of().needs, nothing) == {}
    assert set(start_informers(place_of().needs, admin())) == {EVENTS}
