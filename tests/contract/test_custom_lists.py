"""Lists of custom resources of types that are described only by their definitions."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from console.audit.models import AuditRecord
from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, GVR, NAMESPACES
from console.kube.kubeconfig import ROLES, write_console_kubeconfig
from console.kube.runtime import Runtime
from console.ui.core.clusters import clusters
from console.ui.lists.columns import PrintedColumn
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.crds import definition, establish, widget
from tests.contract.grants import Grants, rule, user
from tests.contract.objects import CRDS, RBAC, unique
from tests.controlplane.waiting import eventually
from tests.kube.clusters import live
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs, _site
from tests.views.viewers import VIEWERS

__all__ = ["_site"]

#: A generous timeout in seconds: these tests don't measure the server's speed.
TIMEOUT = 20.0
SCHEMA: Obj = {
    "type": "object",
    "properties": {
        "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "status": {
            "type": "object",
            "properties": {
                "conditions": {
                    "type": "array",
                    "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                }
            },
        },
    },
}
#: Name, type, and path of each printer column, with all column types that apiextensions allows.
COLUMNS = (
    ("Size", "integer", ".spec.size"),
    ("Share", "number", ".spec.share"),
    ("Whole share", "integer", ".spec.share"),
    ("On", "boolean", ".spec.on"),
    ("Wheels", "integer", '.spec.parts[?(@.name=="wheel")].count'),
    ("First", "string", ".spec.parts[0].name"),
    ("Last", "string", ".spec.parts[-1].name"),
    ("Every", "string", ".spec.parts[*].name"),
    ("Others", "string", ".spec.parts[1:].name"),
    ("Quoted", "string", r".spec['odd\.name']"),
    ("Two names", "string", ".spec['odd.name']"),
    ("Notes", "string", ".spec.notes"),
    ("Ready", "string", '.status.conditions[?(@.type=="Ready")].status'),
    ("Since", "date", ".spec.since"),
    ("Team", "string", ".metadata.labels.team"),
    ("Note", "string", r".metadata.annotations.example\.com/note"),
    ("Nowhere", "string", ".spec.nowhere.at.all"),
    ("Not a number", "integer", ".spec.color"),
    ("<img src=x onerror=alert(1)>", "string", ".spec.color"),
    ("Age", "date", ".metadata.creationTimestamp"),
)
WIDGETS: dict[str, Obj] = {
    "anchor": {
        "size": 10,
        "share": 0.5,
        "on": True,
        "color": "blue",
        "parts": [{"name": "wheel", "count": 4}, {"name": "axle", "count": 2}],
        "odd.name": "dots",
        "notes": {"b": [1]},
        "since": "2026-01-02T03:04:05Z",
    },
    "buoy": {"size": 9, "share": 2, "on": False, "color": "<b>red</b>", "parts": []},
    "chart": {"size": "large", "share": "none", "on": "yes", "since": "whenever", "color": "=1+1"},
    "davit": {},
}
LABELS: dict[str, dict[str, str]] = {"anchor": {"team": "deck"}, "buoy": {"team": "shore"}}


def columns(*declared: tuple[str, str, str]) -> list[Obj]:
    return [{"name": name, "type": kind, "jsonPath": path} for name, kind, path in declared]


def own_definition(*declared: tuple[str, str, str]) -> Obj:
    printed = columns(*declared)
    return definition(schema={"openAPIV3Schema": SCHEMA}, additionalPrinterColumns=printed)


def gvr_of(crd: Obj) -> GVR:
    return GVR(crd["spec"]["group"], "v1", "widgets")


def list_of(crd: Obj, query: str = "") -> str:
    return f"/clusters/host/{crd['metadata']['name']}" + (f"?{query}" if query else "")


@dataclass(frozen=True)
class World:
    crd: Obj
    where: str


@pytest.fixture(scope="module")
def _runtime(cluster: Cluster) -> Iterator[Runtime]:
    runtime = Runtime(kubeconfig=str(cluster.kubeconfig))
    runtime.start()
    runtime.require([NAMESPACES])
    definitions = runtime.informer(CUSTOM_RESOURCE_DEFINITIONS)
    eventually(lambda: live(definitions), "definitions are known")
    yield runtime
    runtime.stop()


@pytest.fixture(autouse=True)
def runtime(_runtime: Runtime) -> Iterator[Runtime]:
    set_host_cluster(_runtime)
    yield _runtime
    unset_host_cluster()


@pytest.fixture(scope="module")
def world(admin: Client, namespace: str) -> Iterator[World]:
    crd = own_definition(*COLUMNS)
    with ExitStack() as stack:
        where = establish(admin, Cleanup(admin, stack), crd, namespace)
        for name, spec in WIDGETS.items():
            body = widget(crd, name, **spec)
            body["metadata"]["labels"] = LABELS.get(name, {})
            body["metadata"]["annotations"] = {"example.com/note": f"of {name}"}
            if name in ("anchor", "buoy"):
                status = "True" if name == "anchor" else "False"
                ready = {"type": "Ready", "status": status, "reason": "Tide", "message": "is out"}
                body["status"] = {"conditions": [ready]}
            admin.post(where, body).ok()
        yield World(crd, where)


async def items(crd: Obj, query: str = "") -> list[dict[str, Any]]:
    """Return the items of the list after it has loaded."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        response = await ClientAs()("admin").get(list_of(crd, f"format=json&{query}"))
        text = await text_of(response)
        if response.status_code == 200 or time.monotonic() > deadline:
            assert response.status_code == 200, text
            return list(json.loads(text)["items"])


