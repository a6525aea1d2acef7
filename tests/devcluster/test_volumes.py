"""Simulated volumes, clones and snapshots."""

import pytest

from devcluster.sample.addons import definitions
from devcluster.server import DevCluster
from devcluster.volume_validation import DRIVER, SNAPSHOT_GROUP
from tests.devcluster.conftest import Api, Obj

CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
GROUP = f"/apis/{SNAPSHOT_GROUP}/v1"
SNAPSHOTS = f"{GROUP}/namespaces/default/volumesnapshots"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEFAULT = "snapshot.storage.kubernetes.io/is-default-class"


@pytest.fixture(autouse=True)
def _types(cluster: DevCluster, api: Api) -> None:
    simulated = {"metadata": {"name": "simulated"}, "provisioner": DRIVER}
    api.post("/apis/storage.k8s.io/v1/storageclasses", simulated)
    for one in definitions():
        if SNAPSHOT_GROUP in one["metadata"]["name"]:
            api.post(CRDS, one)
    for name, policy in (("kept", "Retain"), ("gone", "Delete")):
        about: Obj = {"name": name, "annotations": {DEFAULT: str(name == "gone").lower()}}
        body = {
            "apiVersion": f"{SNAPSHOT_GROUP}/v1",
            "kind": "VolumeSnapshotClass",
            "metadata": about,
            "driver": DRIVER,
            "deletionPolicy": policy,
        }
        api.post(f"{GROUP}/volumesnapshotclasses", body)


def make_claim(api: Api, name: str, **spec: object) -> None:
    body = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "simulated",
        "resources": {"requests": {"storage": "2Gi"}},
        **spec,
    }
    api.post(CLAIMS, {"metadata": {"name": name}, "spec": body})


def take(api: Api, name: str, claim: str, **spec: str) -> None:
    source = {"persistentVolumeClaimName": claim}
    body = {"apiVersion": f"{SNAPSHOT_GROUP}/v1", "kind": "VolumeSnapshot"}
    api.post(SNAPSHOTS, {**body, "metadata": {"name": name}, "spec": {"source": source, **spec}})


def phase(api: Api, claim: str) -> str:
    return str(api.get(f"{CLAIMS}/{claim}")["status"]["phase"])


def contents(api: Api) -> list[Obj]:
    return list(api.get(f"{GROUP}/volumesnapshotcontents")["items"])


def test_a_snapshot_becomes_ready_with_its_content(cluster: DevCluster, api: Api) -> None:
    make_claim(api, "data")
    take(api, "first", "data")
    cluster.wait_until_idle()
    status = api.get(f"{SNAPSHOTS}/first")["status"]
    assert (status["readyToUse"], status["restoreSize"]) == (True, "2Gi")
    (content,) = contents(api)
    assert content["metadata"]["name"] == status["boundVolumeSnapshotContentName"]
    assert content["spec"]["volumeSnapshotRef"]["name"] == "first"
    assert content["spec"]["volumeSnapshotClassName"] == "gone"
    assert (content["status"]["readyToUse"], content["status"]["restoreSize"]) == (True, 2 * 2**30)
    cluster.wait_until_idle()
    assert api.get(f"{SNAPSHOTS}/first")["status"] == status


def test_deleting_a_snapshot_follows_the_deletion_policy(cluster: DevCluster, api: Api) -> None:
    make_claim(api, "data")
    take(api, "first", "data")
    take(api, "second", "data", volumeSnapshotClassName="kept")
    cluster.wait_until_idle()
    for name in ("first", "second"):
        assert api.call("DELETE", f"{SNAPSHOTS}/{name}")[0] == 200
    cluster.wait_until_idle()
    assert [one["spec"]["volumeSnapshotRef"]["name"] for one in contents(api)] == ["second"]


def test_a_snapshot_waits_for_its_volume(cluster: DevCluster, api: Api) -> None:
    take(api, "early", "data")
    cluster.wait_until_idle()
    assert "status" not in api.get(f"{SNAPSHOTS}/early")
    make_claim(api, "data")
    cluster.wait_until_idle()
    assert api.get(f"{SNAPSHOTS}/early")["status"]["readyToUse"] is True


def test_snapshots_of_other_drivers_are_ignored(cluster: DevCluster, api: Api) -> None:
    make_claim(api, "data")
    take(api, "theirs", "data", volumeSnapshotClassName="unheard-of")
    cluster.wait_until_idle()
    assert "status" not in api.get(f"{SNAPSHOTS}/theirs")


def test_claims_with_a_data_source_wait_for_the_source(cluster: DevCluster, api: Api) -> None:
    snapshot = {"apiGroup": SNAPSHOT_GROUP, "kind": "VolumeSnapshot", "name": "first"}
    make_claim(api, "restored", dataSource=snapshot)
    make_claim(api, "cloned", dataSource={"kind": "PersistentVolumeClaim", "name": "data"})
    cluster.wait_until_idle()
    assert {phase(api, "restored"), phase(api, "cloned")} == {"Pending"}
    make_claim(api, "data")
    cluster.wait_until_idle()
    assert (phase(api, "cloned"), phase(api, "restored")) == ("Bound", "Pending")
    take(api, "first", "data")
    cluster.wait_until_idle()
    assert phase(api, "restored") == "Bound"


def test_failed_snapshots_of_the_sample_data_stay_failed(world_api: Api) -> None:
    found = world_api.get(f"{GROUP}/volumesnapshots")["items"]
    assert sorted(one["status"]["readyToUse"] for one in found) == [False, True, True]
