"""Revisions created by the real workload controllers are found and compared."""

from collections.abc import Iterator
from typing import Any

import pytest

from console.kube import gvr as types
from console.kube.gvr import GVR, Key
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.waiting import eventually
from tests.support.informers import preloaded
from tests.ui.details.relations.differences import changed_lines
from tests.ui.details.relations.shop import drawn, panel, subject_of

WORKLOADS = {
    types.DEPLOYMENTS: ("Deployment", types.REPLICA_SETS),
    types.STATEFUL_SETS: ("StatefulSet", types.CONTROLLER_REVISIONS),
    types.DAEMON_SETS: ("DaemonSet", types.CONTROLLER_REVISIONS),
}
NAMESPACE, NAME = "relations", "web"


def workload(gvr: GVR, image: str) -> dict[str, Any]:
    labels = {"app": f"{gvr.resource}-web"}
    spec: dict[str, Any] = {
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {
                "containers": [{"name": "app", "image": image}],
            },
        },
    }
    if gvr == types.STATEFUL_SETS:
        spec["serviceName"] = "web"
    return {
        "apiVersion": gvr.group_version,
        "kind": WORKLOADS[gvr][0],
        "metadata": {"name": NAME},
        "spec": spec,
    }


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    control_plane.kubectl("create", "namespace", NAMESPACE)
    yield control_plane
    control_plane.kubectl("delete", "namespace", NAMESPACE, "--wait=false")


def listed(cluster: ControlPlane, gvr: GVR) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cluster.api.get(gvr.path(NAMESPACE)).json()["items"]
    return found


def owned(cluster: ControlPlane, gvr: GVR, uid: str) -> list[dict[str, Any]]:
    items = listed(cluster, gvr)
    owners = [(item, item["metadata"].get("ownerReferences", ())) for item in items]
    return [item for item, found in owners if any(owner["uid"] == uid for owner in found)]


@pytest.mark.parametrize("gvr", WORKLOADS, ids=lambda gvr: gvr.resource)
def test_revisions_of_real_controllers_are_compared(cluster: ControlPlane, gvr: GVR) -> None:
    kept_in, path = WORKLOADS[gvr][1], gvr.path(NAMESPACE)
    made = cluster.api.request("POST", path, workload(gvr, "example/web:1"))
    assert made.status == 201, made.body
    uid = made.json()["metadata"]["uid"]
    eventually(lambda: len(owned(cluster, kept_in, uid)) == 1, "the first revision")
    merge, changed = "application/merge-patch+json", workload(gvr, "example/web:2")
    answer = cluster.api.request("PATCH", f"{path}/{NAME}", changed, content_type=merge)
    assert answer.status == 200, answer.body
    eventually(lambda: len(owned(cluster, kept_in, uid)) == 2, "the second revision")

    informers = {one: preloaded(one, listed(cluster, one)) for one in (gvr, kept_in)}
    html = drawn(subject_of(informers, gvr, Key(NAMESPACE, NAME)), panel(gvr, "revisions"))
    assert changed_lines(html) == [("-", "- image: example/web:1"), ("+", "- image: example/web:2")]
