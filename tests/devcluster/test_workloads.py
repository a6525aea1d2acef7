"""The simulated controllers, tested through the API."""

from typing import Any

import pytest

from devcluster.controllers.behaviour import ANNOTATION, IMAGE_ANNOTATION
from devcluster.server import DevCluster
from tests.controlplane.waiting import eventually
from tests.devcluster.conftest import Api, Obj

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
PODS = "/api/v1/namespaces/default/pods"


def template(behaviour: str = "", memory: str = "64Mi", **spec: Any) -> Obj:
    container = {"name": "c", "image": "example/web:1"}
    resources = {"resources": {"requests": {"memory": memory}}}
    about: Obj = {"labels": {"app": "web"}}
    if behaviour:
        about["annotations"] = {ANNOTATION: behaviour}
    return {"metadata": about, "spec": {"containers": [{**container, **resources}], **spec}}


def deployment(replicas: int, **kind: Any) -> Obj:
    selector = {"matchLabels": {"app": "web"}}
    spec = {"replicas": replicas, "selector": selector, "template": template(**kind)}
    return {"metadata": {"name": "web"}, "spec": spec}


def pods(api: Api) -> list[Obj]:
    return list(api.get(PODS)["items"])


def running(api: Api) -> list[Obj]:
    """Return the pods that are ready."""
    return [
        pod
        for pod in pods(api)
        if {"type": "Ready", "status": "True"}.items()
        <= next(
            (c for c in pod["status"].get("conditions", ()) if c["type"] == "Ready"), {}
        ).items()
    ]


@pytest.mark.usefixtures("node")
def test_a_deployment_creates_ready_pods(api: Api) -> None:
    api.post(DEPLOYMENTS, deployment(3))
    eventually(lambda: len(running(api)) == 3, "three pods are ready")
    found = running(api)
    assert len({pod["status"]["podIP"] for pod in found}) == 3
    for pod in found:
        assert pod["spec"]["nodeName"] == "node-1"
        assert pod["status"]["podIP"].startswith("10.244.9.")
        assert pod["status"]["hostIP"] == "10.1.0.1"
        (status,) = pod["status"]["containerStatuses"]
        assert status["ready"] is True
        assert status["state"]["running"]["startedAt"]
        (owner,) = pod["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["controller"]) == ("ReplicaSet", True)
    status = eventually(
        lambda: (s := api.get(f"{DEPLOYMENTS}/web")["status"]).get("availableReplicas") == 3 and s,
        "the deployment reports three available replicas",
    )
    assert status["observedGeneration"] == 1
    conditions = {c["type"]: c["reason"] for c in status["conditions"]}
    assert conditions["Available"] == "MinimumReplicasAvailable"


@pytest.mark.usefixtures("node")
def test_a_deleted_pod_is_replaced(api: Api) -> None:
    api.post(DEPLOYMENTS, deployment(1))
    (first,) = eventually(lambda: running(api), "the pod is ready")
    name = first["metadata"]["name"]
    assert api.call("DELETE", f"{PODS}/{name}")[0] == 200
    eventually(
        lambda: running(api) and name not in [p["metadata"]["name"] for p in pods(api)],
        "a new pod replaces the deleted one",
    )


@pytest.mark.usefixtures("node")
def test_a_rolling_update_keeps_the_minimum_number_of_pods(api: Api) -> None:
    api.post(DEPLOYMENTS, deployment(3))
    eventually(lambda: len(running(api)) == 3, "three pods are ready")
    image = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "web:2"}]}}}}
    assert api.call("PATCH", f"{DEPLOYMENTS}/web", image)[0] == 200
    counts = []

    def done() -> bool:
        found = running(api)
        counts.append(len(found))
        images = {pod["spec"]["containers"][0]["image"] for pod in pods(api)}
        return images == {"web:2"} and len(found) == 3

    eventually(done, "all pods have the new image")
    # maxUnavailable is 25% of three, rounded down to zero.
    assert min(counts) >= 3
    sets = api.get("/apis/apps/v1/namespaces/default/replicasets")["items"]
    assert sorted(one["spec"]["replicas"] for one in sets) == [0, 3]


