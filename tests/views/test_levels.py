"""The active level: some pages set it, all others keep the previous one."""

import asyncio
import re
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import AsyncClient, RequestFactory
from pytest_django import Settings

from console.kube.gvr import GVR, NAMESPACES, WORKSPACES
from console.kube.gvr import PODS as PODS_TYPE
from console.kube.projections.namespace import WORKSPACE_LABEL
from console.ui.core.menu import menu
from console.ui.navigation.level import COOKIE, RECENT, Level
from console.ui.navigation.nav import nav
from console.ui.navigation.page_frame import LevelSwitcher
from console.ui.navigation.projects import workspace_of
from console.web.middleware import LevelMiddleware
from tests.informers import bring
from tests.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess, admin, alice, namespace, pod
from tests.views.conftest import ClientAs
from tests.views.test_lists import text_of

PODS = "/clusters/host/pods"
POD = "/clusters/host/projects/shop/pods/web-1"
CLUSTER, PROJECT = Level("cluster"), Level("project", namespace="shop")


@pytest.fixture
def browser(runtime: StaticRuntime, settings: Settings) -> "Browser":
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "console.web.middleware.LevelMiddleware"]
    return Browser()


class Browser:
    """A browser with cookies. `level` returns the level of an opened page, `scope` its whole scope."""

    def __init__(self) -> None:
        self._client = AsyncClient()

    async def level(self, url: str, name: str = "admin") -> Level:
        return (await self.scope(url, name)).level

    async def scope(self, url: str, name: str = "admin") -> LevelSwitcher:
        response = await self._client.get(url, headers={"X-Cast": name})
        found: LevelSwitcher = response.context["scope"]
        return found

    def keep(self, value: str) -> None:
        self._client.cookies[COOKIE] = value

    def kept(self) -> str:
        return str(self._client.cookies[COOKIE].value)


def test_menus_have_at_most_fourteen_entries() -> None:
    assert max(len(entries) for entries in menu().levels.values()) <= 14


def test_clusters_are_listed_only_for_users_who_may_list_nodes(runtime: StaticRuntime) -> None:
    """Users with all permissions in single projects have none there."""
    rails = (nav(access, Level("platform"), "").rail for access in (admin(), alice()))
    assert ["/clusters" in {entry.url for entry in rail} for rail in rails] == [True, False]


async def test_object_page_keeps_the_level(browser: Browser) -> None:
    assert await browser.level(POD) == PROJECT
    assert await browser.level(PODS) == CLUSTER
    assert await browser.level(POD) == CLUSTER
    assert await browser.level(f"{POD}/yaml") == CLUSTER
    assert await browser.level(f"{PODS}?namespace=shop") == PROJECT
    # An object of another project is shown without changing the level.
    other = await browser.level("/clusters/host/projects/team-a/pods/web-1")
    assert other == Level("project", namespace="team-a")
    assert await browser.level("/no-such-page") == PROJECT
    assert await browser.level("/clusters/host/projects/shop") == PROJECT
    assert await browser.level("/dashboard") == Level("platform")
    assert await browser.level(POD) == Level("platform")
    # Several projects or a missing project are a filter.
    assert await browser.level(f"{PODS}?namespace=shop&namespace=team-a") == CLUSTER
    assert (await browser.level(f"{PODS}?namespace=nowhere")).namespace != "nowhere"


async def test_users_without_platform_permissions_never_have_the_platform_level(
    browser: Browser,
) -> None:
    assert await browser.level("/no-such-page") == Level("platform")
    assert await browser.level("/no-such-page", "alice") == CLUSTER
    # A refused page does not change the level.
    mine = Level("project", namespace="team-a")
    assert await browser.level(f"{PODS}?namespace=team-a", "alice") == mine
    assert await browser.level(POD, "alice") == mine


@pytest.mark.parametrize("known", [(), (NAMESPACES,), (WORKSPACES,), (NAMESPACES, WORKSPACES)])
def test_workspace_of_a_project_requires_permission_for_both(
    runtime: StaticRuntime, known: tuple[GVR, ...]
) -> None:
    class Reader(FakeAccess):
        def namespaces_where(
            self, verb: str, gvr: GVR, subresource: str = ""
        ) -> frozenset[str] | None:
            return None if verb == "get" and gvr in known else frozenset()

    project = namespace("team-a")
    project["metadata"]["labels"] = {WORKSPACE_LABEL: "acme"}
    bring(runtime.informer(NAMESPACES), project)
    assert workspace_of(Reader(), "team-a") == ("acme" if len(known) == 2 else "")


