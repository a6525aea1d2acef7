"""The types that a cluster serves, read from its discovery API."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from console.kube.api_discovery import aggregated_types, group_versions, listed_types
from console.kube.custom_types import CustomTypes
from console.kube.errors import ApiError, Forbidden, InvalidResponse, NotFound, Unavailable
from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, GVR, version_priority
from console.kube.served_types import AFTER_CHANGE, INTERVAL, REMOVED, ServedTypes
from tests.kube.fakes import FakeClock
from tests.support.informers import preloaded

POLICIES = GVR("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies")
METRICS = GVR("metrics.k8s.io", "v1beta1", "pods")


def resource(name: str, kind: str, *verbs: str, scope: str = "Namespaced") -> dict[str, Any]:
    shown = {"group": "", "version": "", "kind": kind}
    found = {"resource": name, "responseKind": shown, "scope": scope, "verbs": verbs}
    return {**found, "singularResource": kind.lower()}


def group(name: str, **versions: Any) -> dict[str, Any]:
    listed = [
        {"version": version, "freshness": "Current", "resources": found}
        for version, found in versions.items()
    ]
    return {"metadata": {"name": name} if name else {}, "versions": listed}


def document(*groups: object) -> bytes:
    return msgspec.json.encode({"kind": "APIGroupDiscoveryList", "items": groups})


CORE = group("", v1=[resource("namespaces", "Namespace", "get", "list", scope="Cluster")])
ADMISSION = group(
    "admissionregistration.k8s.io",
    v1=[resource(POLICIES.resource, "ValidatingAdmissionPolicy", "list", scope="Cluster")],
    v1beta1=[
        resource(POLICIES.resource, "ValidatingAdmissionPolicy", "list", scope="Cluster"),
        resource("oldthings", "OldThing", "list"),
    ],
)


class Server:
    """A discovery API. A document may be an exception, which is raised."""

    def __init__(self, *groups: object) -> None:
        self.documents: dict[str, bytes | ApiError] = {
            "/api": document(CORE),
            "/apis": document(*groups),
        }
        self.asked: list[str] = []
        self.on_read: Callable[[], None] = lambda: None

    async def discovery(self, path: str) -> bytes:
        self.asked.append(path)
        found = self.documents.get(path, NotFound(404, "not found"))
        if path == "/apis":
            self.on_read()
        if isinstance(found, ApiError):
            raise found
        return found


def types_of(server: Server, *definitions: dict[str, Any]) -> ServedTypes:
    customs = CustomTypes(preloaded(CUSTOM_RESOURCE_DEFINITIONS, definitions))
    return ServedTypes(customs, server, FakeClock())


async def read(types: ServedTypes, server: Server, times: int = 1) -> None:
    """Run until discovery was read `times` times."""
    done = asyncio.Event()
    before = server.asked.count("/apis")

    def on_read() -> None:
        if server.asked.count("/apis") >= before + times:
            done.set()

    server.on_read = on_read
    task = asyncio.create_task(types.run())
    await done.wait()
    for _ in range(5):
        await asyncio.sleep(0)
    task.cancel()


async def test_types_are_known_in_the_version_that_discovery_prefers() -> None:
    server = Server(ADMISSION)
    types = types_of(server)
    assert (types.serves(POLICIES), types.find("", "namespaces")) == (None, None)
    await read(types, server)
    found = types.find(POLICIES.group, POLICIES.resource)
    assert found is not None
    assert (found.gvr, found.kind, found.namespaced) == (
        POLICIES,
        "ValidatingAdmissionPolicy",
        False,
    )
    assert found.verbs == {"list"}
    old = types.find(POLICIES.group, "oldthings")
    assert old is not None
    assert old.gvr.version == "v1beta1"
    assert types.serves(GVR(POLICIES.group, "v1beta1", POLICIES.resource)) is True
    assert types.serves(GVR(POLICIES.group, "v1alpha1", POLICIES.resource)) is False
    assert types.serves(GVR("gateway.networking.k8s.io", "v1", "httproutes")) is False


async def test_types_of_an_unavailable_api_server_are_kept() -> None:
    metrics = group("metrics.k8s.io", v1beta1=[resource("pods", "PodMetrics", "get", "list")])
    server = Server(metrics)
    types = types_of(server)
    await read(types, server)
    stale = {"version": "v1beta1", "freshness": "Stale", "resources": []}
    server.documents["/apis"] = document(
        {"metadata": {"name": "metrics.k8s.io"}, "versions": [stale]}
    )
    await read(types, server)
    assert types.serves(METRICS) is True
    server.documents["/apis"] = document()
    await read(types, server)
    assert types.serves(METRICS) is False


async def test_listeners_are_called_only_for_changes() -> None:
    server = Server(ADMISSION)
    types, told = types_of(server), list[str]()
    remove = types.add_listener(lambda _key: None, lambda: told.append("changed"))
    await read(types, server, times=3)
    assert told == ["changed"]
    state = types.state
    server.documents["/apis"] = document()
    await read(types, server)
    assert told == ["changed", "changed"] and types.state != state
    remove()
    server.documents["/apis"] = document(ADMISSION)
    await read(types, server)
    assert len(told) == 2


async def test_discovery_is_read_again_soon_after_a_change_and_seldom_otherwise() -> None:
    server, clock = Server(), FakeClock()
    types = ServedTypes(CustomTypes(preloaded(CUSTOM_RESOURCE_DEFINITIONS)), server, clock)
    await read(types, server, times=2)
    assert INTERVAL in clock.sleeps
    clock.sleeps.clear()
    types.change_expected()
    await read(types, server, times=len(AFTER_CHANGE) + 1)
    assert [one for one in clock.sleeps if one in AFTER_CHANGE] == list(AFTER_CHANGE)


async def test_failure_is_logged_once_and_known_types_are_kept(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = Server(ADMISSION)
    types = types_of(server)
    await read(types, server)
    server.documents["/apis"] = Forbidden(403, "no")
    with caplog.at_level(logging.WARNING):
        await read(types, server, times=5)
    assert len(caplog.records) == 1
    assert types.serves(POLICIES) is True and types.tried.is_set()


async def test_answer_without_the_core_group_is_refused() -> None:
    server = Server(ADMISSION)
    types = types_of(server)
    server.documents["/api"] = document()
    await read(types, server)
    assert types.serves(POLICIES) is None


async def test_removed_custom_type_is_not_served_while_discovery_still_lists_it() -> None:
    widgets = GVR("x.org", "v1", "widgets")
    server = Server(group("x.org", v1=[resource("widgets", "Widget", "list")]))
    types = types_of(server)
    await read(types, server)
    assert types.serves(widgets) is True
    types.definition_changed("x.org", "widgets")
    await read(types, server)
    assert types.serves(widgets) is False
    # An aggregated API server serves the type instead.
    types._clock.elapsed += REMOVED  # type: ignore[attr-defined]
    await read(types, server)
    assert types.serves(widgets) is True


async def test_servers_without_the_aggregated_format_are_read_one_group_version_at_a_time() -> None:
    server = Server()
    listed = {"name": "things", "kind": "Thing", "namespaced": True, "verbs": ["list"]}
    core = {"name": "namespaces", "kind": "Namespace", "namespaced": False, "verbs": ["list"]}
    versions = [{"version": "v2"}, {"version": "v1"}]
    answers: dict[str, object] = {
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/apis": {"kind": "APIGroupList", "groups": [{"name": "x.org", "versions": versions}]},
        "/api/v1": {"resources": [core, {**core, "name": "namespaces/status"}]},
        "/apis/x.org/v1": {"resources": [listed]},
    }
    server.documents = {path: msgspec.json.encode(found) for path, found in answers.items()}
    server.documents["/apis/x.org/v2"] = Unavailable("the server is currently unavailable")
    types = types_of(server)
    await read(types, server)
    assert [one.gvr for one in types] == [GVR("", "v1", "namespaces"), GVR("x.org", "v1", "things")]


MALFORMED: list[object] = [
    None,
    7,
    "x",
    [],
    {},
    {"metadata": {"name": "../x"}, "versions": [{"version": "v1", "resources": []}]},
    {"metadata": {"name": "x.org"}, "versions": None},
    {"metadata": {"name": "x.org"}, "versions": [{"version": 1}]},
    {"metadata": {"name": "x.org"}, "versions": [{"version": "v1/x", "resources": []}]},
    group("x.org", v1=[None, 1, {"resource": "a/b"}, resource("A b", "K"), resource("ok", "")]),
    group("x.org", v1=[{**resource("many", "K"), "verbs": "list"}]),
    group("x.org", v1=[{**resource("long", "K" * 1000)}]),
]


@pytest.mark.parametrize("bad", MALFORMED)
def test_malformed_groups_and_types_are_left_out(bad: object) -> None:
    found = aggregated_types(document(bad, ADMISSION))
    assert found is not None
    assert {one.gvr.group for one in found.types} == {ADMISSION["metadata"]["name"]}


@pytest.mark.parametrize("body", [b"", b"[", b"[]", b"null", b'"x"', b'{"items":3}', b"\xff"])
def test_response_that_is_no_discovery_document_is_an_error(body: bytes) -> None:
    for parse in (aggregated_types, group_versions, lambda it: listed_types(it, "", "v1")):
        with pytest.raises(InvalidResponse):
            parse(body)


def test_versions_are_ordered_like_in_kubernetes() -> None:
    ordered = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2"]
    ordered += ["foo1", "foo10", "v" + "1" * 5000, "v1beta"]
    assert sorted(set(ordered), key=version_priority) == ordered
