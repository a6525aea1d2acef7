"""The back link of an object leads to the previous list with its filters."""

import re
from html import unescape
from urllib.parse import quote

import pytest

from console.ui.navigation.level import Level
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs
from tests.views.viewers import VIEWERS

HOST = "http://testserver"
PODS, POD = "/clusters/host/pods", "/clusters/host/projects/shop/pods/web-1"
OWN = f"{PODS}?namespace=shop"


async def crumb(client_as: ClientAs, path: str, **headers: str) -> str:
    html = await text_of(await client_as("admin", **headers).get(path))
    found = re.search(r'href="([^"]*)" data-up', html)
    assert found is not None
    return unescape(found[1])


async def tabs(client_as: ClientAs, path: str, **headers: str) -> list[str]:
    """Return the URLs of the object's own tabs, without links to other pages."""
    html = await text_of(await client_as("admin", **headers).get(path))
    nav = re.search(r'<nav class="tabs".*?</nav>', html, re.S)
    assert nav is not None
    return [unescape(url) for url in re.findall(r'<a href="([^"]*)" hx-get', nav[0])]


@pytest.mark.parametrize(
    ("before", "up"),
    [
        (f"{PODS}?q=web&status=error", f"{PODS}?q=web&status=error"),
        (f"{PODS}?status=error&q=web&page=1", f"{PODS}?q=web&status=error"),
        (PODS, PODS),
        (OWN, OWN),
        (f"{PODS}?sort=nonsense", OWN),
        ("/clusters/host/nodes?q=a", OWN),
        ("/dashboard", OWN),
        ("//evil/clusters/host/pods", OWN),
    ],
)
async def test_back_link_leads_to_the_referring_list(
    client_as: ClientAs, before: str, up: str
) -> None:
    assert await crumb(client_as, POD, Referer=HOST + before) == up


async def test_list_of_another_site_is_ignored(client_as: ClientAs) -> None:
    for origin in ("http://evil.example", "http://testserver.evil.example", "https://testserver"):
        assert await crumb(client_as, POD, Referer=f"{origin}{PODS}?q=x") == OWN


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("fragment", [{}, {"HX-Request": "true"}])
async def test_back_link_is_kept_across_tabs(client_as: ClientAs, fragment: dict[str, str]) -> None:
    came = f"{PODS}?q=web&status=error"
    first, *others = await tabs(client_as, POD, Referer=HOST + came)
    assert first == f"{POD}?list=q%3Dweb%26status%3Derror"
    for url in (first, *others):
        assert await crumb(client_as, url, Referer=HOST + POD, **fragment) == came
        assert await tabs(client_as, url, Referer=HOST + POD, **fragment) == [first, *others]


async def test_live_url_does_not_contain_the_back_link(client_as: ClientAs) -> None:
    html = await text_of(await client_as("admin").get(f"{POD}?list=q%3Dweb"))
    assert f'data-url="{POD}"' in html


async def test_tab_urls_are_plain_without_a_previous_list(client_as: ClientAs) -> None:
    assert all("list=" not in url for url in await tabs(client_as, POD))
    assert all("list=" not in url for url in await tabs(client_as, POD, Referer=HOST + OWN))


@pytest.mark.parametrize("given", ["sort=nonsense", "label=((", "%00", "q=a#b", "a" * 20000])
async def test_invalid_back_link_is_ignored(client_as: ClientAs, given: str) -> None:
    up = await crumb(client_as, f"{POD}?list={given}")
    assert up.startswith(f"{PODS}?") or up == PODS
    assert "nonsense" not in up


FILTERED = f"{PODS}?q=web&status=error"


async def hrefs(client_as: ClientAs, path: str, text: str, **headers: str) -> list[str]:
    """Return the URLs of the links with the text."""
    html = await text_of(await client_as("admin", **headers).get(path))
    found = re.findall(r'href="([^"]*)"[^>]*>([^<]*)<', html)
    return [unescape(url) for url, label in found if label.strip() == text]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("page", ["actions/delete", "actions/evict", "yaml"])
