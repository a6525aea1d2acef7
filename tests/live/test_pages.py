"""Live pages rendered as a whole: websockets request a refresh only if the content changed."""

import json
from typing import Any

import pytest
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.urls import path
from django.utils.translation import override
from pytest_django import Settings

from console.kube.gvr import GVR, NAMESPACES, PODS, Key
from console.kube.host_runtime import get_runtime
from console.kube.informer import Informer
from console.live.mailbox import Mail
from console.live.sharedviews import get_shared_views
from console.live.view import ClientState, PageView
from console.ui.core.access import Access
from console.ui.core.permissions import Denied
from console.ui.navigation.page_routes import LivePage, PageRoute, resolve_page
from console.views.page import page
from tests.live.conftest import Browser, Browsers
from tests.support.informers import bring, take_away
from tests.ui.support import FakeAccess, admin, charlie, namespace, pod

URL = "/restarts/web-1"
NEWS = Mail(keys=frozenset({Key("shop", "web-1")}))


def _types(params: QueryDict, name: str) -> tuple[GVR, ...]:
    if name == "none":
        raise Http404
    return (PODS, NAMESPACES)


def _check(access: Access, params: QueryDict, name: str) -> None:
    if not access.can("list", PODS, namespace="shop"):
        raise Denied("list", PODS, "shop")


def _look(access: Access, params: QueryDict, name: str) -> object:
    """Return the restart count of a pod, the only content of the page."""
    _check(access, params, name)
    entry = get_runtime().informer(PODS).store.get(Key("shop", name))
    if entry is None:
        raise Http404
    return {"restarts": entry.projection.restarts, "wide": params.get("wide")}


@page("GET", follows=LivePage(_types, _check, _look))
async def _page(request: HttpRequest, name: str) -> HttpResponse:
    return HttpResponse()


urlpatterns = [path("restarts/<str:name>", _page)]


@pytest.fixture(autouse=True)
def _pages(settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.live.test_pages"


def place_of(url: str = URL) -> PageRoute:
    place = resolve_page(url)
    assert isinstance(place, PageRoute)
    return place


def opened(pods: Informer[Any], url: str = URL) -> PageView:
    view = PageView(place_of(url), "en", pods, {})
    assert view.update(Mail(), admin(), anew=True) == []
    return view


def test_page_is_found_by_the_route_of_its_view() -> None:
    assert place_of().types == (PODS, NAMESPACES)
    assert resolve_page("/restarts/none") is None
    with override("en"):
        narrow, wide = place_of().etag(admin()), place_of(f"{URL}?wide=1").etag(admin())
    assert narrow != wide
    with override("zh-hans"):
        assert place_of().etag(admin()) != narrow


def test_refresh_is_requested_only_if_the_content_changed(pods: Informer[Any]) -> None:
    view = opened(pods)
    had = view.client_state()
    bring(pods, pod("web-1", restarts=3, labels={"new": "label"}))
    assert view.update(NEWS, admin()) == []
    assert not view.reshaped
    assert view.catch_up(had, admin()) == []
    bring(pods, pod("web-1", restarts=9))
    view.update(Mail(types=frozenset({NAMESPACES})), admin())
    assert view.reshaped
    assert view.catch_up(had, admin()) is None
    assert view.catch_up(ClientState(), admin()) is None
    view.update(Mail(), admin())
    assert not view.reshaped


@pytest.mark.parametrize("way", ["gone", "denied"])
def test_page_that_can_no_longer_be_shown_requests_a_refresh(pods: Informer[Any], way: str) -> None:
    view = opened(pods)
    if way == "gone":
        take_away(pods, pod("web-1"))
    view.update(NEWS, admin() if way == "gone" else charlie())
    assert view.reshaped


# Tests through the websocket.


async def follower(browsers: Browsers, access: FakeAccess) -> Browser:
    browser = await browsers(access)
    with override("en"):
        etag = place_of().etag(access)
    await browser.say(json.dumps({"subscribe": URL, "etag": etag, "lang": "en"}))
    assert 'id="freshness"' in await browser.html()
    assert await browser.quiet()
    return browser


async def test_change_on_the_page_triggers_a_refresh(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    browser = await follower(browsers, admin())
    bring(get_runtime().informer(NAMESPACES), namespace("other"))
    bring(pods, pod("web-2", restarts=7))
    assert await browser.quiet()
    bring(pods, pod("web-1", restarts=8))
    assert await browser.control() == {"refresh": True}
    # Waits until the browser sends its new state.
    bring(pods, pod("web-1", restarts=9))
    assert await browser.quiet()
    with override("en"):
        etag = place_of().etag(admin())
    await browser.say(json.dumps({"subscribe": URL, "etag": etag, "lang": "en"}))
    assert 'id="freshness"' in await browser.html()
    assert await browser.quiet()
    assert len(get_shared_views()) == 1


async def test_viewer_with_an_outdated_page_refreshes_immediately(browsers: Browsers) -> None:
    browser = await browsers(admin())
    await browser.say(json.dumps({"subscribe": URL, "etag": '"old"', "lang": "en"}))
    assert 'id="freshness"' in await browser.html()
    assert await browser.control() == {"refresh": True}


async def test_losing_the_permission_closes_the_websocket(
    browsers: Browsers, bindings: Informer[Any]
) -> None:
    access = FakeAccess("eve")
    browser = await follower(browsers, access)
    access.list_in = ()
    bring(bindings, {"metadata": {"name": "b", "uid": "b", "resourceVersion": "9"}})
    assert (await browser.control())["error"]["code"] == 403
    assert await browser.closed() == 4403


async def test_denied_viewer_is_not_subscribed(browsers: Browsers) -> None:
    browser = await browsers(charlie())
    await browser.say(json.dumps({"subscribe": URL, "etag": "", "lang": "en"}))
    assert (await browser.control())["error"]["code"] == 403
    assert await browser.closed() == 4403
    assert len(get_shared_views()) == 0