@pytest.mark.usefixtures("node")
def test_deleting_a_deployment_deletes_its_pods(api: Api) -> None:
    api.post(DEPLOYMENTS, deployment(2))
    eventually(lambda: len(running(api)) == 2, "two pods are ready")
    assert api.call("DELETE", f"{DEPLOYMENTS}/web")[0] == 200
    eventually(lambda: pods(api) == [], "the pods are deleted")


@pytest.mark.usefixtures("node")
def test_an_unschedulable_pod_reports_the_reason(api: Api) -> None:
    api.post(PODS, {**template(memory="64Gi"), "metadata": {"name": "big"}})
    condition = eventually(
        lambda: api.get(f"{PODS}/big")["status"].get("conditions"), "the scheduler sets a condition"
    )[0]
    assert condition["reason"] == "Unschedulable"
    assert condition["message"].startswith("0/1 nodes are available: 1 Insufficient memory.")


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize(
    ("behaviour", "word"),
    [("crash oom", "CrashLoopBackOff"), ("pull-fails", "ImagePullBackOff")],
)
def test_crashing_containers_and_failed_pulls_are_in_the_pod_status(
    api: Api, behaviour: str, word: str
) -> None:
    body = template(behaviour)
    body["metadata"]["name"] = "bad"
    api.post(PODS, body)

    def state() -> Any:
        statuses = api.get(f"{PODS}/bad")["status"].get("containerStatuses") or [{}]
        waiting = statuses[0].get("state", {}).get("waiting", {})
        return statuses[0] if waiting.get("reason") == word else None

    status = eventually(state, f"the container is in {word}")
    if behaviour == "crash oom":
        ended = status["lastState"]["terminated"]
        assert (ended["reason"], ended["exitCode"]) == ("OOMKilled", 137)


@pytest.mark.usefixtures("node")
def test_a_job_completes_when_its_pods_succeed(api: Api) -> None:
    spec = {"template": template("runs 0.1", restartPolicy="Never"), "completions": 2}
    where = "/apis/batch/v1/namespaces/default/jobs"
    api.post(where, {"metadata": {"name": "work"}, "spec": spec})
    status = eventually(
        lambda: (s := api.get(f"{where}/work")["status"]).get("completionTime") and s,
        "the job completes",
    )
    assert status["succeeded"] == 2
    assert {c["type"] for c in status["conditions"]} == {"SuccessCriteriaMet", "Complete"}


@pytest.mark.usefixtures("node")
def test_stateful_set_pods_start_in_order(api: Api) -> None:
    where = "/apis/apps/v1/namespaces/default/statefulsets"
    spec = {**deployment(2)["spec"], "serviceName": "db"}
    api.post(where, {"metadata": {"name": "db"}, "spec": spec})
    eventually(lambda: len(running(api)) == 2, "both pods are ready")
    first, second = sorted(pods(api), key=lambda pod: str(pod["metadata"]["name"]))
    assert [first["metadata"]["name"], second["metadata"]["name"]] == ["db-0", "db-1"]
    ready = next(c for c in first["status"]["conditions"] if c["type"] == "Ready")
    assert second["metadata"]["creationTimestamp"] >= ready["lastTransitionTime"]


def test_controllers_settle_when_a_quota_is_exhausted(cluster: DevCluster, api: Api) -> None:
    """Each error message contains another pod name. Writing every message would change the status
    forever.
    """
    api.post(
        "/api/v1/namespaces/default/resourcequotas",
        {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "1"}}},
    )
    api.post(DEPLOYMENTS, deployment(3))
    cluster.wait_until_idle()
    (replica_set,) = api.get("/apis/apps/v1/namespaces/default/replicasets")["items"]
    (failure,) = replica_set["status"]["conditions"]
    assert failure["type"] == "ReplicaFailure" and "exceeded quota" in failure["message"]
    assert len(pods(api)) == 1


def test_pods_are_not_changed_if_the_cluster_has_no_nodes(cluster: DevCluster, api: Api) -> None:
    body = template()
    body["metadata"]["name"] = "alone"
    made = api.post(PODS, body)
    cluster.wait_until_idle()
    assert api.get(f"{PODS}/alone") == made