async def names(crd: Obj, query: str = "") -> list[str]:
    return [item["name"] for item in await items(crd, query)]


async def test_values_match_the_table_of_the_server(admin: Client, world: World) -> None:
    accept = "application/json;as=Table;g=meta.k8s.io;v=v1"
    table = admin.with_headers(("Accept", accept)).get(world.where).ok()
    heads = [column["name"] for column in table["columnDefinitions"]]
    kind = clusters.host.kinds.find(world.crd["metadata"]["name"])
    assert kind is not None
    printed = [column for column in kind.columns if isinstance(column, PrintedColumn)]
    assert len(printed) == len(COLUMNS) - 1
    found = {item["name"]: item for item in await items(world.crd)}
    assert found.keys() == WIDGETS.keys()
    for row in table["rows"]:
        cells = dict(zip(heads, row["cells"], strict=True))
        item = found[cells["Name"]]
        for column, (name, kind_of, _path) in zip(printed, COLUMNS, strict=False):
            if kind_of == "date":
                # The server prints a relative time, and `<invalid>` for values that are not a time.
                assert (item[column.id] is None) is (cells[name] in (None, "<invalid>"))
            else:
                assert _cell(item[column.id]) == _cell(cells[name]), (cells["Name"], name)


def _cell(value: Any) -> str:
    """Return the JSON value in a uniform text form."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return str(float(value))
    except ValueError:
        return str(value)


async def test_the_status_comes_from_conditions(world: World) -> None:
    found = {item["name"]: item["status"] for item in await items(world.crd)}
    assert (found["anchor"]["severity"], found["anchor"]["word"]) == ("ok", "Ready")
    assert (found["buoy"]["word"], found["buoy"]["reason"]) == ("Not ready", "Tide: is out")
    assert found["davit"]["word"] == "Waiting"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("q=anchor", {"anchor"}),
        ("q=dots", {"anchor"}),
        ("q=nothing-like-it", set()),
        ("label=team%3Dshore", {"buoy"}),
        ("label=team", {"anchor", "buoy"}),
        ("status=error", {"buoy"}),
        ("status=ok&status=progress", {"anchor", "chart", "davit"}),
        ("namespace=default", set()),
    ],
)
async def test_filters_select_matching_objects(
    world: World, query: str, expected: set[str]
) -> None:
    assert set(await names(world.crd, query)) == expected


async def test_each_column_sorts_both_ways(world: World) -> None:
    kind = clusters.host.kinds.find(world.crd["metadata"]["name"])
    assert kind is not None
    for ident in kind.sortable:
        assert set(await names(world.crd, f"sort={ident}")) == WIDGETS.keys()
        assert set(await names(world.crd, f"sort=-{ident}")) == WIDGETS.keys()
    # Sorted by size; objects without a size come last.
    assert await names(world.crd, "sort=size") == ["buoy", "anchor", "chart", "davit"]


async def test_values_of_tenants_are_escaped(world: World) -> None:
    html = await text_of(await ClientAs()("admin").get(list_of(world.crd)))
    assert 'data-resource="widgets"' in html
    assert "<img src=x" not in html
    assert "&lt;img src=x" in html
    assert "<b>red" not in html
    menu = html.partition("<main")[0]
    assert 'href="/clusters/host/resources" aria-current="page"' in menu
    everything = await text_of(await ClientAs()("admin").get("/clusters/host/resources?q=widgets"))
    assert f'href="{list_of(world.crd)}">Widgets' in everything
    assert world.crd["spec"]["group"] in everything


async def test_exports_contain_the_same_rows(world: World) -> None:
    for fmt, separator in (("csv", ","), ("tsv", "\t")):
        response = await ClientAs()("admin").get(list_of(world.crd, f"format={fmt}&sort=name"))
        lines = (await text_of(response)).splitlines()
        assert lines[0].startswith(separator.join(("name", "namespace", "status", "size", "share")))
        assert [line.partition(separator)[0] for line in lines[1:]] == sorted(WIDGETS)
        # Escaped so that spreadsheets don't evaluate the value as a formula.
        assert "'=1+1" in lines[3]


async def test_users_without_permission_get_404(world: World, namespace: str) -> None:
    for query in ("", "format=json", f"namespace={namespace}", "sort=zzz"):
        response = await ClientAs()("charlie").get(list_of(world.crd, query))
        # The response doesn't reveal that the type exists.
        assert response.status_code == 404
        assert "anchor" not in await text_of(response)
    menu = await text_of(await ClientAs()("charlie").get(list_of(world.crd)))
    assert f'class="rail-link" href="{list_of(world.crd)}' not in menu


@pytest.mark.django_db(transaction=True)
async def test_an_object_is_deleted_with_the_users_identity(
    admin: Client, world: World, namespace: str, cleanup: Cleanup
) -> None:
    binding = {
        "metadata": {"name": unique("cast")},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "cluster-admin",
        },
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "admin"}],
    }
    cleanup.create(f"{RBAC}/clusterrolebindings", binding)
    made = admin.post(world.where, widget(world.crd, "flotsam", size=1)).ok()
    resource = world.crd["metadata"]["name"]
    url = f"/clusters/host/projects/{namespace}/{resource}/flotsam/actions/delete"
    assert "flotsam" in await _until(world.crd, "flotsam", there=True)
    page = await ClientAs()("admin").get(url)
    assert "Widget" in await text_of(page)
    done = await ClientAs()("admin").post(url, {"uid": made["metadata"]["uid"]})
    assert done.status_code == 302, await text_of(done)
    assert admin.get(f"{world.where}/flotsam").status == 404
    await _until(world.crd, "flotsam", there=False)
    record = await AuditRecord.objects.alatest("id")
    assert (record.verb, record.resource, record.name) == ("delete", "widgets", "flotsam")


async def _until(crd: Obj, name: str, *, there: bool) -> list[str]:
    deadline = time.monotonic() + TIMEOUT
    while (name in (found := await names(crd))) is not there:
        assert time.monotonic() < deadline, found
    return found


async def test_a_list_is_available_soon_after_its_type_is_defined(
    admin: Client, cleanup: Cleanup
) -> None:
    crd = own_definition(("Size", "integer", ".spec.size"))
    cleanup.create(CRDS, crd)
    deadline = time.monotonic() + TIMEOUT
    while (await ClientAs()("admin").get(list_of(crd))).status_code != 200:
        assert time.monotonic() < deadline


async def test_changed_columns_are_shown_immediately(
    admin: Client, cleanup: Cleanup, namespace: str, runtime: Runtime
) -> None:
    crd = own_definition(("Size", "integer", ".spec.size"))
    where = establish(admin, cleanup, crd, namespace)
    body = widget(crd, "hull", size=7, color="grey")
    eventually(lambda: admin.post(where, body).status in (201, 409), "it is stored")
    await _until(crd, "hull", there=True)
    before = runtime.informer(gvr_of(crd))
    path = f"{CRDS}/{crd['metadata']['name']}"
    spec = json.loads(json.dumps(crd["spec"]))
    spec["versions"][0]["additionalPrinterColumns"] = columns(("Color", "string", ".spec.color"))
    admin.patch(path, {"spec": spec}, MERGE_PATCH).ok()
    deadline = time.monotonic() + TIMEOUT
    while (found := await items(crd)) and found[0].get("color") != "grey":
        assert time.monotonic() < deadline, found
    assert "size" not in found[0]
    # Existing subscribers of the list stay subscribed.
    assert runtime.informer(gvr_of(crd)) is before


async def test_a_list_disappears_with_its_type(
    admin: Client, cleanup: Cleanup, namespace: str
) -> None:
    crd = own_definition(("Size", "integer", ".spec.size"))
    establish(admin, cleanup, crd, namespace)
    assert await names(crd) == []
    admin.delete(f"{CRDS}/{crd['metadata']['name']}").ok()
    deadline = time.monotonic() + TIMEOUT
    while (response := await ClientAs()("admin").get(list_of(crd))).status_code != 404:
        assert time.monotonic() < deadline
    assert f'class="rail-link" href="{list_of(crd)}' not in await text_of(response)


async def test_a_type_with_conflicting_names_has_no_list(admin: Client, cleanup: Cleanup) -> None:
    first = own_definition(("Size", "integer", ".spec.size"))
    cleanup.create(CRDS, first)
    second = json.loads(json.dumps(first))
    group = first["spec"]["group"]
    second["metadata"]["name"] = f"gadgets.{group}"
    second["spec"]["names"] |= {"plural": "gadgets", "singular": "gadget"}
    second["spec"]["names"].pop("shortNames")
    eventually(lambda: _condition(admin, first, "Established") == "True", "the first is served")
    cleanup.create(CRDS, second)
    eventually(lambda: _condition(admin, second, "NamesAccepted") == "False", "it is refused")
    assert (await ClientAs()("admin").get(list_of(second))).status_code == 404
    query = f"q={quote(group)}&format=json"
    deadline = time.monotonic() + TIMEOUT
    while True:
        answer = await ClientAs()("admin").get(f"/clusters/host/customresourcedefinitions?{query}")
        words = {i["name"]: i["status"]["word"] for i in json.loads(await text_of(answer))["items"]}
        if words.get(second["metadata"]["name"]) == "Name conflict":
            return
        assert time.monotonic() < deadline, words


def _condition(admin: Client, crd: Obj, kind: str) -> str:
    found = admin.get(f"{CRDS}/{crd['metadata']['name']}").ok()
    conditions = found.get("status", {}).get("conditions") or ()
    return next((c["status"] for c in conditions if c["type"] == kind), "")


@pytest.fixture
def narrow_runtime(cluster: Cluster, cleanup: Cleanup, tmp_path: Path) -> Iterator[Runtime]:
    """A console that can only list definitions and namespaces and impersonate users."""
    grants, reader = Grants(cleanup, "default"), user("reader")
    grants.everywhere(
        reader,
        rule("list watch", "customresourcedefinitions", "apiextensions.k8s.io"),
        rule("list watch", "namespaces"),
        rule("impersonate", "users groups"),
    )
    grants.wait("reader", verb="impersonate", resource="groups")
    path = tmp_path / "kubeconfig"
    write_console_kubeconfig(
        path, cluster.url, cluster.ca_file, dict.fromkeys(ROLES, cluster.bearer())
    )
    runtime = Runtime(kubeconfig=str(path))
    runtime.start()
    set_host_cluster(runtime)
    definitions = runtime.informer(CUSTOM_RESOURCE_DEFINITIONS)
    eventually(lambda: live(definitions), "definitions are known")
    yield runtime
    runtime.stop()


async def test_types_the_console_cannot_list_are_read_with_the_users_identity(
    narrow_runtime: Runtime,
    world: World,
    cleanup: Cleanup,
    namespace: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    viewer = FakeAccess(unique("kim"), list_in={namespace}, delete_in=())
    name = viewer.identity.name
    monkeypatch.setitem(VIEWERS, name, lambda: viewer)
    url = list_of(world.crd, "format=json&sort=name")
    refused = await ClientAs()(name).get(url)
    assert refused.status_code == 403, await text_of(refused)
    grants = Grants(cleanup, namespace)
    grants.here(user(name), rule("list watch", "widgets", world.crd["spec"]["group"]))
    attributes = {"group": world.crd["spec"]["group"], "resource": "widgets"}
    grants.wait(name, verb="list", namespace=namespace, **attributes)
    found = json.loads(await text_of(await ClientAs()(name).get(url)))["items"]
    assert [item["name"] for item in found] == sorted(WIDGETS)
    assert found[0]["size"] == WIDGETS["anchor"]["size"]
    viewer.delete_in = {namespace}
    several = f"/bulk/host/{world.crd['metadata']['name']}/delete"
    asked = await text_of(await ClientAs()(name).post(several, {"all": "1"}))
    assert all(f"{namespace}/{widget}" in asked for widget in WIDGETS)
    # After the console gets the permission, all users share one informer.
    grants.everywhere(user("reader"), rule("list watch", "widgets", attributes["group"]))
    informer = narrow_runtime.informer(gvr_of(world.crd))
    eventually(lambda: informer.freshness.synced, "the cache has them", timeout=60)
    assert (await ClientAs()(name).get(url)).status_code == 200
    await narrow_runtime.close_connections()
