"""For every kind, members of one project see nothing of other projects, and users without a project
see nothing.

Uses the real authorizer and the Kubernetes roles of a workspace viewer.
"""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from pytest_django import Settings

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GVR,
    NAMESPACES,
    ROLE_BINDINGS,
    ROLES,
    USERS,
    Key,
)
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.ui.core.clusters import clusters
from console.ui.core.kind import ResourceKind, Scope
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.kinds.list_requests import entries_of, ids_of, rows_of, url_of
from tests.kinds.world import LiveLists, Obj, informer_of, objects_of
from tests.live.conftest import Browser
from tests.rbac.objects import native_binding, native_role, project, rule, user
from tests.support.informers import preloaded
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.views import viewers
from tests.views.conftest import ClientAs

BOB, CHARLIE = "viewer-bob", "outsider-charlie"
#: Part of every name and namespace that neither user may learn of.
CANARY = "canary-7f3"
FORMS = ("", "limit=500", "format=json", "format=csv", "format=tsv", f"q={CANARY}")


def rights() -> dict[GVR, list[Obj]]:
    return {
        USERS: [user(BOB), user(CHARLIE)],
        ROLES: [],
        CLUSTER_ROLES: [native_role("shop-viewer", rule("get list watch", "*", "*"))],
        ROLE_BINDINGS: [
            native_binding("bob-views", "shop-viewer", f"User {BOB}", namespace="shop")
        ],
        CLUSTER_ROLE_BINDINGS: [],
        NAMESPACES: [project("shop"), project(f"{CANARY}-project")],
    }


def canary(kind: ResourceKind) -> Obj:
    found = deepcopy(objects_of(kind)[0])
    place = {"namespace": f"{CANARY}-project"} if kind.scope is Scope.NAMESPACED else {}
    found["metadata"] |= {"name": f"{CANARY}-name", "uid": CANARY, **place}
    found["metadata"]["labels"] = {CANARY: CANARY}
    return found


@pytest.fixture
def runtime(kind: ResourceKind) -> Iterator[StaticRuntime]:
    """For kinds that grant permissions, the fixture is added to the bindings of the test."""
    granted = rights()
    informers: dict[GVR, Informer[Any]] = {
        gvr: preloaded(gvr, objects) for gvr, objects in granted.items()
    }
    objects = [*granted.get(kind.gvr, []), *objects_of(kind), canary(kind)]
    informer = informer_of(kind, objects)
    if kind.private:
        found = StaticRuntime(informers, live_lists=LiveLists(informer))
    else:
        found = StaticRuntime({**informers, kind.gvr: informer})
    set_host_cluster(found)
    yield found
    unset_host_cluster()


@pytest.fixture(autouse=True)
def _real_rights(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    people = {
        name: (lambda name=name: clusters.host.access_for(Identity(name)))
        for name in (BOB, CHARLIE)
    }
    monkeypatch.setattr(viewers, "VIEWERS", people)
    settings.ROOT_URLCONF = "tests.views.urls"


def seen(runtime: StaticRuntime, kind: ResourceKind, place: str) -> set[Key]:
    """Return the entries in the project, or the project itself."""
    entries = {entry.key for entry in entries_of(runtime, kind)}
    if kind.gvr == NAMESPACES:
        return {key for key in entries if key.name == place}
    return {key for key in entries if key.namespace == place}


@pytest.mark.sampled
async def test_user_without_a_project_sees_nothing(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    for query in FORMS:
        response = await client_as(CHARLIE).get(url_of(kind, query))
        text = await text_of(response)
        assert response.status_code == 403, query
        assert CANARY not in text.replace(f"q={CANARY}", ""), query
        assert "data-total" not in text
    assert await asked_live(CHARLIE, kind) == 403


async def test_member_of_one_project_sees_nothing_of_others(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    visible = seen(runtime, kind, "shop")
    if kind.scope is Scope.CLUSTER and not visible:
        for query in FORMS:
            assert (await client_as(BOB).get(url_of(kind, query))).status_code == 403
        assert await asked_live(BOB, kind) == 403
        return
    for query in FORMS[:-1]:
        response = await client_as(BOB).get(url_of(kind, query))
        text = await text_of(response)
        assert response.status_code == 200, query
        assert CANARY not in text, query
        if query == "limit=500":
            shown = [entry for entry in entries_of(runtime, kind) if entry.key in visible]
            assert set(rows_of(text)) == ids_of(kind, shown)
            assert f'data-total="{len(visible)}"' in text
        elif query == "format=json":
            found = json.loads(text)
            assert found["total"] == len(visible)
            assert {Key(item["namespace"], item["name"]) for item in found["items"]} == visible
    searched = await text_of(await client_as(BOB).get(url_of(kind, f"q={CANARY}&format=json")))
    assert json.loads(searched)["total"] == 0
    if kind.scope is Scope.NAMESPACED:
        place = f"namespace={CANARY}-project"
        assert (await client_as(BOB).get(url_of(kind, place))).status_code == 403
    assert await asked_live(BOB, kind) == 200


async def asked_live(name: str, kind: ResourceKind) -> int:
    """Return the response of a websocket that subscribes to the list. No frame may contain the
    canary.
    """
    browser = Browser(clusters.host.access_for(Identity(name)))  # type: ignore[arg-type]
    assert await browser.connect()
    await browser.subscribe(url_of(kind), etag="none")
    frame = await browser.frame()
    assert CANARY not in frame
    code = json.loads(frame).get("error", {}).get("code", 200) if frame.startswith("{") else 200
    await browser.leave()
    return int(code)
