"""The types followed by a runtime, with a real kube-apiserver."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from console.kube.factory import IDLED, VANISHED, UnknownKind
from console.kube.gvr import (
    API_SERVICES,
    CUSTOM_RESOURCE_DEFINITIONS,
    EVENTS,
    GVR,
    NAMESPACES,
    NODES,
    PODS,
)
from console.kube.informer import Informer
from console.kube.recent_events import RecentEvents
from console.kube.runtime import Runtime
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.waiting import eventually
from tests.kube.clusters import apply, live, names, running

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.fixture
def runtime(control_plane: ControlPlane) -> Iterator[Runtime]:
    with running(control_plane) as runtime:
        yield runtime


def definition(plural: str, *versions: str, field: str = "size") -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {field: {"type": "integer"}}}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.factory.test"},
        "spec": {
            "group": "factory.test",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": plural.capitalize(), "singular": f"{plural}-one"},
            "versions": [
                {
                    "name": name,
                    "served": True,
                    "storage": at == 0,
                    "schema": {"openAPIV3Schema": schema},
                }
                for at, name in enumerate(versions)
            ],
        },
    }


def create(cluster: ControlPlane, gvr: GVR, name: str) -> None:
    """Create the object, retrying until the server accepts the new type."""
    body = {
        "apiVersion": gvr.group_version,
        "kind": gvr.resource.capitalize(),
        "metadata": {"name": name},
    }
    path = gvr.path("default")
    eventually(lambda: cluster.api.request("POST", path, body).status == 201, "it is created")


def known(runtime: Runtime, gvr: GVR) -> bool:
    try:
        runtime.informer(gvr)
    except UnknownKind:
        return False
    return True


def started(runtime: Runtime, gvr: GVR) -> Informer[Any]:
    eventually(lambda: known(runtime, gvr), "the type is known")
    return runtime.informer(gvr)


def test_new_type_and_its_objects_are_shown(
    runtime: Runtime, control_plane: ControlPlane, caplog: pytest.LogCaptureFixture
) -> None:
    eventually(lambda: live(runtime.informer(CUSTOM_RESOURCE_DEFINITIONS)), "definitions are known")
    gvr = GVR("factory.test", "v1", "boats")
    with pytest.raises(UnknownKind):
        runtime.informer(gvr)
    assert control_plane.api.request("POST", CRDS, definition("boats", "v1")).status == 201
    informer = started(runtime, gvr)
    # kube-apiserver needs about two seconds until it stores objects of a new type.
    create(control_plane, gvr, "argo")
    eventually(lambda: "default/argo" in names(informer), "the object is there")
    found = runtime.types.get(gvr)
    assert found is not None
    assert (found.kind, found.singular, found.namespaced) == ("Boats", "boats-one", True)
    assert not [record for record in caplog.records if record.exc_info]


def test_type_recreated_with_another_version_is_followed(
    runtime: Runtime, control_plane: ControlPlane, caplog: pytest.LogCaptureFixture
) -> None:
    old, new = GVR("factory.test", "v1", "ships"), GVR("factory.test", "v2", "ships")
    apply(control_plane, definition("ships", "v1"))
    informer = started(runtime, old)
    create(control_plane, old, "first")
    eventually(lambda: names(informer) == {"default/first"}, "the object is there")
    informer.add_listener(lambda _key: None)

    control_plane.kubectl("delete", "crd", "ships.factory.test")
    eventually(lambda: informer.freshness.problem == VANISHED, "it says that the type is gone")
    assert names(informer) == set()
    with pytest.raises(UnknownKind):
        runtime.informer(old)

    apply(control_plane, definition("ships", "v2", "v1", field="tons"))
    create(control_plane, new, "second")
    # Existing listeners continue; the other version is a separate informer.
    eventually(lambda: names(informer) == {"default/second"}, "the same informer goes on")
    eventually(lambda: live(informer), "it is live")
    assert runtime.informer(old) is informer
    eventually(lambda: names(runtime.informer(new)) == {"default/second"}, "so is the new one")

    apply(control_plane, definition("ships", "v2", field="tons"))
    eventually(lambda: not known(runtime, old), "the old version is not served any more")
    assert live(runtime.informer(new))
    assert not [record for record in caplog.records if record.exc_info]


def test_idle_informer_is_stopped_and_restarted(
    control_plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.kube.runtime.STEP", 0.1)
    with running(control_plane, idle=1.0) as runtime:
        runtime.require([NAMESPACES])
        listened = runtime.informer(PODS)
        listened.add_listener(lambda _key: None)
        old = runtime.informer(NODES)
        eventually(lambda: live(old), "it is live")
        eventually(lambda: NODES not in runtime.informers(), "it is stopped")
        eventually(lambda: old.freshness.stale_since, "and says so")
        assert old.freshness.problem == IDLED
        # Definitions are always followed, because the core needs them.
        kept = {NAMESPACES, PODS, CUSTOM_RESOURCE_DEFINITIONS, API_SERVICES}
        assert runtime.informers().keys() == kept
        mark = control_plane.audit_mark()
        new = runtime.informer(NODES)
        assert new is not old
        eventually(lambda: live(new), "it is live again")
        eventually(
            lambda: control_plane.audit_events(mark, verb="list", resource="nodes"), "a fresh list"
        )


def test_recent_events_store_is_limited(runtime: Runtime, control_plane: ControlPlane) -> None:
    events = runtime.informer(EVENTS)
    assert isinstance(events, RecentEvents)
    eventually(lambda: live(events), "it is live")
    now = datetime.now(UTC)
    for name, age in (("fresh", timedelta(0)), ("old", timedelta(hours=2))):
        body = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": "default"},
            "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"},
            "lastTimestamp": (now - age).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        apply(control_plane, body)
    eventually(lambda: "default/fresh" in names(events), "the fresh one is held")
    # kube-apiserver sets the creation time to now, so both are recent.
    eventually(lambda: "default/old" in names(events), "so is what was only just written")
    assert len(events.store) <= events.limit