async def test_back_link_is_kept_on_pages_of_the_object(client_as: ClientAs, page: str) -> None:
    came = quote("q=web&status=error")
    html = await text_of(await client_as("admin").get(f"{POD}/{page}?list={came}"))
    crumbs = html.partition('class="crumbs"')[2].partition("</nav>")[0]
    found = [unescape(url) for url in re.findall(r'href="([^"]*)"', crumbs)]
    of_object = [] if page == "yaml" else [f"{POD}?list={quote('q=web&status=error', safe='')}"]
    assert found == ["/clusters/host/projects/shop", FILTERED, *of_object]


async def test_actions_keep_the_list_that_the_user_came_from(client_as: ClientAs) -> None:
    """Also in menus, and for URLs that have a query and a fragment."""
    [delete] = await hrefs(client_as, POD, "Delete", Referer=HOST + FILTERED)
    assert delete == f"{POD}/actions/delete?list=q%3Dweb%26status%3Derror"
    logs = await hrefs(client_as, POD, "Logs", Referer=HOST + FILTERED)
    assert f"{POD}/log?timestamps=1&list=q%3Dweb%26status%3Derror#end" in logs
    [plain] = await hrefs(client_as, POD, "Delete")
    assert plain == f"{POD}/actions/delete"


async def test_list_does_not_change_the_version_of_the_page(client_as: ClientAs) -> None:
    """Otherwise, the websocket would replace the head of the page."""

    async def versions(**headers: str) -> list[str]:
        html = await text_of(await client_as("admin", **headers).get(POD))
        return re.findall(r'data-v="([^"]*)"', html)

    assert await versions() == await versions(Referer=HOST + FILTERED)


@pytest.mark.parametrize(
    ("referer", "query", "back"),
    [
        (FILTERED, "", FILTERED),
        (POD, "", OWN),
        (POD, f"?list={quote('q=web&status=error')}", FILTERED),
        (f"{POD}/yaml?list={quote('q=web&status=error')}", "", FILTERED),
        ("/dashboard", "", OWN),
        # The list of another kind's page.
        ("/clusters/host/nodes/node-1?list=q%3Dweb", "", "/clusters/host/nodes/node-1"),
    ],
)
@pytest.mark.django_db(transaction=True)
async def test_deletion_returns_to_the_list_that_the_user_came_from(
    client_as: ClientAs, referer: str, query: str, back: str
) -> None:
    url = f"{POD}/actions/delete{query}"
    html = await text_of(await client_as("admin", Referer=HOST + referer).get(url))
    form = re.search(r'action="([^"]*)"', html.partition('class="confirm"')[2])
    assert form is not None
    assert unescape(form[1]) == f"{POD}/actions/delete?next={quote(back, safe='')}"


def reader() -> FakeAccess:
    """A user who may get the objects of a project, but list none."""
    return FakeAccess("reader", list_in=(), delete_in=(), get_in=("shop",))


async def test_path_names_the_project_before_the_kind(
    client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts that the viewer can't open are not links."""

    async def path(name: str) -> list[tuple[str, str]]:
        html = await text_of(await client_as(name).get(POD))
        crumbs = html.partition('class="crumbs"')[2].partition("</nav>")[0]
        return re.findall(r'<li>(?:<a class="link" href="([^"]*)"[^>]*>)?([^<]+)', crumbs)

    project = "/clusters/host/projects/shop"
    assert await path("admin") == [(project, "shop"), (OWN, "Pods")]
    monkeypatch.setitem(VIEWERS, "reader", reader)
    assert await path("reader") == [("", "shop"), ("", "Pods")]


async def test_user_who_may_only_read_an_object_gets_a_header_without_projects(
    client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(VIEWERS, "reader", reader)
    response = await client_as("reader").get(POD)
    assert response.status_code == 200
    assert response.context["scope"].level == Level("cluster")
    assert "scope-menu" not in await text_of(response)