@pytest.mark.usefixtures("node")
def test_a_paused_deployment_does_not_roll_out(cluster: DevCluster, api: Api) -> None:
    api.post(DEPLOYMENTS, deployment(1))
    eventually(lambda: len(running(api)) == 1, "the pod is ready")
    assert api.call("PATCH", f"{DEPLOYMENTS}/web", {"spec": {"paused": True}})[0] == 200
    image = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "web:2"}]}}}}
    assert api.call("PATCH", f"{DEPLOYMENTS}/web", image)[0] == 200
    cluster.wait_until_idle()
    assert [pod["spec"]["containers"][0]["image"] for pod in pods(api)] == ["example/web:1"]
    assert api.call("PATCH", f"{DEPLOYMENTS}/web", {"spec": {"paused": None}})[0] == 200
    eventually(
        lambda: {pod["spec"]["containers"][0]["image"] for pod in running(api)} == {"web:2"},
        "the new image is running",
    )


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize(
    ("behaviour", "word"),
    [("crash error", "CrashLoopBackOff"), ("pull-fails", "ImagePullBackOff")],
)
def test_a_new_image_fixes_a_broken_deployment(api: Api, behaviour: str, word: str) -> None:
    body = deployment(1, behaviour=behaviour)
    body["spec"]["template"]["metadata"]["annotations"][IMAGE_ANNOTATION] = "example/web:1"
    api.post(DEPLOYMENTS, body)

    def state() -> Any:
        statuses = [pod["status"].get("containerStatuses") or [{}] for pod in pods(api)]
        return any(s[0].get("state", {}).get("waiting", {}).get("reason") == word for s in statuses)

    eventually(state, f"the container is in {word}")
    image = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "web:2"}]}}}}
    assert api.call("PATCH", f"{DEPLOYMENTS}/web", image)[0] == 200
    eventually(lambda: len(running(api)) == len(pods(api)) == 1, "the pod is running")


@pytest.mark.usefixtures("node")
def test_suspending_a_job_deletes_its_pods(api: Api) -> None:
    spec = {"template": template(restartPolicy="Never"), "suspend": False}
    where = "/apis/batch/v1/namespaces/default/jobs"
    api.post(where, {"metadata": {"name": "work"}, "spec": spec})

    def suspended() -> dict[str, str]:
        found = api.get(f"{where}/work")["status"].get("conditions", ())
        return {one["type"]: one["status"] for one in found}

    eventually(lambda: len(running(api)) == 1, "the pod is running")
    assert api.call("PATCH", f"{where}/work", {"spec": {"suspend": True}})[0] == 200
    eventually(
        lambda: pods(api) == [] and suspended() == {"Suspended": "True"}, "the job is suspended"
    )
    assert "startTime" not in api.get(f"{where}/work")["status"]
    assert api.call("PATCH", f"{where}/work", {"spec": {"suspend": False}})[0] == 200
    eventually(lambda: len(running(api)) == 1, "the pod is running again")
    assert suspended() == {"Suspended": "False"}


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize("plural", ["statefulsets", "daemonsets"])
def test_stateful_sets_and_daemon_sets_have_a_revision_history(
    cluster: DevCluster, api: Api, plural: str
) -> None:
    where = f"/apis/apps/v1/namespaces/default/{plural}"
    spec = {**deployment(1)["spec"], "serviceName": "web"}
    if plural == "daemonsets":
        spec = {"selector": spec["selector"], "template": spec["template"]}
    api.post(where, {"metadata": {"name": "web"}, "spec": spec})

    def revisions() -> list[tuple[int, str]]:
        cluster.wait_until_idle()
        found = api.get("/apis/apps/v1/namespaces/default/controllerrevisions")["items"]
        templates = [(one["revision"], one["data"]["spec"]["template"]) for one in found]
        return sorted((n, t["spec"]["containers"][0]["image"]) for n, t in templates)

    def roll(image: str) -> None:
        containers = [{**spec["template"]["spec"]["containers"][0], "image": image}]
        patch = {"spec": {"template": {"spec": {"containers": containers}}}}
        assert api.call("PATCH", f"{where}/web", patch)[0] == 200
        eventually(
            lambda: [p["spec"]["containers"][0]["image"] for p in running(api)] == [image],
            "the new image is running",
        )

    eventually(lambda: len(running(api)) == 1, "the pod is running")
    assert revisions() == [(1, "example/web:1")]
    roll("web:2")
    assert revisions() == [(1, "example/web:1"), (2, "web:2")]
    # A rollback makes the old revision the newest one.
    roll("example/web:1")
    assert revisions() == [(2, "web:2"), (3, "example/web:1")]
