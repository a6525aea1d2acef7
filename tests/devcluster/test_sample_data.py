"""The sample data: content, reproducibility and persistence."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from devcluster.podstatus import pod_status
from devcluster.sample.catalog import catalog
from devcluster.sample.manifests import workspaces
from devcluster.server import DevCluster
from tests.controlplane.waiting import eventually
from tests.devcluster.conftest import Api, Obj


def all_pods(api: Api) -> list[Obj]:
    return list(api.get("/api/v1/pods")["items"])


def test_the_sample_data_contains_nodes_and_pods_in_all_states(world_api: Api) -> None:
    nodes = world_api.get("/api/v1/nodes")["items"]
    assert len(nodes) == 12
    names = {n["metadata"]["name"] for n in world_api.get("/api/v1/namespaces")["items"]}
    assert names >= {"kube-system", *catalog().namespaces}
    pods = all_pods(world_api)
    assert 130 <= len(pods) <= 200
    words = Counter(pod_status(pod) for pod in pods)
    assert words["Running"] > 100
    for word in (
        "CrashLoopBackOff",
        "ImagePullBackOff",
        "Pending",
        "Completed",
        "Evicted",
        "Terminating",
        "Init:0/1",
    ):
        assert words[word] >= 1, words
    restarts = [s["restartCount"] for p in pods for s in p["status"].get("containerStatuses", ())]
    assert max(restarts) > 100


def test_the_sample_data_contains_common_pod_problems(world_api: Api) -> None:
    pods = {pod["metadata"]["name"]: pod for pod in all_pods(world_api)}
    crashing = next(pod for name, pod in pods.items() if name.startswith("fraud-scorer"))
    ended = crashing["status"]["containerStatuses"][0]["lastState"]["terminated"]
    assert (ended["reason"], ended["exitCode"]) == ("OOMKilled", 137)
    waiting = next(pod for name, pod in pods.items() if name.startswith("recommender"))
    (condition,) = waiting["status"]["conditions"]
    assert condition["message"].startswith("0/12 nodes are available: 8 Insufficient memory")
    stores = [pod["status"] for name, pod in pods.items() if name.startswith("feature-store")]
    assert [status["phase"] for status in stores] == ["Running"] * 3
    ready = [c.get("reason") for s in stores for c in s["conditions"] if c["type"] == "Ready"]
    assert sorted(ready, key=str) == ["ContainersNotReady", None, None]


def test_deployment_statuses_and_pod_addresses_are_consistent(world_api: Api) -> None:
    for deployment in world_api.get("/apis/apps/v1/deployments")["items"]:
        status, wanted = deployment["status"], deployment["spec"]["replicas"]
        assert status["observedGeneration"] == deployment["metadata"]["generation"]
        assert status["replicas"] >= wanted
    addresses = [
        pod["status"]["podIP"]
        for pod in all_pods(world_api)
        if pod["status"].get("podIP")
        and not pod["spec"].get("hostNetwork")
        # The stuck terminating pod has the address of the pod that it was copied from.
        and "deletionTimestamp" not in pod["metadata"]
    ]
    assert len(addresses) == len(set(addresses))


def _shape(folder: Path) -> Any:
    with DevCluster(folder, world=True, seed=11) as cluster:
        return sorted(
            (pod["metadata"]["name"], pod["spec"].get("nodeName", ""), pod["metadata"]["uid"])
            for pod in all_pods(Api.of(cluster))
            # The number of jobs depends on the time of the test.
            if "job-name" not in pod["metadata"].get("labels", {})
        )


def test_the_same_seed_creates_the_same_pods(tmp_path: Path) -> None:
    assert _shape(tmp_path / "one") == _shape(tmp_path / "two")


def test_sample_data_is_created_only_on_the_first_start(tmp_path: Path) -> None:
    with DevCluster(tmp_path, world=True) as cluster:
        api = Api.of(cluster)
        assert api.call("DELETE", "/apis/apps/v1/namespaces/web/deployments/admin")[0] == 200
    with DevCluster(tmp_path, world=True) as cluster:
        where = "/apis/apps/v1/namespaces/web/deployments/admin"
        assert Api.of(cluster).call("GET", where)[0] == 404


def condition(obj: Obj, kind: str) -> Obj:
    return next(c for c in obj["status"]["conditions"] if c["type"] == kind)


def test_the_sample_data_contains_each_kind_of_problem(world_api: Api) -> None:
    def get(path: str, name: str) -> Obj:
        items = world_api.get(path)["items"]
        return next(i for i in items if i["metadata"]["name"].startswith(name))

    crashing = get("/api/v1/namespaces/shipping/pods", "customs-forms")
    ended = crashing["status"]["containerStatuses"][0]["lastState"]["terminated"]
    assert ended["exitCode"] == 1
    assert ended["message"].startswith("panic: open /etc/customs")
    waiting = get("/api/v1/namespaces/data/pods", "model-trainer")
    assert "3 node(s) had untolerated taint" in condition(waiting, "PodScheduled")["message"]
    deployments = "/apis/apps/v1/namespaces/web/deployments"

    def progress() -> str:
        return str(condition(get(deployments, "image-resizer"), "Progressing")["reason"])

    eventually(lambda: progress() == "ProgressDeadlineExceeded", "the rollout is stuck")
    assert condition(get("/api/v1/nodes", "worker-7"), "Ready")["status"] == "Unknown"
    quota = get("/api/v1/namespaces/checkout/resourcequotas", "team")["status"]
    assert quota["used"]["pods"] == quota["hard"]["pods"]
    autoscalers = "/apis/autoscaling/v2/namespaces/web/horizontalpodautoscalers"
    assert condition(get(autoscalers, "storefront"), "ScalingLimited")["status"] == "True"
    claims = "/api/v1/namespaces/data/persistentvolumeclaims"
    assert get(claims, "cold-storage")["status"]["phase"] == "Pending"
    job = get("/apis/batch/v1/namespaces/shipping/jobs", "address-backfill")
    assert condition(job, "Failed")["reason"] == "BackoffLimitExceeded"
    certificates = "/apis/cert-manager.io/v1/namespaces/payments/certificates"
    expiring = get(certificates, "payments-api-tls")["status"]
    left = datetime.fromisoformat(expiring["notAfter"]) - datetime.now(UTC)
    assert timedelta(days=4) < left < timedelta(days=6)
    secret = get("/api/v1/namespaces/payments/secrets", "payments-api-tls")
    assert secret["type"] == "kubernetes.io/tls"


def test_a_quota_counts_only_pods_that_have_not_terminated(world_api: Api) -> None:
    where = "/api/v1/namespaces/checkout"

    def counted() -> tuple[str, str]:
        pods = world_api.get(f"{where}/pods")["items"]
        left = [p for p in pods if p["status"].get("phase") not in ("Succeeded", "Failed")]
        (quota,) = world_api.get(f"{where}/resourcequotas")["items"]
        return quota["status"]["used"]["pods"], str(len(left))

    eventually(
        lambda: len(set(counted())) == 1, "the quota counts the pods that have not terminated"
    )


def test_finalizers_without_a_path_are_only_accepted_on_custom_resources(world_api: Api) -> None:
    """kube-apiserver's validation of the core types (pkg/apis/core/validation/validation.go) has an
    additional rule for built-in types. KubeSphere uses such finalizer names.
    """
    body = {"metadata": {"finalizers": ["finalizers.workspacetemplate.kubesphere.io"]}}
    certificate = "/apis/cert-manager.io/v1/namespaces/payments/certificates/payments-api-tls"
    assert world_api.call("PATCH", f"{certificate}?dryRun=All", body)[0] == 200
    assert world_api.call("PATCH", "/api/v1/namespaces/checkout?dryRun=All", body)[0] == 422


def test_the_namespaces_belong_to_several_workspaces(world_api: Api) -> None:
    labels = [n["metadata"].get("labels", {}) for n in world_api.get("/api/v1/namespaces")["items"]]
    found = {
        label["kubesphere.io/workspace"] for label in labels if "kubesphere.io/workspace" in label
    }
    assert found == set(workspaces())
    assert len(found) > 1


def test_the_sample_data_contains_gateways_and_snapshots(world_api: Api) -> None:
    services = {
        (found["metadata"]["namespace"], found["metadata"]["name"])
        for found in world_api.get("/api/v1/services")["items"]
    }
    claims = {
        (found["metadata"]["namespace"], found["metadata"]["name"])
        for found in world_api.get("/api/v1/persistentvolumeclaims")["items"]
    }
    gateways = "/apis/gateway.networking.k8s.io/v1"
    assert len(world_api.get(f"{gateways}/gatewayclasses")["items"]) == 1
    assert len(world_api.get(f"{gateways}/gateways")["items"]) == 2
    broken = []
    for kind in ("httproutes", "grpcroutes"):
        for route in world_api.get(f"{gateways}/{kind}")["items"]:
            (backend,) = route["spec"]["rules"][0]["backendRefs"]
            if (route["metadata"]["namespace"], backend["name"]) not in services:
                broken.append(route["metadata"]["name"])
    assert broken == ["tracking"]
    snapshots = "/apis/snapshot.storage.k8s.io/v1"
    (kept,) = world_api.get(f"{snapshots}/volumesnapshotclasses")["items"]
    assert kept["driver"] == "simulated.csi.local"
    contents = {
        found["metadata"]["name"]
        for found in world_api.get(f"{snapshots}/volumesnapshotcontents")["items"]
    }
    found = world_api.get(f"{snapshots}/volumesnapshots")["items"]
    assert len(found) == len(contents) == 3
    for snapshot in found:
        claim = snapshot["spec"]["source"]["persistentVolumeClaimName"]
        assert (snapshot["metadata"]["namespace"], claim) in claims
        assert snapshot["status"]["boundVolumeSnapshotContentName"] in contents
