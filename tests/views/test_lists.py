"""Lists as page, fragment and data, for each test user."""

import json
import re
from datetime import UTC, datetime
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest

from console.kube.gvr import NAMESPACES, PODS, WORKSPACES
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.ui.navigation.nav import Navigation
from rbac.process_clusters import set_host_cluster
from tests.support.informers import bring, preloaded, set_stale
from tests.support.responses import HTMX, stable_html, text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import namespace as a_project
from tests.ui.support import pod
from tests.views.conftest import ClientAs

URL = "/clusters/host/pods"


async def data(client_as: ClientAs, name: str, query: str = "") -> Any:
    response = await client_as(name).get(f"{URL}?format=json&{query}")
    return json.loads(await text_of(response))


async def test_admin_gets_the_page(client_as: ClientAs) -> None:
    response = await client_as("admin").get(URL)
    html = await text_of(response)
    assert response.status_code == 200
    assert "HX-Request" in response["Vary"]
    assert 'data-resource="pods"' in html
    assert 'data-total="6"' in html
    assert html.count("data-key=") == 6
    assert 'data-key="shop/web-2"' in html
    assert "Crash loop" in html
    assert 'data-live="live"' in html


async def test_fragment_is_a_part_of_the_page(client_as: ClientAs) -> None:
    page = await text_of(await client_as("admin").get(URL))
    fragment = await text_of(await client_as("admin", **HTMX).get(URL))
    assert fragment.lstrip().startswith("<section")
    assert "<html" not in fragment
    assert fragment.strip() in page


@pytest.mark.parametrize("header", ["HX-Boosted", "HX-History-Restore-Request"])
async def test_boosted_and_history_restore_requests_get_the_page(
    client_as: ClientAs, header: str
) -> None:
    response = await client_as("admin", **HTMX, **{header: "true"}).get(URL)
    assert "<html" in await text_of(response)


async def test_anonymous_user_is_redirected_to_sign_in(client_as: ClientAs) -> None:
    response = await client_as("").get(f"{URL}?q=web")
    assert response.status_code == 302
    assert response["Location"] == f"/login?next={quote(URL + '?q=web', safe='')}"


async def test_anonymous_htmx_request_is_redirected_by_header(client_as: ClientAs) -> None:
    here = "http://testserver/clusters/host/pods?sort=age"
    response = await client_as("", **HTMX, **{"HX-Current-URL": here}).get(URL)
    assert response.status_code == 401
    assert response["HX-Redirect"] == "/login?next=%2Fclusters%2Fhost%2Fpods%3Fsort%3Dage"


@pytest.mark.parametrize("fmt", ["json", "csv", "tsv"])
async def test_anonymous_data_request_returns_401(client_as: ClientAs, fmt: str) -> None:
    response = await client_as("").get(f"{URL}?format={fmt}")
    assert response.status_code == 401
    status = json.loads(await text_of(response))
    assert (status["kind"], status["reason"]) == ("Status", "Unauthorized")


async def test_signed_in_account_without_permissions_is_refused(client_as: ClientAs) -> None:
    response = await client_as("nobody-knows-them").get(URL)
    assert response.status_code == 403
    assert "data-key" not in await text_of(response)


async def test_denied_page_returns_403(client_as: ClientAs) -> None:
    response = await client_as("charlie").get(URL)
    html = await text_of(response)
    assert response.status_code == 403
    assert "You don't have permission to list pods." in unescape(html)
    assert "data-key" not in html
    assert "web-1" not in html


@pytest.mark.parametrize("fmt", ["json", "csv", "tsv"])
async def test_denied_data_request_returns_a_status_object(client_as: ClientAs, fmt: str) -> None:
    response = await client_as("charlie").get(f"{URL}?format={fmt}")
    assert response.status_code == 403
    assert json.loads(await text_of(response))["reason"] == "Forbidden"


async def test_denied_fragment_shows_the_denied_state(client_as: ClientAs) -> None:
    response = await client_as("charlie", **HTMX).get(URL)
    html = await text_of(response)
    assert response.status_code == 403
    assert 'data-state="denied"' in html
    assert "data-key" not in html


async def test_forbidden_and_missing_projects_look_identical(client_as: ClientAs) -> None:
    answers = []
    for namespace in ("shop", "nope"):
        response = await client_as("alice").get(f"{URL}?namespace={namespace}")
        assert response.status_code == 403
        answers.append(stable_html(await text_of(response)).replace(namespace, "X"))
    assert answers[0] == answers[1]


async def test_member_sees_the_project_in_every_format(client_as: ClientAs) -> None:
    found = await data(client_as, "alice")
    assert found["total"] == 2
    assert {item["namespace"] for item in found["items"]} == {"team-a"}
    html = await text_of(await client_as("alice").get(URL))
    assert html.count("data-key=") == 2
    for canary in ("web-1", "web-2", "cart-1", "ledger", "team-b", "shop"):
        assert canary not in html
    csv = await text_of(await client_as("alice").get(f"{URL}?format=csv"))
    assert len(csv.splitlines()) == 3


