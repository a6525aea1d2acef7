"""The capacity panel of a node and its permissions."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import NODES, PODS, Key
from console.ui.core.registry import kinds
from console.ui.core.subject import Subject
from console.ui.details.relations.node_panels import NodeCapacityPanel
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.pages.overview.world import make_runtime, measured
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess, admin, alice


@pytest.fixture
def runtime() -> Iterator[StaticRuntime]:
    found = make_runtime("2026-11-20T10:00:00Z", measured())
    set_host_cluster(found)
    yield found
    unset_host_cluster()


def drawn(runtime: StaticRuntime, access: FakeAccess, name: str = "node-1") -> str:
    nodes, kind = runtime.informer(NODES), kinds.by_type(NODES)
    entry = nodes.store.get(Key("", name))
    assert kind is not None and entry is not None
    informers: dict[Any, Any] = {PODS: runtime.informer(PODS)}
    subject = Subject(kind, Key("", name), entry, access, informers, "host")
    html = NodeCapacityPanel().html(subject)
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


async def test_reserved_and_used_resources_are_shown(runtime: StaticRuntime) -> None:
    await runtime.usage.take()
    text = drawn(runtime, admin())
    assert "CPU of 4 Used 1 25 % Requested 1.2 31 % Limits 2 50 %" in text
    assert "Memory of 8Gi Used 2Gi 25 % Requested 1.1Gi 13 % Limits 2Gi 25 %" in text
    assert "Pods of 110 Non-terminated 2 1 %" in text


async def test_sums_over_invisible_pods_are_hidden(runtime: StaticRuntime) -> None:
    await runtime.usage.take()
    text = drawn(runtime, alice())
    assert text == (
        "CPU of 4 Memory of 8Gi Pods of 110 You don&#x27;t have permission to view resource "
        "usage (list metrics.k8s.io)."
    )


def test_pending_usage_reading_is_explained(runtime: StaticRuntime) -> None:
    assert "Loading resource usage." in drawn(runtime, admin())


async def test_unmeasured_node_shows_no_usage(runtime: StaticRuntime) -> None:
    await runtime.usage.take()
    assert "Used" not in drawn(runtime, admin(), "node-3")
