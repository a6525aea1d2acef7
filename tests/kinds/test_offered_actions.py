"""Actions that are offered only if other objects exist."""

from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import (
    CONTROLLER_REVISIONS,
    DEPLOYMENTS,
    GVR,
    REPLICA_SETS,
    STATEFUL_SETS,
    Key,
)
from console.ui.core.registry import kinds
from console.ui.lists.rows import make_row
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.support.informers import bring, preloaded
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import admin


def workload() -> dict[str, Any]:
    return {"metadata": {"name": "web", "namespace": "shop", "uid": "u-web"}, "spec": {}}


def revision(number: int, namespace: str = "shop") -> dict[str, Any]:
    owner = {"kind": "Owner", "name": "web", "uid": "u-web", "controller": True}
    meta = {
        "name": f"web-{number}",
        "namespace": namespace,
        "uid": f"u-{number}",
        "annotations": {"deployment.kubernetes.io/revision": str(number)},
        "ownerReferences": [owner],
    }
    return {"metadata": meta, "revision": number}


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    yield
    unset_host_cluster()


@pytest.mark.parametrize(
    ("gvr", "kept_in"),
    [(DEPLOYMENTS, REPLICA_SETS), (STATEFUL_SETS, CONTROLLER_REVISIONS)],
    ids=lambda gvr: gvr.resource,
)
def test_a_rollback_is_offered_if_another_revision_exists(gvr: GVR, kept_in: GVR) -> None:
    revisions = preloaded(kept_in, [revision(1), revision(2, "other")])
    runtime = StaticRuntime({gvr: preloaded(gvr, [workload()]), kept_in: revisions})
    set_host_cluster(runtime)
    kind, entry = kinds.by_type(gvr), runtime.informer(gvr).store.get(Key("shop", "web"))
    assert kind is not None and entry is not None

    def offered() -> list[str]:
        return [item.action.name for item in make_row(kind, admin(), entry).menu]

    assert "restart" in offered() and "rollback" not in offered()
    bring(revisions, revision(3))
    assert "rollback" in offered()