async def test_permission_for_one_name_shows_one_object_in_every_format(
    client_as: ClientAs,
) -> None:
    found = await data(client_as, "dora")
    assert [(item["namespace"], item["name"]) for item in found["items"]] == [("shop", "web-1")]
    assert found["total"] == 1
    response = await client_as("dora").get(URL)
    html = await text_of(response)
    assert html.count("data-key=") == 1
    assert 'data-key="shop/web-1"' in html
    for canary in ("web-2", "cart-1", "ledger", "team-a", "team-b", "nobody"):
        assert canary not in html
    assert (
        pods_of(response.context["nav"]).problems.counts[0].latest.total,
        response.context["scope"].namespaces,
    ) == (
        1,
        ("shop",),
    )
    csv = await text_of(await client_as("dora").get(f"{URL}?format=csv"))
    assert len(csv.splitlines()) == 2
    assert (await client_as("dora").get(f"{URL}?namespace=shop")).status_code == 200
    for namespace in ("team-a", "nope"):
        assert (await client_as("dora").get(f"{URL}?namespace={namespace}")).status_code == 403


async def test_delete_is_not_offered_without_permission(client_as: ClientAs) -> None:
    assert "/delete" in await text_of(await client_as("admin").get(URL))
    assert "/delete" not in await text_of(await client_as("bob").get(URL))


@pytest.mark.parametrize(
    "query",
    [
        "limit=abc",
        "page=-1",
        "page=1e9",
        "label=" + quote("a in ("),
        "q=" + "a" * 65536,
        "sort=bogus",
        "sort=__x",
        "status=bogus",
        "sort=name&sort=age",
        "format=xml",
        "format=json&format=csv",
        "q=%00",
        "&".join(f"label=a{n}" for n in range(1100)),
    ],
)
async def test_invalid_parameters_return_400_in_every_format(
    client_as: ClientAs, query: str
) -> None:
    await client_as("admin").get(URL)
    for form, headers in ((query, {}), (query, HTMX), (f"{query}&format=json", {})):
        response = await client_as("admin", **headers).get(f"{URL}?{form}")
        html = await text_of(response)
        assert response.status_code == 400
        assert "data-key=" not in html


async def test_invalid_parameters_are_named(client_as: ClientAs) -> None:
    html = await text_of(await client_as("admin").get(f"{URL}?limit=abc"))
    assert 'data-state="bad-input"' in html
    assert "limit" in html
    status = await data(client_as, "admin", "limit=abc&page=0")
    assert [cause["field"] for cause in status["details"]["causes"]] == ["page", "limit"]


async def test_page_beyond_the_last_is_empty(client_as: ClientAs) -> None:
    response = await client_as("admin").get(f"{URL}?page=99")
    html = await text_of(response)
    assert response.status_code == 200
    assert 'data-state="beyond"' in html
    assert 'data-total="6"' in html
    found = await data(client_as, "admin", "page=99")
    assert (found["items"], found["total"]) == ([], 6)


async def test_unknown_project_is_named(client_as: ClientAs) -> None:
    response = await client_as("admin").get(f"{URL}?namespace=nowhere")
    assert response.status_code == 200
    assert "Project nowhere not found" in await text_of(response)


@pytest.mark.parametrize("name", ["a/b", "../..", "/", "%2E%2E", "a%0Ab", "n" * 300, "<b>"])
async def test_invalid_project_name_is_handled(client_as: ClientAs, name: str) -> None:
    response = await client_as("admin").get(f"{URL}?namespace={name}")
    assert response.status_code in (200, 400)
    assert "<b>" not in await text_of(response)


@pytest.mark.parametrize("path", ["/clusters/host/planets", "/clusters/other/pods", "/nope"])
async def test_unknown_urls_return_404(client_as: ClientAs, path: str) -> None:
    response = await client_as("admin").get(path)
    assert response.status_code == 404
    assert "<h1" in await text_of(response)
    response = await client_as("admin").get(f"{path}?format=json")
    assert json.loads(await text_of(response))["reason"] == "NotFound"


async def test_unknown_urls_redirect_anonymous_users(client_as: ClientAs) -> None:
    for path in ("/clusters/host/planets", "/clusters/other/pods"):
        assert (await client_as("").get(path)).status_code == 302


async def test_only_get_and_head_are_supported(client_as: ClientAs) -> None:
    assert (await client_as("admin").post(URL)).status_code == 405
    assert (await client_as("admin").head(URL)).status_code == 200


