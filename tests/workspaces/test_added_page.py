"""A new workspace page consists of a view with its declaration, a URL, a template and its
translations.

The test adds a page to the URLs of the console without changing the page frame or the navigation.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.http import HttpResponse
from django.urls import path
from pytest_django import Settings

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CONFIG_MAPS,
    JOBS,
    USERS,
    WORKSPACES,
)
from console.kube.identity import Identity
from console.ui.core.clusters import clusters
from console.ui.core.menu import MenuEntry
from console.ui.core.requests import ConsoleRequest
from console.ui.navigation.level import Level
from console.ui.navigation.nav import nav
from console.ui.navigation.page_routes import PageRoute, resolve_page
from console.urls import urlpatterns
from console.views.page import page
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.rbac.objects import TENANT, Manifest, native_binding, native_role, rule, user, workspace
from tests.support.informers import bring, preloaded
from tests.support.staticruntime import StaticRuntime
from tests.views.conftest import Utf8Client
from tests.workspaces.fakes import TYPES
from workspaces.pages import base
from workspaces.pages.forms import WorkspaceForm

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("site", "added")]

REPORTS = "/workspaces/acme/reports"
MAY_SEE = rule("get", "workspaces", TENANT)
MAY_REPORT = rule("list", "configmaps")


def _reports(seen: base.VisibleWorkspace, **_more: str) -> Mapping[str, Any]:
    return {"text": f"Reports of {seen.workspace.alias}"}


@pytest.fixture
def added(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Add a page and a form that belongs to it: two views, their URLs and a template."""
    monkeypatch.setattr(base, "WATCHED_TYPES", set(base.WATCHED_TYPES))
    entry = MenuEntry(
        ("workspace",), 25, "Reports", "scale", lambda access: access.can("list", CONFIG_MAPS)
    )

    @page("GET", follows=base.live_page(_reports, JOBS), menu=entry)
    async def reports(request: ConsoleRequest, workspace: str) -> HttpResponse:
        opened = await base.open_workspace(request, workspace)
        values = _reports(opened)
        return await base.render_live_page(opened, "reports", "workspaces/_reports.html", values)

    @page("GET", menu=entry)
    async def new(request: ConsoleRequest, workspace: str, day: str) -> HttpResponse:
        opened = await base.open_workspace(request, workspace)
        return await base.form_page(
            opened, "reports", WorkspaceForm(None), title="Create report", button="Create"
        )

    (tmp_path / "workspaces").mkdir()
    (tmp_path / "workspaces/_reports.html").write_text("<p>{{ text }}</p>")
    [templates] = settings.TEMPLATES
    settings.TEMPLATES = [{**templates, "DIRS": [*templates["DIRS"], tmp_path]}]
    urls: Any = ModuleType("urls_with_reports")
    urls.urlpatterns = [
        *urlpatterns,
        path("workspaces/<str:workspace>/reports", reports, name="reports"),
        path("workspaces/<str:workspace>/reports/new/<str:day>", new, name="new_report"),
    ]
    settings.ROOT_URLCONF = urls


@pytest.fixture
def runtime() -> Iterator[StaticRuntime]:
    objects = {USERS: [user("nina")], WORKSPACES: [workspace("acme")]}
    types = dict.fromkeys((*TYPES, JOBS))
    found = StaticRuntime({gvr: preloaded(gvr, objects.get(gvr, [])) for gvr in types})
    set_host_cluster(found)
    yield found
    unset_host_cluster()


def _allow(runtime: StaticRuntime, *rules: Manifest) -> None:
    bring(runtime.informer(CLUSTER_ROLES), native_role("nina", *rules))
    bring(runtime.informer(CLUSTER_ROLE_BINDINGS), native_binding("nina", "nina", "User nina"))


def _menu() -> list[str]:
    access = clusters.host.access_for(Identity("nina"))
    return [str(one.label) for one in nav(access, Level("workspace", workspace="acme"), "").rail]


async def test_added_page_is_in_the_menu_in_its_place(runtime: StaticRuntime) -> None:
    _allow(runtime, MAY_SEE, MAY_REPORT)
    expected = ["Overview", "Projects", "Members", "Reports", "Departments", "Roles"]
    assert _menu() == [*expected, "Templates", "Quota", "Settings"]


async def test_menu_hides_the_added_page_from_users_without_permission(
    runtime: StaticRuntime,
) -> None:
    _allow(runtime, MAY_SEE)
    assert "Members" in _menu() and "Reports" not in _menu()


@pytest.mark.parametrize(
    ("url", "title"), [(REPORTS, "Reports"), (f"{REPORTS}/new/1", "Create report")]
)
async def test_added_page_has_the_frame_of_its_workspace(
    runtime: StaticRuntime, url: str, title: str
) -> None:
    _allow(runtime, MAY_SEE, MAY_REPORT)
    response: Any = await Utf8Client().get(url, headers={"X-Person": "nina"})
    assert response.status_code == 200
    assert response.context["scope"].level == Level("workspace", workspace="acme")
    [current] = [one for one in response.context["nav"].rail if one.current]
    assert (str(current.label), current.url) == ("Reports", REPORTS)
    html = response.content.decode()
    assert f"<title>{title} · acme" in html


async def test_added_page_is_updated_when_its_content_changes(runtime: StaticRuntime) -> None:
    _allow(runtime, MAY_SEE)
    before: Any = await Utf8Client().get(REPORTS, headers={"X-Person": "nina"})
    found = resolve_page(REPORTS)
    assert isinstance(found, PageRoute)
    # The first request starts to watch the type.
    assert JOBS in found.types and JOBS in base.WATCHED_TYPES
    access = clusters.host.access_for(Identity("nina"))
    assert found.etag(access) == before["ETag"]
    changed = workspace("acme")
    changed["metadata"].setdefault("annotations", {})["kubesphere.io/alias-name"] = "Acme Inc."
    bring(runtime.informer(WORKSPACES), changed)
    assert found.etag(access) != before["ETag"]
