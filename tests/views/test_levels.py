"""The level of a page follows its address. Recent levels are offered, but never change a page."""

import asyncio
import re
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import AsyncClient, RequestFactory
from pytest_django import Settings

from console.kube.gvr import GVR, NAMESPACES, USERS, WORKSPACES
from console.kube.gvr import PODS as PODS_TYPE
from console.kube.projections.namespace import WORKSPACE_LABEL
from console.ui.core.menu import menu
from console.ui.navigation.level import Level
from console.ui.navigation.nav import nav
from console.ui.navigation.page_frame import LevelSwitcher
from console.ui.navigation.projects import workspace_of
from console.ui.navigation.recent import COOKIE, RECENT
from console.web.middleware import RecentMiddleware
from tests.support.informers import bring
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess, admin, alice, namespace, pod
from tests.views.conftest import ClientAs
from tests.views.viewers import VIEWERS

PODS = "/clusters/host/pods"
POD = "/clusters/host/projects/shop/pods/web-1"
CLUSTER, PROJECT = Level("cluster"), Level("project", namespace="shop")


@pytest.fixture
def browser(runtime: StaticRuntime, settings: Settings) -> "Browser":
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "console.web.middleware.RecentMiddleware"]
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


class PlatformViewer(FakeAccess):
    """A user who may list `types` in the whole cluster and nothing else."""

    def __init__(self, *types: GVR) -> None:
        super().__init__("erin", list_in=(), delete_in=())
        self._types = types

    def namespaces_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[str] | None:
        return None if verb == "list" and gvr in self._types else frozenset()


@pytest.mark.parametrize("types", [(USERS, NAMESPACES), (USERS,)], ids=["namespaces", "users only"])
async def test_platform_links_to_the_cluster_for_viewers_of_its_projects(
    client_as: ClientAs,
    runtime: StaticRuntime,
    monkeypatch: pytest.MonkeyPatch,
    types: tuple[GVR, ...],
) -> None:
    """In the header and, where phones hide that link, in the menu. Without access to nodes, the menu
    has no list of clusters.
    """
    monkeypatch.setitem(VIEWERS, "erin", lambda: PlatformViewer(*types))
    html = await text_of(await client_as("erin").get("/dashboard"))
    for part in ('<ul class="scope" data-level="platform"', '<ul class="levels"'):
        shown = html.split(part)[1].split("</ul>")[0]
        assert ('href="/clusters/host"' in shown) is (NAMESPACES in types)


@pytest.mark.parametrize(
    ("url", "level"),
    [
        (POD, PROJECT),
        *((f"{POD}/{page}", PROJECT) for page in ("yaml", "actions/delete", "no-such-tab")),
        ("/clusters/host/projects/team-a/pods/web-1", Level("project", namespace="team-a")),
        (PODS, CLUSTER),
        (f"{PODS}?namespace=shop", PROJECT),
        # Several projects or a missing project are a filter.
        (f"{PODS}?namespace=shop&namespace=team-a", CLUSTER),
        (f"{PODS}?namespace=nowhere", CLUSTER),
        # Lists of cluster-scoped kinds have no projects.
        ("/clusters/host/nodes?namespace=shop", CLUSTER),
        ("/clusters/host/nodes/node-1", CLUSTER),
        ("/clusters/host/projects/shop", PROJECT),
        ("/clusters/host/namespaces/shop/yaml", PROJECT),
        ("/clusters/host/namespaces/shop/actions/delete", PROJECT),
        ("/clusters/host/resources?namespace=shop", PROJECT),
        ("/clusters/host/users.iam.kubesphere.io/bob/yaml", Level("platform")),
        ("/access/roles?level=project&namespace=shop", PROJECT),
        ("/dashboard", Level("platform")),
        ("/dashboard?namespace=shop", Level("platform")),
        ("/no-such-page", Level("platform")),
    ],
)
async def test_address_alone_decides_the_level(browser: Browser, url: str, level: Level) -> None:
    for before in (PODS, f"{PODS}?namespace=team-b", "/dashboard"):
        await browser.level(before)
        assert await browser.level(url) == level


@pytest.mark.parametrize(
    ("path", "entry"),
    [
        (POD, "Pods"),
        (f"{POD}/actions/delete", "Pods"),
        ("/clusters/host/namespaces/shop/yaml", "Overview"),
        ("/clusters/host/nodes/node-1", "Nodes"),
        ("/access/roles?level=project&namespace=shop", "Access"),
        ("/access/roles", "Roles"),
    ],
)
async def test_entry_of_the_address_is_highlighted(
    client_as: ClientAs, path: str, entry: str
) -> None:
    response = await client_as("admin").get(path)
    assert [str(one.label) for one in response.context["nav"].rail if one.current] == [entry]


async def test_users_without_platform_permissions_never_have_the_platform_level(
    browser: Browser,
) -> None:
    assert await browser.level("/no-such-page") == Level("platform")
    assert (await browser.level("/no-such-page", "alice")).name != "platform"