async def test_hostile_text_is_escaped(client_as: ClientAs, pods: Informer[Any]) -> None:
    evil = "<img src=x onerror=alert(1)>\"'{{7*7}}\u202e"
    bring(pods, pod("evil", node=evil, ip=evil, labels={"a": evil}))
    html = await text_of(await client_as("admin").get(f"{URL}?q={quote('onerror=alert')}"))
    assert 'data-total="1"' in html
    assert "<img src=x" not in html
    assert "{{7*7}}" in html
    assert "\u202e" not in html
    assert "⟨U+202E⟩" in html


async def test_hostile_queries_are_escaped(client_as: ClientAs) -> None:
    evil = '"><script>alert(1)</script>'
    for param in ("q", "namespace", "label", "status", "sort", "limit"):
        html = await text_of(await client_as("admin").get(f"{URL}?{param}={quote(evil)}"))
        assert "<script>alert" not in html


async def test_unsynced_list_returns_503_and_refreshes_live(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    cold: Informer[Any] = Informer(PODS, DECODERS[PODS])
    set_host_cluster(StaticRuntime({PODS: cold}))
    response = await client_as("admin").get(URL)
    html = await text_of(response)
    assert response.status_code == 503
    assert 'data-state="loading"' in html
    assert 'data-url="/clusters/host/pods"' in html
    assert "data-key=" not in html
    assert (await client_as("admin", **HTMX).get(URL)).status_code == 200
    response = await client_as("admin").get(f"{URL}?format=json")
    assert (response.status_code, response["Retry-After"]) == (503, "1")


async def test_denied_request_does_not_start_an_informer(client_as: ClientAs) -> None:
    set_host_cluster(StaticRuntime({}))
    assert (await client_as("charlie").get(URL)).status_code == 403


async def test_stale_page_keeps_its_rows(client_as: ClientAs, pods: Informer[Any]) -> None:
    set_stale(pods, datetime(2026, 11, 21, 10, 0, tzinfo=UTC), "connection refused")
    response = await client_as("admin").get(URL)
    html = await text_of(response)
    assert response.status_code == 200
    assert 'data-live="stale"' in html
    assert "2026-11-21T10:00:00" in html
    assert html.count("data-key=") == 6


async def test_csv_is_an_attachment_with_the_columns(client_as: ClientAs) -> None:
    response = await client_as("admin").get(f"{URL}?format=csv")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == 'attachment; filename="pods.csv"'
    lines = (await text_of(response)).splitlines()
    assert lines[0] == "name,namespace,status,ready,restarts,node,ip,age"


async def test_page_is_rendered_in_chinese(client_as: ClientAs) -> None:
    response = await client_as("admin", **{"Accept-Language": "zh-hans"}).get(URL)
    assert 'lang="zh-Hans"' in await text_of(response)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        (f"{URL}?label=a,,b", "标签选择器的两个逗号之间没有内容。"),
        (f"{URL}?label=a)", "“a)”中的括号不成对。"),
        (f"{URL}?columns=label:-", "“-”不是有效的标签选择器：“-”不是有效的标签名称。"),
        ("/search?q=label=a>b", "“a&gt;b”中的“b”不是整数。"),
    ],
)
async def test_invalid_parameters_are_reported_in_chinese(
    client_as: ClientAs, url: str, told: str
) -> None:
    response = await client_as("admin", **{"Accept-Language": "zh-hans"}).get(url)
    assert told in await text_of(response)


async def test_menu_counts_objects_the_viewer_may_see(client_as: ClientAs) -> None:
    found = (await client_as("alice").get(URL)).context["nav"]
    entry = pods_of(found)
    [count] = entry.problems.counts
    assert (count.latest.total, count.latest.failing, entry.current) == (2, 1, True)


def pods_of(nav: Navigation) -> Any:
    return next(entry for entry in nav.rail if entry.label == "Pods")


async def test_menu_links_keep_the_project_filter(client_as: ClientAs) -> None:
    context = (await client_as("admin").get(f"{URL}?namespace=team-a&q=api")).context
    assert context["scope"].level.namespace == "team-a"
    assert context["scope"].namespaces == ("shop", "team-a", "team-b")
    assert pods_of(context["nav"]).url == f"{URL}?namespace=team-a"


async def test_project_links_to_its_workspace(client_as: ClientAs) -> None:
    meta = {"name": "acme", "uid": "acme", "resourceVersion": "1"}
    projects = [a_project("acme-shop"), a_project("other")]
    for project, workspace in zip(projects, ("acme", "gone"), strict=True):
        project["metadata"]["labels"] = {"kubesphere.io/workspace": workspace}
    found = StaticRuntime(
        {
            NAMESPACES: preloaded(NAMESPACES, projects),
            WORKSPACES: preloaded(WORKSPACES, [{"metadata": meta}]),
        }
    )
    set_host_cluster(found)
    html = await text_of(await client_as("admin").get("/clusters/host/namespaces"))
    assert re.search(r'<td[^>]*data-col="workspace"[^>]*><a[^>]* href="/workspaces/acme"', html)
    assert "/workspaces/gone" not in html
