"""Detail pages of pods."""

import re
from typing import Any

import pytest

from console.draining.progress import progress_url
from console.kube.gvr import DEPLOYMENTS, EVENTS, GVR, NAMESPACES, NODES, PODS, REPLICA_SETS, Key
from console.kube.informer import Informer
from console.kube.store import Store
from console.ui.core.registry import kinds
from rbac.process_clusters import set_host_cluster
from tests.support.events import event
from tests.support.informers import bring, preloaded
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import But, FakeAccess, namespace, owner_reference, pod, small_world
from tests.views.conftest import ClientAs
from tests.views.viewers import VIEWERS

WEB_2 = "/clusters/host/projects/shop/pods/web-2"


def with_events(*events: dict[str, Any]) -> StaticRuntime:
    sets = {
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "uid": "rs",
            "resourceVersion": "1",
            "ownerReferences": [owner_reference("Deployment", "shop-web")],
        }
    }
    web = {
        "metadata": {"name": "shop-web", "namespace": "shop", "uid": "d", "resourceVersion": "1"}
    }
    owned = pod("owned", owner=("ReplicaSet", "web"))
    found = StaticRuntime(
        {
            PODS: preloaded(PODS, [*small_world(), owned]),
            NAMESPACES: preloaded(NAMESPACES, [namespace("shop")]),
            EVENTS: preloaded(EVENTS, events),
            REPLICA_SETS: preloaded(REPLICA_SETS, [sets]),
            DEPLOYMENTS: preloaded(DEPLOYMENTS, [web]),
        }
    )
    set_host_cluster(found)
    return found


async def page(client_as: ClientAs, url: str, who: str = "admin") -> str:
    response = await client_as(who).get(url)
    assert response.status_code == 200
    return await text_of(response)


async def test_diagnosis_is_shown_first(client_as: ClientAs) -> None:
    html = await page(client_as, WEB_2)
    assert "Container app is in a crash loop" in html
    assert html.index("Container app is in a crash loop") < html.index('id="panel-containers"')
    assert "CrashLoopBackOff: as told by the kubelet" in html


async def test_forms_of_actions_repeat_the_cause_of_the_problem(client_as: ClientAs) -> None:
    html = await page(client_as, f"{WEB_2}/actions/labels")
    assert html.index("Container app is in a crash loop") < html.index('class="buttons"')
    assert 'class="cause"' not in await page(
        client_as, "/clusters/host/projects/shop/pods/web-1/actions/labels"
    )


async def test_events_belong_to_the_object_by_uid(client_as: ClientAs) -> None:
    with_events(
        event("own", "Pod/web-2", "uid-shop-web-2"),
        event("before", "Pod/web-2", "another-uid"),
        event("unsaid", "Pod/web-2", ""),
        # Older kubelets omit the UID of their node.
        event("named", "Pod/web-2", "web-2"),
        event("other", "Pod/web-1", "uid-shop-web-1"),
        event("elsewhere", "Pod/web-2", "", "team-a"),
    )
    html = await page(client_as, f"{WEB_2}/events")
    assert set(re.findall(r"told by (\w+)", html)) == {"own", "unsaid", "named"}
    assert 'href="/clusters/host/projects/shop/events/own"' in html


