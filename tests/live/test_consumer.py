"""The live websocket, tested in-process."""

from datetime import UTC, datetime
from typing import Any

from django.template.loader import render_to_string
from django.utils import translation

from console.kube.gvr import PODS
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.live.sharedviews import get_shared_views
from console.ui.lists.selection import ListQuery
from console.ui.lists.table import build_table
from console.ui.navigation.page_routes import resolve_list
from rbac.process_clusters import set_host_cluster
from tests.live.conftest import URL, Browsers
from tests.support.informers import bring, set_stale, take_away
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import admin, pod


def row_html(informer: Informer[Any], key: str, lang: str = "en") -> str:
    """Return the row as rendered on the page."""
    place = resolve_list(URL)
    assert place is not None
    with translation.override(lang):
        table = build_table(ListQuery.of(place.spec, admin()), informer)
        row = next(row for row in table.rows if row.key == key)
        return render_to_string("ui/_row.html", {"row": row})


async def test_changed_row_is_sent_as_rendered_on_the_page(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    browser = await browsers(admin())
    await browser.subscribe()
    assert 'id="freshness"' in await browser.html()
    assert await browser.quiet()
    bring(pods, pod("web-1", restarts=4, labels={"app": "web"}))
    frame = await browser.html()
    assert frame == row_html(pods, "shop/web-1")
    assert frame.count("<tr") == 1
    assert await browser.quiet()


async def test_change_without_visible_effect_sends_nothing(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    browser = await browsers(admin())
    await browser.subscribe("/clusters/host/pods?namespace=team-b")
    await browser.frame()
    unseen = pod("web-1", "team-b", restarts=12, image="registry.example/ledger:7")
    unseen["metadata"]["annotations"] = {"note": "x"}
    bring(pods, unseen)
    bring(pods, pod("new", "shop"))
    assert await browser.quiet()


async def test_new_pod_arrives_with_order_and_counts(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    browser = await browsers(admin())
    await browser.subscribe()
    await browser.frame()
    bring(pods, pod("web-3", waiting="CrashLoopBackOff"))
    assert await browser.html() == row_html(pods, "shop/web-3")
    assert 'id="summary"' in await browser.html()
    assert 'id="pager"' in await browser.html()
    page = browser.page()
    order = [row.key for row in page.rows]
    assert "shop/web-3" in order
    assert await browser.control() == {"order": order, "url": URL, "total": 7, "etag": page.etag}
    assert await browser.quiet()
    # It is now up to date and receives only the freshness.
    await browser.subscribe(etag=page.etag)
    assert 'id="freshness"' in await browser.html()
    assert await browser.quiet()


async def test_deleted_pod_is_removed(browsers: Browsers, pods: Informer[Any]) -> None:
    browser = await browsers(admin())
    await browser.subscribe()
    await browser.frame()
    take_away(pods, pod("web-2"))
    assert await browser.control() == {"gone": ["shop/web-2"]}
    assert 'id="summary"' in await browser.html()
    assert 'id="pager"' in await browser.html()
    page = browser.page()
    order = [row.key for row in page.rows]
    assert await browser.control() == {"order": order, "url": URL, "total": 5, "etag": page.etag}


async def test_rows_are_updated_in_place_while_the_user_holds_the_list(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    """While the pointer is over the table the script doesn't fetch the list, but the rows shown
    must not go stale.
    """
    browser = await browsers(admin())
    await browser.subscribe()
    await browser.frame()
    take_away(pods, pod("web-2"))
    while not (await browser.frame()).startswith('{"order"'):
        pass
    bring(pods, pod("web-1", restarts=99))
    assert await browser.html() == row_html(pods, "shop/web-1")
    assert await browser.quiet()


async def test_changed_order_is_sent(browsers: Browsers, pods: Informer[Any]) -> None:
    browser = await browsers(admin())
    await browser.subscribe()
    await browser.frame()
    bring(pods, pod("web-1", waiting="CrashLoopBackOff"))
    assert await browser.html() == row_html(pods, "shop/web-1")
    assert 'id="summary"' in await browser.html()
    order = [row.key for row in browser.page().rows]
    assert (await browser.control())["order"] == order


async def test_outdated_etag_triggers_a_refresh(browsers: Browsers, pods: Informer[Any]) -> None:
    browser = await browsers(admin())
    etag = browser.page().etag
    bring(pods, pod("web-1", restarts=50))
    await browser.subscribe(etag=etag)
    assert 'id="freshness"' in await browser.html()
    assert await browser.control() == {"refresh": True}
    # The server doesn't know the rows of this client until it subscribes again.
    bring(pods, pod("web-1", restarts=51))
    assert await browser.quiet()


async def test_client_that_sends_its_rows_receives_only_the_difference(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    browser = await browsers(admin())
    had = browser.page()
    bring(pods, pod("web-1", restarts=50))
    bring(pods, pod("web-3", restarts=1))
    take_away(pods, pod("web-2"))
    await browser.return_with(had)
    assert 'id="freshness"' in await browser.html()
    frame = await browser.html()
    assert row_html(pods, "shop/web-1") in frame
    assert row_html(pods, "shop/web-3") in frame
    assert frame.count("<tr") == 2
    assert await browser.control() == {"gone": ["shop/web-2"]}
    assert 'id="summary"' in await browser.html()
    assert 'id="pager"' in await browser.html()
    assert (await browser.control())["etag"] == browser.page().etag
    # It receives later changes.
    bring(pods, pod("web-1", restarts=51))
    assert await browser.html() == row_html(pods, "shop/web-1")


async def test_hidden_page_receives_nothing_until_it_returns(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    browser = await browsers(admin())
    await browser.subscribe()
    await browser.frame()
    had = browser.page()
    await browser.say('{"pause": true}')
    assert await browser.quiet()
    assert (len(pods._listeners), len(get_shared_views())) == (0, 0)
    bring(pods, pod("web-1", restarts=50))
    set_stale(pods, datetime(2026, 11, 21, 10, 12, tzinfo=UTC))
    assert await browser.quiet()
    await browser.return_with(had)
    assert 'data-state="stale"' in await browser.html()
    assert await browser.html() == row_html(pods, "shop/web-1")


async def test_frames_use_the_language_of_the_page(browsers: Browsers, pods: Informer[Any]) -> None:
    browser = await browsers(admin())
    await browser.subscribe(lang="zh-Hans")
    await browser.frame()
    bring(pods, pod("web-1", restarts=5))
    assert await browser.html() == row_html(pods, "shop/web-1", "zh-hans")


async def test_connection_state_is_sent_when_stale_and_live_again(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    browser = await browsers(admin())
    await browser.subscribe()
    assert 'data-state="live"' in await browser.html()
    set_stale(pods, datetime(2026, 11, 21, 10, 12, tzinfo=UTC), "connection refused")
    frame = await browser.html()
    assert 'data-state="stale"' in frame
    assert 'data-since="2026-11-21T10:12:00+00:00"' in frame
    assert await browser.quiet()
    set_stale(pods, None)
    assert 'data-state="live"' in await browser.html()


async def test_unsynced_list_refreshes_when_it_is_loaded(browsers: Browsers) -> None:
    cold: Informer[Any] = Informer(PODS, DECODERS[PODS])
    set_host_cluster(StaticRuntime({PODS: cold}))
    browser = await browsers(admin())
    await browser.subscribe(etag="")
    assert 'data-state="off"' in await browser.html()
    assert await browser.quiet()
    cold.replace([], "5")
    cold.connected()
    assert 'data-state="live"' in await browser.html()
    assert (await browser.control())["refresh"] is True
