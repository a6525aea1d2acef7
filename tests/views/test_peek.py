"""The peek panel of a list: its content, its permissions, and the URL of the list around it."""

from typing import Any
from urllib.parse import quote

import pytest

from console.kube.gvr import EVENTS, NAMESPACES, PODS, Key
from console.kube.informer import Informer
from console.kube.store import Store
from rbac.process_clusters import set_host_cluster
from tests.support.events import event
from tests.support.informers import preloaded
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import But, namespace, pod, small_world
from tests.views.conftest import ClientAs
from tests.views.viewers import VIEWERS

LIST = "/clusters/host/pods"
FRAGMENT = {"HX-Request": "true"}
HOSTILE = "../<b>x</b>‮"


async def peek(client_as: ClientAs, query: str, who: str = "admin") -> tuple[int, str]:
    """Return the status and the HTML of a response that contains only the panel."""
    response = await client_as(who, **FRAGMENT).get(f"{LIST}?{query}")
    return response.status_code, await text_of(response)


async def page(client_as: ClientAs, query: str, who: str = "admin") -> str:
    response = await client_as(who).get(f"{LIST}?{query}")
    assert response.status_code == 200
    return await text_of(response)


def panel(html: str) -> str:
    """Return the part of a list page that contains the panel."""
    return html[html.index('id="peek"') : html.index('id="results"')]


@pytest.fixture(autouse=True)
def _without_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests in `tests/logs` read logs in the panel."""
    monkeypatch.setattr("console.views.peek._parts", {})


@pytest.fixture
def events(runtime: StaticRuntime) -> None:
    told = [event("own", "Pod/web-2", "uid-shop-web-2"), event("other", "Pod/web-1", "else")]
    pods = [*small_world(), pod("hostile<i>", "shop")]
    informers = {
        PODS: preloaded(PODS, pods),
        NAMESPACES: preloaded(NAMESPACES, [namespace("shop")]),
        EVENTS: preloaded(EVENTS, told),
    }
    set_host_cluster(StaticRuntime(informers))


@pytest.mark.usefixtures("events")
async def test_panel_shows_name_status_cause_summary_events_and_actions(
    client_as: ClientAs,
) -> None:
    status, html = await peek(client_as, "peek=shop/web-2")
    assert status == 200
    assert html.lstrip().startswith('<div id="peek-body"')
    assert 'href="/clusters/host/projects/shop/pods/web-2"' in html
    assert '<span class="word">Crash loop</span>' in html
    assert "Container app is in a crash loop" in html
    assert 'id="panel-summary"' in html
    assert "told by own" in html
    assert "told by other" not in html
    assert "/clusters/host/projects/shop/pods/web-2/log" in html
    assert 'id="panel-containers"' not in html


async def test_url_of_a_list_opens_the_panel_without_scripts(client_as: ClientAs) -> None:
    html = await page(client_as, "namespace=shop&q=web&peek=shop/web-2")
    assert "Container app is in a crash loop" in panel(html)
    assert 'data-url="/clusters/host/pods?q=web&amp;namespace=shop"' in html
    assert 'data-close href="/clusters/host/pods?q=web&amp;namespace=shop"' in html
    assert '<aside id="peek" class="peek" aria-label="Peek" hidden>' in await page(client_as, "")


async def test_peek_buttons_of_rows_keep_the_filters(client_as: ClientAs) -> None:
    html = await page(client_as, "namespace=shop&q=web")
    form = html[html.index('<form id="peek-form"') :].partition("</form>")[0]
    assert '<input type="hidden" name="namespace" value="shop">' in form
    assert '<input type="hidden" name="q" value="web">' in form
    assert 'form="peek-form" name="peek" value="shop/web-2"' in html


async def test_actions_of_the_panel_return_to_the_filtered_list(client_as: ClientAs) -> None:
    _status, html = await peek(client_as, "q=web&peek=shop/web-2")
    assert "/pods/web-2/actions/delete?list=q%3Dweb" in html


async def test_exports_ignore_the_panel(client_as: ClientAs) -> None:
    with_panel = await client_as("admin").get(f"{LIST}?format=json&peek=shop/web-2")
    plain = await client_as("admin").get(f"{LIST}?format=json")
    assert await text_of(with_panel) == await text_of(plain)


async def test_panel_requires_permission_for_the_object(client_as: ClientAs) -> None:
    status, html = await peek(client_as, "peek=shop/web-2", "alice")
    assert status == 403
    assert "crash loop" not in html
    assert "You don&#x27;t have permission to" in html
    assert (await peek(client_as, "peek=team-a/api-1", "alice"))[0] == 200
    assert "crash loop" not in panel(await page(client_as, "peek=shop/web-2", "alice"))


async def test_denied_panel_does_not_read_the_object(
    client_as: ClientAs, pods: Informer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    get = Store.get

    def looked(store: Store[Any], key: Key) -> Any:
        assert store is not pods.store, f"{key} was looked up"
        return get(store, key)

    monkeypatch.setattr(Store, "get", looked)
    answers = {await peek(client_as, f"peek=shop/{name}", "alice") for name in ("web-2", "none")}
    assert {status for status, _html in answers} == {403}


@pytest.mark.usefixtures("events")
async def test_events_in_the_panel_require_their_own_permission(
    client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(VIEWERS, "erin", lambda: But(EVENTS, "team-a"))
    _status, html = await peek(client_as, "peek=shop/web-2", "erin")
    assert "Container app is in a crash loop" in html
    assert "told by own" not in html


async def test_actions_in_the_panel_require_their_permissions(client_as: ClientAs) -> None:
    assert "/actions/delete" in (await peek(client_as, "peek=shop/web-2"))[1]
    assert "/actions/delete" not in (await peek(client_as, "peek=shop/web-2", "bob"))[1]


@pytest.mark.parametrize("key", ["shop/none", "web-2", "/web-2", "shop/", "Shop!/web-2", HOSTILE])
async def test_missing_objects_are_named_in_the_panel(client_as: ClientAs, key: str) -> None:
    status, html = await peek(client_as, f"peek={quote(key)}")
    assert status == 404
    assert "No pod " in html
    assert "<b>" not in html
    assert "No pod " in panel(await page(client_as, f"peek={quote(key)}"))


@pytest.mark.usefixtures("events")
async def test_hostile_names_are_escaped(client_as: ClientAs) -> None:
    status, html = await peek(client_as, f"peek={quote('shop/hostile<i>')}")
    assert status == 200
    assert "<i>" not in html


async def test_invalid_filters_are_not_passed_on(client_as: ClientAs) -> None:
    status, html = await peek(client_as, "limit=x&peek=shop/web-2")
    assert status == 200
    assert "list=" not in html