async def test_refused_page_has_the_level_of_the_user(browser: Browser) -> None:
    """Alice has access to one project only, and bob to all of the cluster."""
    refused = "/clusters/host/projects/team-b/pods/web-1"
    assert await browser.level(refused, "alice") == await browser.level("/no-such-page", "alice")


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


async def test_project_in_a_workspace_shows_the_workspace(
    browser: Browser, runtime: StaticRuntime
) -> None:
    project = namespace("team-a")
    project["metadata"]["labels"] = {WORKSPACE_LABEL: "acme"}
    bring(runtime.informer(NAMESPACES), project)
    level = Level("project", workspace="acme", namespace="team-a")
    assert await browser.level("/clusters/host/projects/team-a/pods/web-1") == level
    # Alice may not see the workspace.
    alices = Level("project", namespace="team-a")
    assert await browser.level(f"{PODS}?namespace=team-a", "alice") == alices


async def test_header_of_a_cluster_has_no_project_in_its_path(client_as: ClientAs) -> None:
    """Slashes separate only the parts of the path."""

    async def parts(url: str) -> list[tuple[str, str]]:
        page = await text_of(await client_as("admin").get(url))
        header = page.partition('class="scope"')[2].partition("</ul>")[0]
        return re.findall(r'<li(?: class="(\w*)")?>.*?<span[^>]*>([^<]*)<', header, re.S)

    assert await parts(PODS) == [("", "Platform"), ("here", "host"), ("onward", "All projects")]
    assert await parts(POD) == [("", "Platform"), ("", "host"), ("here", "shop")]


async def test_projects_in_the_header_link_to_lists_only_of_namespaced_kinds(
    client_as: ClientAs,
) -> None:
    async def target(url: str) -> str:
        page = await text_of(await client_as("admin").get(url))
        menu = page.partition('id="scope-menu"')[2].partition("</div>")[0]
        return str(re.findall(r'data-choice href="([^"]*)"', menu)[0])

    assert (await target(POD)).startswith(f"{PODS}?namespace=")
    assert (await target("/clusters/host/nodes")).startswith("/clusters/host/projects/")


@pytest.mark.parametrize(
    "value",
    [
        *("", "x", "admin/cluster", "admin/project/host//", "admin/planet/host//"),
        *("admin/cluster/../x/", "admin/project/host//nowhere", "admin/project/other//shop"),
        *("admin/workspace/host//", "admin/project/host//" + "a" * 5000, "alice/cluster/host//"),
    ],
)
async def test_invalid_recent_levels_are_ignored(browser: Browser, value: str) -> None:
    browser.keep(value)
    scope = await browser.scope(POD)
    assert (scope.level, scope.recent) == (PROJECT, ())


async def test_recent_levels_never_change_the_level(browser: Browser) -> None:
    before = await browser.level("/no-such-page", "alice")
    browser.keep("alice/project/host//team-a|alice/workspace/host/acme/")
    assert await browser.level("/no-such-page", "alice") == before
    assert await browser.level(PODS, "alice") == CLUSTER


async def test_recent_levels_are_limited_to_accessible_ones(browser: Browser) -> None:
    for place in ("shop", "team-a", "team-b", "shop"):
        await browser.level(f"{PODS}?namespace={place}")
    found = [one.namespace for one in (await browser.scope(PODS)).recent]
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

        response: Any = asyncio.run(RecentMiddleware(page)(request))
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


async def test_changing_the_project_of_a_list_reloads_the_page(client_as: ClientAs) -> None:
    page = "http://testserver" + f"{PODS}?namespace=shop"
    htmx = client_as("admin", **{"HX-Request": "true", "HX-Current-URL": page})
    assert "HX-Redirect" not in await htmx.get(f"{PODS}?namespace=shop&q=web")
    for url in (f"{PODS}?q=web", f"{PODS}?namespace=team-a"):
        assert (await htmx.get(url))["HX-Redirect"] == url


async def test_title_names_the_project_of_the_address(client_as: ClientAs) -> None:
    async def title(url: str, name: str = "admin") -> str:
        html = await text_of(await client_as(name).get(url))
        return html.partition("<title>")[2].partition("</title>")[0]

    assert await title(POD) == "web-1 · Pods · shop"
    assert await title(f"{POD}/actions/delete") == "Delete pod web-1 · shop"
    assert await title(f"{PODS}?namespace=shop") == "1 ◆ Pods · shop"
    assert await title("/clusters/host/projects/shop") == "Project shop"
    # The page of an error doesn't name another project.
    assert "team" not in await title("/clusters/host/projects/team-b/pods/web-1", "alice")


async def test_palette_offers_pages_of_the_referring_page(client_as: ClientAs) -> None:
    async def offered(page: str) -> str:
        client = client_as("admin", Referer=f"http://testserver{page}")
        return await text_of(await client.get("/palette?q=overview"))

    project = "/clusters/host/projects/shop"
    assert f'href="{project}"' in await offered(POD)
    assert f'href="{project}"' not in await offered(PODS)
