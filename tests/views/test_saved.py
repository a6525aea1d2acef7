"""Saved views: owners, limits and the default view of a list."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from pytest_django import Settings

from console.saved import service
from console.saved.models import MAX_NAME, SavedView, Sharing
from console.saved.service import MAX_VIEWS
from tests.support.responses import text_of
from tests.views.conftest import ClientAs

LIST = "/clusters/host/pods"
FAILING = f"{LIST}?namespace=shop&status=error&sort=-age"
pytestmark = pytest.mark.django_db(transaction=True)


async def save(
    client_as: ClientAs, name: str, url: str = FAILING, who: str = "alice", **more: str
) -> Any:
    return await client_as(who).post("/views", {"list": url, "name": name, **more})


async def change(client_as: ClientAs, view: SavedView, who: str = "alice", **data: str) -> Any:
    return await client_as(who).post(f"/views/{view.pk}", {"list": LIST, **data})


async def names_of(client_as: ClientAs, who: str, url: str = LIST) -> list[str]:
    html = await text_of(
        await client_as(who, **{"HX-Request": "true"}).get(f"/views?list={quote(url)}")
    )
    return re.findall(r'<a class="menu-item" href="/clusters[^"]*"[^>]*>([^<]*)<', html)


TEAM = f"{LIST}?namespace=team-a&status=error&page=3&limit=20"


async def test_view_is_a_named_list_url(client_as: ClientAs) -> None:
    response = await save(client_as, "  My   failing ", TEAM)
    assert (response.status_code, response["Location"]) == (
        302, f"{LIST}?namespace=team-a&status=error&limit=20",
    )  # fmt: skip
    view = await SavedView.objects.aget()
    assert (view.name, view.holder, view.kind) == ("My failing", "alice", "pods")
    assert view.query == "namespace=team-a&status=error&limit=20"
    html = await text_of(await client_as("alice").get(f"/views?list={quote(TEAM)}"))
    assert f'href="{LIST}?{view.query}"'.replace("&", "&amp;") in html


async def test_saving_under_an_existing_name_replaces_the_view(client_as: ClientAs) -> None:
    await save(client_as, "one", f"{LIST}?q=a")
    await save(client_as, "one", f"{LIST}?q=b")
    assert [view.query async for view in SavedView.objects.all()] == ["q=b"]


async def test_views_are_visible_to_their_owner_only(client_as: ClientAs) -> None:
    await save(client_as, "mine")
    view = await SavedView.objects.aget()
    assert await names_of(client_as, "alice") == ["mine"]
    assert await names_of(client_as, "bob") == []
    # Even administrators get 404.
    for who in ("bob", "admin"):
        for action in ("rename", "delete", "open"):
            response = await change(client_as, view, who, action=action, name="x")
            assert response.status_code == 404
    assert (await SavedView.objects.aget()).name == "mine"


async def test_platform_views_are_visible_to_all_and_created_by_administrators(
    client_as: ClientAs,
) -> None:
    assert (await save(client_as, "all", sharing="platform")).status_code == 403
    assert (await save(client_as, "all", who="bob", sharing="platform")).status_code == 403
    assert (await save(client_as, "all", who="admin", sharing="workspace")).status_code == 403
    assert (await save(client_as, "all", who="admin", sharing="platform")).status_code == 302
    view = await SavedView.objects.aget()
    assert (view.sharing, view.holder) == (Sharing.PLATFORM, "")
    await save(client_as, "zz")
    assert await names_of(client_as, "alice") == ["zz", "all"]
    assert (await change(client_as, view, action="delete")).status_code == 404
    assert (await change(client_as, view, "admin", action="delete")).status_code == 302
    assert await names_of(client_as, "alice") == ["zz"]


async def test_edit_forms_are_shown_to_users_who_may_change_the_view(client_as: ClientAs) -> None:
    await save(client_as, "all", who="admin", sharing="platform")
    view = await SavedView.objects.aget()
    for url in (f"/views?list={quote(LIST)}", "/views"):
        for who, forms in (("admin", True), ("alice", False)):
            html = await text_of(await client_as(who).get(url))
            assert ">all<" in html
            assert (f'action="/views/{view.pk}"' in html) is forms, (url, who)


async def test_views_of_forbidden_kinds_are_hidden(client_as: ClientAs) -> None:
    await save(client_as, "all", who="admin", sharing="platform")
    assert (await client_as("charlie").get(f"/views?list={LIST}")).status_code == 403
    assert (await save(client_as, "x", who="charlie")).status_code == 403
    # They are missing on the page of all views, too.
    for who, told in (("bob", 1), ("charlie", 0)):
        assert (await text_of(await client_as(who).get("/views"))).count(">all<") == told


async def test_views_can_be_renamed_and_deleted(client_as: ClientAs) -> None:
    await save(client_as, "one")
    await save(client_as, "two")
    one = await SavedView.objects.aget(name="one")
    assert (await change(client_as, one, action="rename", name="two")).status_code == 400
    assert (await change(client_as, one, action="rename", name="three")).status_code == 302
    assert await names_of(client_as, "alice") == ["three", "two"]
    await change(client_as, one, action="delete")
    assert await names_of(client_as, "alice") == ["two"]
    assert (await change(client_as, one, action="delete")).status_code == 404


@pytest.mark.parametrize("name", ["", "  ", "x" * (MAX_NAME + 1), "a\u202eb", "a\x00"])
async def test_names_are_validated(client_as: ClientAs, name: str) -> None:
    assert (await save(client_as, name)).status_code == 400
    assert await SavedView.objects.acount() == 0


@pytest.mark.parametrize(
    "url",
    [
        "", "/", "/dashboard", "//evil.example/clusters/host/pods", LIST + "?page=0",
        LIST + "?label=((", "/clusters/host/nothing", "/clusters/other/pods", LIST + "\x00",
        "x" * 20000,
        LIST + "?" + "&".join(f"label={'k' * 60}{n}%3D{'v' * 60}" for n in range(18)),
    ],
)  # fmt: skip
async def test_only_list_urls_can_be_saved(client_as: ClientAs, url: str) -> None:
    assert (await save(client_as, "x", url)).status_code == 400
    assert await SavedView.objects.acount() == 0


async def test_number_of_views_is_limited(client_as: ClientAs) -> None:
    await SavedView.objects.abulk_create(
        SavedView(sharing="own", holder="alice", cluster="host", kind="pods", name=f"n{number}")
        for number in range(MAX_VIEWS)
    )
    assert (await save(client_as, "more")).status_code == 400
    assert (await save(client_as, "n7")).status_code == 302
    assert (await save(client_as, "other", who="bob")).status_code == 302


@pytest.mark.parametrize("number", ["0", "9" * 30])
async def test_missing_view_returns_404(client_as: ClientAs, number: str) -> None:
    response = await client_as("alice").post(f"/views/{number}", {"action": "delete"})
    assert response.status_code == 404


@pytest.mark.parametrize("action", ["", "steal"])
async def test_unknown_action_returns_404(client_as: ClientAs, action: str) -> None:
    await save(client_as, "one")
    view = await SavedView.objects.aget()
    assert (await change(client_as, view, action=action)).status_code == 404


async def test_anonymous_users_cannot_save_views(client_as: ClientAs) -> None:
    assert (await save(client_as, "x", who="")).status_code == 302
    assert (await client_as("").post("/views/1", {"action": "delete"})).status_code == 302
    assert await SavedView.objects.acount() == 0


@pytest.fixture
def opening(settings: Settings) -> Iterator[None]:
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "console.web.middleware.DefaultViewMiddleware"]
    yield
    # Query results are cached for seconds, so the rows of a previous test must be dropped.
    service._openings.clear()


async def opened(client_as: ClientAs, who: str = "alice", path: str = LIST, **headers: str) -> str:
    response = await client_as(who, **headers).get(path)
    return response["Location"] if response.status_code == 302 else ""


@pytest.mark.usefixtures("opening")
async def test_list_opens_with_the_chosen_view(client_as: ClientAs) -> None:
    await save(client_as, "one", f"{LIST}?q=one")
    await save(client_as, "two", f"{LIST}?q=two")
    one, two = [view async for view in SavedView.objects.order_by("name")]
    assert await opened(client_as) == ""
    await change(client_as, one, action="open")
    assert await opened(client_as) == f"{LIST}?q=one"
    await change(client_as, two, action="open")
    assert await opened(client_as) == f"{LIST}?q=two"
    assert await opened(client_as, "bob") == ""
    assert await opened(client_as, path="/clusters/host/deployments") == ""
    # Explicit parameters, or the link to all objects on the list itself, take precedence.
    assert await opened(client_as, path=f"{LIST}?page=1") == ""
    assert await opened(client_as, **{"HX-Request": "true"}) == ""
    own = {"Referer": f"http://testserver{LIST}?q=two"}
    assert await opened(client_as, **own) == ""
    elsewhere = {"Referer": "http://testserver/clusters/host/nodes"}
    assert await opened(client_as, **elsewhere) == f"{LIST}?q=two"
    await change(client_as, two, action="unopen")
    assert await opened(client_as) == ""


@pytest.mark.usefixtures("opening")
async def test_own_default_view_takes_precedence_over_the_platforms(client_as: ClientAs) -> None:
    await save(client_as, "all", f"{LIST}?q=all", who="admin", sharing="platform")
    await change(client_as, await SavedView.objects.aget(), "admin", action="open")
    assert await opened(client_as, "bob") == f"{LIST}?q=all"
    await save(client_as, "mine", f"{LIST}?q=mine")
    await change(client_as, await SavedView.objects.aget(name="mine"), action="open")
    assert await opened(client_as) == f"{LIST}?q=mine"
    assert await opened(client_as, "bob") == f"{LIST}?q=all"


async def test_list_has_the_views_menu(client_as: ClientAs) -> None:
    html = await text_of(await client_as("admin").get(f"{LIST}?q=web&page=1"))
    assert 'hx-get="/views?list=%2Fclusters%2Fhost%2Fpods%3Fq%3Dweb"' in html
    assert 'id="views-menu"' in html