async def test_object_elsewhere_does_not_show_the_previous_workspace(
    browser: Browser, runtime: StaticRuntime
) -> None:
    project = namespace("team-a")
    project["metadata"]["labels"] = {WORKSPACE_LABEL: "acme"}
    bring(runtime.informer(NAMESPACES), project)
    acme = Level("workspace", workspace="acme")
    browser.keep("admin/workspace/host/acme/")
    assert await browser.level("/clusters/host/projects/team-a/pods/web-1") == acme
    assert await browser.level(POD) == PROJECT
    # Nodes are shown at any level; users belong to the platform.
    assert await browser.level("/clusters/host/nodes/node-1") == acme
    assert await browser.level("/clusters/host/users.iam.kubesphere.io/bob/yaml") == Level(
        "platform"
    )


async def test_level_is_remembered_per_account(browser: Browser) -> None:
    assert await browser.level(f"{PODS}?namespace=team-a", "alice") == Level(
        "project", namespace="team-a"
    )
    # Another user of the same browser.
    assert await browser.level(POD) == PROJECT


@pytest.mark.parametrize(
    "value",
    [
        *("", "x", "admin/cluster", "admin/project/host//", "admin/planet/host//"),
        *("admin/cluster/../x/", "admin/project/host//nowhere", "admin/project/other//shop"),
        *("admin/workspace/host//", "admin/project/host//" + "a" * 5000, "alice/cluster/host//"),
    ],
)
async def test_invalid_cookie_is_ignored(browser: Browser, value: str) -> None:
    browser.keep(value)
    assert await browser.level(POD) == PROJECT


async def test_forbidden_level_is_never_active(browser: Browser) -> None:
    browser.keep("alice/project/host//team-b")
    assert (await browser.level(PODS + "?namespace=team-b", "alice")).namespace != "team-b"
    browser.keep("alice/workspace/host/acme/")
    assert (await browser.level("/no-such-page", "alice")).workspace == ""


async def test_recent_levels_are_limited_to_accessible_ones(browser: Browser) -> None:
    for place in ("shop", "team-a", "team-b", "shop"):
        await browser.level(f"{PODS}?namespace={place}")
    await browser.level(PODS)
    found = [one.namespace for one in (await browser.scope(POD)).recent]
    assert found == ["shop", "team-b", "team-a"]
    here = await browser.scope(f"{PODS}?namespace=team-b")
    assert [one.namespace for one in here.recent] == ["shop", "team-a"]
    # Alice has access to one of them, and the other user's levels are not hers.
    assert (await browser.scope(POD, "alice")).recent == ()
    browser.keep("|".join(f"alice/project/host//{name}" for name in ("team-b", "team-a", "shop")))
    here = await browser.scope("/no-such-page", "alice")
    assert "team-b" not in [one.namespace for one in here.recent]


async def test_number_of_recent_levels_is_limited(browser: Browser) -> None:
    browser.keep("|".join(f"admin/workspace/host/w{n}/" for n in range(50)))
    await browser.level(PODS)
    assert browser.kept() == "|".join(
        ["admin/cluster/host//", *(f"admin/workspace/host/w{n}/" for n in range(RECENT - 1))]
    )


async def test_pickers_show_failing_objects_the_viewer_may_see(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    async def failing(name: str) -> dict[str, int]:
        scope = (await client_as(name).get(PODS)).context["scope"]
        return {
            project: number
            for (level, project), number in scope.problems.failing.items()
            if level == "project"
        }

    before = (await failing("admin")).get("team-b", 0)
    bring(
        runtime.informer(PODS_TYPE), pod("broken", namespace="team-b", waiting="CrashLoopBackOff")
    )
    assert (await failing("admin"))["team-b"] == before + 1
    assert "team-b" not in await failing("alice")
    page = await text_of(await client_as("admin").get(PODS))
    menu = page.partition('id="scope-menu"')[2].partition("</div>")[0]
    assert re.search(rf'team-b <span class="kind-count failing"><span[^>]*>{before + 1}<', menu)


def test_level_is_remembered_only_for_successful_pages(settings: Settings) -> None:
    settings.SESSION_COOKIE_SECURE = True

    def cookie(status: int, level: Level | None, account: str = "admin") -> Any:
        request: Any = RequestFactory().get("/")
        request.account = account
        if level is not None:
            request.level = level

        async def page(_request: HttpRequest) -> HttpResponse:
            return HttpResponse(status=status)

        response: Any = asyncio.run(LevelMiddleware(page)(request))
        return response.cookies.get(COOKIE)

    assert cookie(404, CLUSTER) is None
    assert cookie(200, None) is None
    assert cookie(200, Level("workspace", workspace="\u202e")) is None
    assert cookie(200, PROJECT, "jos\u00e9") is None
    kept = cookie(200, Level("project", workspace="\u202e", namespace="shop"))
    assert kept.value == "admin/project/host//shop"
    assert kept["httponly"] and kept["secure"] and kept["samesite"] == "Lax"


async def test_all_resources_page_filters_by_a_part_of_the_name(client_as: ClientAs) -> None:
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
    assert "No kinds found" in html and "<b>" not in html
    assert await found("charlie") == set()
