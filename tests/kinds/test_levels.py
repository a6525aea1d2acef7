"""The level and the highlighted menu entry of each kind's pages."""

from typing import Any

import pytest

from console.kube.gvr import (
    LOGIN_RECORDS,
    NAMESPACES,
    USERS,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
    Key,
)
from console.ui.core.kind import ResourceKind
from console.ui.core.links import action_url, list_url
from console.ui.core.menu import NAV_ENTRIES
from console.ui.navigation.level import Level
from console.ui.navigation.projects import workspace_of
from tests.kinds.list_requests import addresses, entries_of
from tests.support.informers import bring
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import admin, namespace
from tests.views.conftest import ClientAs

pytestmark = pytest.mark.django_db(transaction=True)


def expected_level(kind: ResourceKind, namespace: str, name: str) -> Level:
    if kind.gvr == NAMESPACES:
        return Level("project", workspace=workspace_of(admin(), name), namespace=name)
    if kind.gvr in (WORKSPACES, WORKSPACE_TEMPLATES):
        return Level("workspace", workspace=name)
    if kind.gvr in (USERS, LOGIN_RECORDS):
        return Level("platform")
    return Level("project" if namespace else "cluster", namespace=namespace)


def expected_entry(kind: ResourceKind, level: Level, *, represented: bool = False) -> str:
    if represented and level.name in ("project", "workspace"):
        return "Overview"
    entry = NAV_ENTRIES.get(kind.nav.entry)
    listed = entry is not None and level.name in entry.levels
    return str(entry.label) if entry is not None and listed else "More resources"


def object_of(kind: ResourceKind, runtime: StaticRuntime) -> Key:
    """Return the first object of the fixture. Its namespace exists."""
    key = min(entries_of(runtime, kind), key=lambda entry: entry.key).key
    if key.namespace:
        bring(runtime.informer(NAMESPACES), namespace(key.namespace))
    return key


def shown(response: Any) -> tuple[Level, list[str]]:
    """Return the level, and the highlighted entries."""
    rail = response.context["nav"].rail
    return response.context["scope"].level, [str(one.label) for one in rail if one.current]


async def test_pages_of_an_object_have_its_level_and_highlight_its_entry(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    key = object_of(kind, runtime)
    level = expected_level(kind, key.namespace, key.name)
    represented = bool(kind.page_url("host", key))
    wanted = level, [expected_entry(kind, level, represented=represented)]
    pages = [addresses(kind, key)[0]]
    if "delete" in kind.actions_by_name:
        pages.append(action_url("delete", "host", kind.segment, key))
    for page in pages:
        response = await client_as("admin").get(page)
        assert shown(response) == wanted, page


async def test_list_has_the_level_of_its_project_filter(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    project = object_of(kind, runtime).namespace
    platform = kind.gvr in (USERS, LOGIN_RECORDS)
    level = Level("platform" if platform else "cluster")
    response = await client_as("admin").get(list_url("host", kind.segment))
    assert shown(response) == (level, [expected_entry(kind, level)])
    if project:
        level = Level("project", namespace=project)
        response = await client_as("admin").get(list_url("host", kind.segment, project))
        assert shown(response) == (level, [expected_entry(kind, level)])
