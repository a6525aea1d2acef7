"""Kinds of types that are known only from the discovery API."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import pytest

from console.kube.api_discovery import Discovered, ServedType
from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, GVR, HTTP_ROUTES, NAMESPACES
from console.kube.identity import Identity
from console.kube.livelist import LiveList
from console.kube.projections.definition import PrinterColumn
from console.kube.tables import TableParser
from console.ui.core.clusters import Kinds, clusters
from console.ui.core.custom_kinds import LASTING, TableKind
from console.ui.core.kind_names import kind_named
from console.ui.core.registry import _problems, kinds
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.support.informers import preloaded
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import NAMESPACE_NAMES, namespace
from tests.views.conftest import ClientAs

ALL = frozenset({"create", "delete", "get", "list", "patch", "update", "watch"})
FLOWS = GVR("flowcontrol.apiserver.k8s.io", "v1", "flowschemas")


def served(gvr: GVR, kind: str, *verbs: str, namespaced: bool = False) -> ServedType:
    return ServedType(gvr, kind, kind.lower(), (), namespaced, frozenset(verbs) or ALL)


#: The types of the console's own kinds, except the Gateway API.
DECLARED = [
    served(kind.gvr, kind.api_kind, namespaced=kind.view.namespaced)
    for kind in kinds
    if kind.gvr.group != HTTP_ROUTES.group
]


class World:
    """A cluster that serves these types. `body` is the response to every request for a table."""

    def __init__(self) -> None:
        self.body = b""
        spaces = preloaded(NAMESPACES, [namespace(name) for name in NAMESPACE_NAMES])
        definitions = preloaded(CUSTOM_RESOURCE_DEFINITIONS)
        informers = {CUSTOM_RESOURCE_DEFINITIONS: definitions, NAMESPACES: spaces}
        client: Any = self
        self.runtime = StaticRuntime(
            informers, user_client=lambda _who: client, live_lists=self.live_list
        )
        set_host_cluster(self.runtime)

    def serve(self, *types: ServedType) -> None:
        self.runtime.served.replace(Discovered([*DECLARED, *types]))

    async def get_columns(self, gvr: GVR, namespace: str) -> bytes:
        return self.body

    def live_list(self, gvr: GVR, identity: Identity, namespaces: Sequence[str]) -> LiveList[Any]:
        kind = clusters.host.kinds.of(gvr)
        assert isinstance(kind, TableKind)
        parser = TableParser(kind.view.namespaced)
        page = parser.page(self.body)
        found: LiveList[Any] = LiveList(gvr, parser.decode, {}, self.runtime.spawn)
        found.__enter__ = lambda: found  # type: ignore[method-assign]
        found.replace([raw for raw, _values in page.rows.values()], page.version)
        found.connected()
        return found


@pytest.fixture
def world() -> Iterator[World]:
    yield World()
    unset_host_cluster()


@pytest.fixture
def runtime(world: World) -> StaticRuntime:
    return world.runtime


def found() -> Kinds:
    return clusters.host.kinds


def test_kind_is_found_by_its_address_and_names(world: World) -> None:
    assert found().find(FLOWS.qualified) is None
    world.serve(served(FLOWS, "FlowSchema"))
    kind = found().find(FLOWS.qualified)
    assert isinstance(kind, TableKind)
    assert (kind.gvr, kind.title, kind.nav.group) == (FLOWS, "FlowSchemas", "other")
    assert kind is found().find("flowschemas") is found().of(FLOWS)
    assert kind is kind_named(found(), "flowschema") is kind_named(found(), "flowschemas")
    assert list(_problems(type(kind))) == []
    world.serve()
    assert found().find(FLOWS.qualified) is None and kind_named(found(), "flowschema") is None


def test_core_type_does_not_replace_a_built_in_kind(world: World) -> None:
    world.serve(served(GVR("", "v1", "podtemplates"), "PodTemplate", namespaced=True))
    assert isinstance(found().find("podtemplates"), TableKind)
    assert found().find("pods") is kinds.by_segment("pods")


def test_type_with_the_plural_of_another_kind_is_titled_by_its_kind(world: World) -> None:
    metrics = GVR("metrics.k8s.io", "v1beta1", "pods")
    world.serve(served(metrics, "PodMetrics", "get", "list", namespaced=True))
    kind = found().find("pods.metrics.k8s.io")
    assert kind is not None and kind.title == "PodMetrics"


@pytest.mark.parametrize(
    ("verbs", "listed", "exists", "actions"),
    [
        (("list",), True, True, set()),
        (("get",), False, True, set()),
        (("create",), False, False, set()),
        (("get", "list", "delete"), True, True, {"delete"}),
        (("get", "list", "watch", "patch"), True, True, {"edit", "labels"}),
    ],
)
def test_kind_offers_what_the_verbs_allow(
    world: World, verbs: tuple[str, ...], listed: bool, exists: bool, actions: set[str]
) -> None:
    world.serve(served(FLOWS, "FlowSchema", *verbs))
    kind = found().find(FLOWS.qualified)
    assert (kind is not None, kind in [*found().customs]) == (exists, listed)
    if kind is not None:
        assert {"delete", "edit", "labels"} & set(kind.actions_by_name) == actions


def test_uninstalled_kinds_are_not_offered(world: World) -> None:
    routes = kinds.by_type(HTTP_ROUTES)
    assert routes in found().offered and not found().installed(HTTP_ROUTES)
    world.serve()
    assert routes not in found().offered and kind_named(found(), "httproutes") is None
    # The kind still exists, so that its pages can say that the type is not installed.
    assert found().find(HTTP_ROUTES.qualified) is routes
    world.serve(served(HTTP_ROUTES, "HTTPRoute", namespaced=True))
    assert routes in found().offered and found().installed(HTTP_ROUTES)


def test_other_version_of_a_built_in_kind_has_a_generic_kind(world: World) -> None:
    old = GVR(HTTP_ROUTES.group, "v1beta1", HTTP_ROUTES.resource)
    world.serve(served(old, "HTTPRoute", namespaced=True))
    kind = found().find(HTTP_ROUTES.qualified)
    assert isinstance(kind, TableKind)
    assert kind.gvr == old and kind in [*found().customs]


def test_columns_that_change_in_each_response_do_not_change_the_kind_each_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("console.ui.core.custom_kinds.time.monotonic", lambda: now[0])
    world.serve(served(FLOWS, "FlowSchema"))
    seen = set()
    for number in range(20):
        found().customs.note_columns(FLOWS, (PrinterColumn(name=f"C{number}"),))
        seen.add(found().find(FLOWS.qualified))
    assert len(seen) == 1
    now[0] += LASTING
    found().customs.note_columns(FLOWS, (PrinterColumn(name="New"),))
    kind = found().find(FLOWS.qualified)
    assert kind not in seen and kind is not None and "new" in kind.sortable


MARKUP = "<script>alert(1)</script>\u202e"


def body(*rows: object, columns: object = None) -> bytes:
    return msgspec.json.encode(
        {"kind": "Table", "metadata": {}, "columnDefinitions": columns, "rows": rows}
    )


HOSTILE: dict[str, Callable[[], bytes]] = {
    "no columns": lambda: body({"cells": None, "object": {"metadata": {"name": "a"}}}),
    "markup": lambda: body(
        {
            "cells": [MARKUP, MARKUP],
            "object": {"metadata": {"name": MARKUP, "labels": {MARKUP: MARKUP}}},
        },
        {"cells": [3, {"a": MARKUP}], "object": {"metadata": {"name": "b"}}},
        columns=[{"name": "Name"}, {"name": MARKUP, "type": MARKUP}, {"name": ""}],
    ),
    "wrong types": lambda: body(1, None, {"cells": 3}, columns={"name": 3}.get("x")),
    "no rows": lambda: b'{"kind":"Table"}',
    "a list": lambda: b'{"kind":"List","items":[{"metadata":{"name":"a"}},7]}',
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_table_never_causes_an_internal_error(
    world: World, client_as: ClientAs, name: str
) -> None:
    world.serve(served(FLOWS, MARKUP[:40]))
    world.body = HOSTILE[name]()
    for query in ("", "?sort=-column_3", "?q=alert", "?format=json", "?format=csv", "?columns=x"):
        response = await client_as("admin").get(f"/clusters/host/{FLOWS.qualified}{query}")
        text = await text_of(response)
        assert response.status_code in (200, 400), (query, text)
        if "format" not in query:
            assert "<script>alert" not in text and "\u202e" not in text


async def test_list_of_a_type_without_the_verb_list_says_so(
    world: World, client_as: ClientAs
) -> None:
    world.serve(served(FLOWS, "FlowSchema", "get"))
    response = await client_as("admin").get(f"/clusters/host/{FLOWS.qualified}")
    assert response.status_code == 404 and "cannot list" in await text_of(response)
