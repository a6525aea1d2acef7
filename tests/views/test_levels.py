"""Where somebody is: pages that are a level say so, all others leave them where they were."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import AsyncClient, RequestFactory
from pytest_django import Settings

from console.kube.runtime import StaticRuntime
from console.middleware import LevelMiddleware
from console.ui.level import COOKIE, Level
from console.ui.nav import RAILS
from tests.views.conftest import ClientAs
from tests.views.test_lists import text_of

PODS = "/clusters/host/pods"
POD = "/clusters/host/projects/shop/pods/web-1"
CLUSTER, PROJECT = Level("cluster"), Level("project", namespace="shop")


@pytest.fixture
def browser(runtime: StaticRuntime, settings: Settings) -> "Browser":
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "console.middleware.LevelMiddleware"]
    return Browser()


class Browser:
    """Keeps cookies. `level`: what the page that was opened shows."""

    def __init__(self) -> None:
        self._client = AsyncClient()

    async def level(self, url: str, name: str = "admin") -> Level:
        response = await self._client.get(url, headers={"X-Cast": name})
        found: Level = response.context["scope"].level
        return found

    def keep(self, value: str) -> None:
        self._client.cookies[COOKIE] = value


def test_no_rail_has_more_than_fourteen_entries() -> None:
    assert max(len(entries) for entries in RAILS.values()) <= 14


async def test_an_object_leaves_its_reader_where_they_were(browser: Browser) -> None:
    assert await browser.level(POD) == PROJECT
    assert await browser.level(PODS) == CLUSTER
    assert await browser.level(POD) == CLUSTER
    assert await browser.level(f"{POD}/yaml") == CLUSTER
    assert await browser.level(f"{PODS}?namespace=shop") == PROJECT
    assert await browser.level("/clusters/host/projects/team-a/pods/web-1") == PROJECT
    assert await browser.level("/no-such-page") == PROJECT
    assert await browser.level("/clusters/host/projects/shop") == PROJECT
    assert await browser.level("/dashboard") == Level("platform")
    assert await browser.level(POD) == Level("platform")
    # Several projects, or none that there is, are a filter.
    assert await browser.level(f"{PODS}?namespace=shop&namespace=team-a") == CLUSTER
    assert (await browser.level(f"{PODS}?namespace=nowhere")).namespace != "nowhere"


async def test_it_is_remembered_for_whoever_it_was(browser: Browser) -> None:
    assert await browser.level(f"{PODS}?namespace=team-a", "alice") == Level(
        "project", namespace="team-a"
    )
    # Another person at the same browser.
    assert await browser.level(POD) == PROJECT


@pytest.mark.parametrize(
    "value",
    [
        *("", "x", "admin/cluster", "admin/project/host//", "admin/planet/host//"),
        *("admin/cluster/../x/", "admin/project/host//nowhere", "admin/project/other//shop"),
        *("admin/workspace/host//", "admin/project/host//" + "a" * 5000, "alice/cluster/host//"),
    ],
)
async def test_what_a_browser_cannot_have_been_told_is_nothing(
    browser: Browser, value: str
) -> None:
    browser.keep(value)
    assert await browser.level(POD) == PROJECT


async def test_nobody_is_where_they_may_not_be(browser: Browser) -> None:
    browser.keep("alice/project/host//team-b")
    assert (await browser.level(PODS + "?namespace=team-b", "alice")).namespace != "team-b"
    browser.keep("alice/workspace/host/acme/")
    assert (await browser.level("/no-such-page", "alice")).workspace == ""


def test_only_a_page_that_is_there_is_remembered(settings: Settings) -> None:
    settings.SESSION_COOKIE_SECURE = True

    def cookie(status: int, level: Level | None, account: str = "admin") -> Any:
        request: Any = RequestFactory().get("/")
        request.account = account
        if level is not None:
            request.level = level
        response = LevelMiddleware(lambda _request: HttpResponse(status=status))(request)
        return response.cookies.get(COOKIE)  # type: ignore[union-attr]

    assert cookie(404, CLUSTER) is None
    assert cookie(200, None) is None
    assert cookie(200, Level("workspace", workspace="\u202e")) is None
    assert cookie(200, PROJECT, "jos\u00e9") is None
    kept = cookie(200, Level("project", workspace="\u202e", namespace="shop"))
    assert kept.value == "admin/project/host//shop"
    assert kept["httponly"] and kept["secure"] and kept["samesite"] == "Lax"


async def test_all_resources_are_found_by_a_part_of_their_name(client_as: ClientAs) -> None:
    async def found(name: str, query: str = "") -> set[str]:
        response = await client_as(name).get(f"/clusters/host/resources{query}")
        assert response.status_code == 200
        groups = response.context["groups"]
        return {item.url for group in groups for item in group.items}

    everything = await found("admin")
    assert {PODS, "/clusters/host/replicasets"} <= everything
    assert await found("admin", "?q=REPLICA") == {"/clusters/host/replicasets"}
    assert f"{PODS}?namespace=shop" in await found("admin", "?namespace=shop")
    assert await found("admin", "?q=no-such-kind") == set()
    html = await text_of(await client_as("admin").get("/clusters/host/resources?q=<b>"))
    assert "No kind is called that" in html and "<b>" not in html
    assert await found("charlie") == set()
