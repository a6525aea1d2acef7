"""Each registered kind with its own fixture, and the test users of the pages."""

from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, VOLUME_SNAPSHOTS
from console.ui.core.kind import ResourceKind
from console.ui.core.registry import kinds
from devcluster.sample.addons import definitions
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.kinds.world import LiveLists, informer_of
from tests.support.informers import preloaded
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import NAMESPACE_NAMES, namespace
from tests.views.conftest import _site, client_as

__all__ = ["_site", "client_as"]


@pytest.fixture(params=sorted(kind.segment for kind in kinds))
def kind(request: pytest.FixtureRequest) -> ResourceKind:
    found = kinds.by_segment(request.param)
    assert found is not None
    return found


def established() -> list[dict[str, Any]]:
    """The definition of volume snapshots, which an action on claims requires."""
    status = {"conditions": [{"type": "Established", "status": "True"}]}
    return [
        {
            **one,
            "metadata": {**one["metadata"], "uid": "u", "resourceVersion": "1"},
            "status": status,
        }
        for one in definitions()
        if one["metadata"]["name"] == VOLUME_SNAPSHOTS.qualified
    ]


@pytest.fixture
def runtime(kind: ResourceKind) -> Iterator[StaticRuntime]:
    spaces = preloaded(NAMESPACES, [namespace(name) for name in NAMESPACE_NAMES])
    informer = informer_of(kind)
    if kind.private:
        found = StaticRuntime({NAMESPACES: spaces}, live_lists=LiveLists(informer))
    else:
        snapshots = preloaded(CUSTOM_RESOURCE_DEFINITIONS, established())
        known = {NAMESPACES: spaces, CUSTOM_RESOURCE_DEFINITIONS: snapshots, kind.gvr: informer}
        found = StaticRuntime(known)
    set_host_cluster(found)
    yield found
    unset_host_cluster()
