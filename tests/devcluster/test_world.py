"""The sample world: what is there on the first start, and that it is the same for a seed."""

from collections import Counter
from pathlib import Path
from typing import Any

from devcluster.podstatus import pod_word
from devcluster.sample.catalog import catalog
from devcluster.server import DevCluster
from tests.devcluster.conftest import Api, Obj


def all_pods(api: Api) -> list[Obj]:
    return list(api.get("/api/v1/pods")["items"])


def it_is_a_cluster_that_has_been_lived_in(world_api: Api) -> None:
    nodes = world_api.get("/api/v1/nodes")["items"]
    assert len(nodes) == 12
    names = {n["metadata"]["name"] for n in world_api.get("/api/v1/namespaces")["items"]}
    assert names >= {"kube-system", *catalog().namespaces}
    pods = all_pods(world_api)
    assert 130 <= len(pods) <= 200
    words = Counter(pod_word(pod) for pod in pods)
    assert words["Running"] > 100
    # A crashing container may be running at this very moment.
    for word in ("ImagePullBackOff", "Pending", "Completed", "Evicted", "Terminating", "Init:0/1"):
        assert words[word] >= 1, words
    restarts = [s["restartCount"] for p in pods for s in p["status"].get("containerStatuses", ())]
    assert max(restarts) > 100


def it_has_the_troubles_that_people_know(world_api: Api) -> None:
    pods = {pod["metadata"]["name"]: pod for pod in all_pods(world_api)}
    crashing = next(pod for name, pod in pods.items() if name.startswith("fraud-scorer"))
    ended = crashing["status"]["containerStatuses"][0]["lastState"]["terminated"]
    assert (ended["reason"], ended["exitCode"]) == ("OOMKilled", 137)
    waiting = next(pod for name, pod in pods.items() if name.startswith("recommender"))
    (condition,) = waiting["status"]["conditions"]
    assert condition["message"].startswith("0/12 nodes are available: 8 Insufficient memory")
    unready = next(pod for name, pod in pods.items() if name.startswith("feature-store"))
    ready = next(c for c in unready["status"]["conditions"] if c["type"] == "Ready")
    assert (unready["status"]["phase"], ready["reason"]) == ("Running", "ContainersNotReady")


def it_has_pods_that_fit_their_owners(world_api: Api) -> None:
    for deployment in world_api.get("/apis/apps/v1/deployments")["items"]:
        status, wanted = deployment["status"], deployment["spec"]["replicas"]
        assert status["observedGeneration"] == deployment["metadata"]["generation"]
        assert status["replicas"] >= wanted
    addresses = [
        pod["status"]["podIP"]
        for pod in all_pods(world_api)
        if pod["status"].get("podIP")
        and not pod["spec"].get("hostNetwork")
        # A pod that was left behind shares the address of the one it was copied from.
        and "deletionTimestamp" not in pod["metadata"]
    ]
    assert len(addresses) == len(set(addresses))


def _shape(folder: Path) -> Any:
    with DevCluster(folder, world=True, seed=11) as cluster:
        return sorted(
            (pod["metadata"]["name"], pod["spec"].get("nodeName", ""), pod["metadata"]["uid"])
            for pod in all_pods(Api.of(cluster))
            # How often a cron job runs in the first seconds follows the clock.
            if "job-name" not in pod["metadata"].get("labels", {})
        )


def it_follows_from_its_seed(tmp_path: Path) -> None:
    assert _shape(tmp_path / "one") == _shape(tmp_path / "two")


def it_is_made_once(tmp_path: Path) -> None:
    with DevCluster(tmp_path, world=True) as cluster:
        api = Api.of(cluster)
        assert api.call("DELETE", "/apis/apps/v1/namespaces/web/deployments/admin")[0] == 200
    with DevCluster(tmp_path, world=True) as cluster:
        where = "/apis/apps/v1/namespaces/web/deployments/admin"
        assert Api.of(cluster).call("GET", where)[0] == 404