async def test_events_require_their_own_permission(
    client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_events(event("own", "Pod/web-2", "uid-shop-web-2"))
    access = VIEWERS["admin"]()
    real = access.namespaces_where
    access.namespaces_where = lambda verb, gvr, subresource="": (  # type: ignore[method-assign]
        frozenset() if gvr == EVENTS else real(verb, gvr, subresource)
    )
    monkeypatch.setitem(VIEWERS, "admin", lambda: access)
    html = await page(client_as, f"{WEB_2}/events")
    assert "told by own" not in html
    assert "You don't have permission to list events here." in html
    assert "told by own" not in await page(client_as, WEB_2)


async def test_owners_are_linked_up_to_the_top(client_as: ClientAs) -> None:
    with_events()
    html = await page(client_as, "/clusters/host/projects/shop/pods/owned")
    links = re.findall(r'<li>(\w+) <a class="link" href="([^"]+)"', html)
    assert links == [
        ("ReplicaSet", "/clusters/host/projects/shop/replicasets/web"),
        ("Deployment", "/clusters/host/projects/shop/deployments/shop-web"),
    ]


async def test_owner_of_an_owner_is_shown_only_with_permission(
    client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_events()
    monkeypatch.setitem(VIEWERS, "erin", lambda: But(REPLICA_SETS, "team-a"))
    html = await page(client_as, "/clusters/host/projects/shop/pods/owned", "erin")
    assert "<li>ReplicaSet" in html
    assert "shop-web" not in html


async def test_labels_link_to_filtered_lists(client_as: ClientAs) -> None:
    html = await page(client_as, "/clusters/host/projects/shop/pods/web-1")
    assert 'href="/clusters/host/pods?namespace=shop&amp;label=tier%3Dfront"' in html


async def test_permission_for_one_name_shows_only_that_object(client_as: ClientAs) -> None:
    base = "/clusters/host/projects/shop/pods"
    assert (await client_as("dora").get(f"{base}/web-1")).status_code == 200
    assert (await client_as("dora").get(f"{base}/nobody")).status_code == 404
    for name in ("web-2", "no-such-pod"):
        assert (await client_as("dora").get(f"{base}/{name}")).status_code == 403


async def test_denied_request_does_not_read_the_object(
    client_as: ClientAs, pods: Informer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    get = Store.get

    def looked(store: Store[Any], key: Key) -> Any:
        assert store is not pods.store, f"{key} was looked up"
        return get(store, key)

    monkeypatch.setattr(Store, "get", looked)
    for url in (WEB_2, f"{WEB_2}-not", f"{WEB_2}?format=json", f"{WEB_2}/yaml"):
        assert (await client_as("charlie").get(url)).status_code == 403
    for url in (WEB_2, f"{WEB_2}-not"):
        assert (await client_as("alice").get(url)).status_code == 403


async def test_forbidden_actions_are_not_offered(client_as: ClientAs) -> None:
    assert f'href="{WEB_2}/actions/delete"' in await page(client_as, WEB_2)
    assert f'href="{WEB_2}/actions/delete"' not in await page(client_as, WEB_2, "bob")


async def test_unsynced_list_returns_503(client_as: ClientAs, runtime: StaticRuntime) -> None:
    cold = runtime.informer(PODS)
    cold.freshness = type(cold.freshness)()
    for query in ("", "?format=json", "?format=yaml"):
        response = await client_as("admin").get(WEB_2 + query)
        assert response.status_code == 503
        assert response["Retry-After"]
    assert (await client_as("charlie").get(WEB_2)).status_code == 403


async def test_failing_panel_does_not_affect_the_others(
    client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.ui.diagnosis.conditions.conditions_of", lambda manifest: 1 / 0)
    html = await page(client_as, WEB_2)
    assert "An internal error occurred. This section cannot be shown." in html
    assert 'id="panel-metadata"' in html


async def test_deeply_nested_object_is_handled(client_as: ClientAs, pods: Informer[Any]) -> None:
    deep: Any = "x"
    for _ in range(400):
        deep = {"a": deep}
    bring(pods, {**pod("deep"), "extra": deep})
    url = "/clusters/host/projects/shop/pods/deep"
    assert 'id="panel-metadata"' in await page(client_as, url)
    assert "nested too deeply" in await page(client_as, f"{url}/yaml")
    response = await client_as("admin").get(f"{url}?format=yaml")
    assert (response.status_code, "nested too deeply" in await text_of(response)) == (422, True)


async def test_very_large_yaml_is_offered_as_a_download(
    client_as: ClientAs, pods: Informer[Any]
) -> None:
    bring(pods, {**pod("large"), "extra": {f"k{n}": "v" * 20 for n in range(20_000)}})
    url = "/clusters/host/projects/shop/pods/large"
    html = await page(client_as, f"{url}/yaml")
    assert "too large to display" in html
    assert len(html) < 100_000
    response = await client_as("admin").get(f"{url}?format=yaml")
    assert "  k19999: vvvv" in await text_of(response)


async def test_project_is_linked_if_the_viewer_may_see_it(
    client_as: ClientAs, runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Permission for single objects in a project does not include the project page."""
    reader = FakeAccess("erin", list_in=(), delete_in=(), get_in={"shop"})
    monkeypatch.setitem(VIEWERS, "erin", lambda: reader)
    for who, linked in (("admin", True), ("erin", False)):
        html = await text_of(await client_as(who).get(WEB_2))
        assert ('href="/clusters/host/projects/shop"' in html) is linked, who


@pytest.mark.parametrize("query", ["", "?format=json"])
async def test_permission_lost_while_waiting_for_the_list_is_respected(
    client_as: ClientAs, runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    reader = FakeAccess("erin")
    monkeypatch.setitem(VIEWERS, "erin", lambda: reader)

    async def comes(gvr: GVR, *, timeout: float) -> bool:  # noqa: ASYNC109
        reader.list_in = ()
        return True

    monkeypatch.setattr(runtime, "wait_synced", comes)
    assert (await client_as("erin").get(WEB_2 + query)).status_code == 403


async def test_drain_progress_requires_permission_for_the_node(client_as: ClientAs) -> None:
    nodes = kinds.by_type(NODES)
    assert nodes is not None
    for name in ("node-1", "nowhere"):
        answer = await client_as("alice").get(progress_url("host", nodes, Key("", name)))
        assert answer.status_code == 403


@pytest.mark.parametrize(("who", "offered"), [("admin", True), ("bob", False)])
async def test_files_tab_requires_permission_to_execute_programs(
    client_as: ClientAs, who: str, offered: bool
) -> None:
    html = await text_of(await client_as(who).get("/clusters/host/projects/shop/pods/web-1"))
    assert "web-1" in html
    assert ("/pods/web-1/files" in html) is offered
