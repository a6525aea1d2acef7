"""Resource metrics of nodes and pods in the metrics-server API."""

from devcluster.server import DevCluster
from tests.devcluster.conftest import Api

BASE = "/apis/metrics.k8s.io/v1beta1"


def nano(quantity: str) -> int:
    assert quantity.endswith("n")
    return int(quantity[:-1])


def kibi(quantity: str) -> int:
    assert quantity.endswith("Ki")
    return int(quantity[:-2])


def test_node_metrics_are_below_the_allocatable_resources(world_api: Api) -> None:
    nodes = {n["metadata"]["name"]: n for n in world_api.get("/api/v1/nodes")["items"]}
    found = world_api.get(f"{BASE}/nodes")
    assert (found["kind"], found["apiVersion"]) == ("NodeMetricsList", "metrics.k8s.io/v1beta1")
    assert {item["metadata"]["name"] for item in found["items"]} == set(nodes)
    for item in found["items"]:
        there = nodes[item["metadata"]["name"]]["status"]["allocatable"]
        assert 0 < nano(item["usage"]["cpu"]) < int(there["cpu"]) * 10**9
        assert 0 < kibi(item["usage"]["memory"]) < kibi(there["memory"])
        assert item["window"] == "15s"


def test_pod_metrics_include_only_running_pods(world_api: Api) -> None:
    running = {
        (p["metadata"]["namespace"], p["metadata"]["name"])
        for p in world_api.get("/api/v1/pods")["items"]
        if any("running" in s["state"] for s in p["status"].get("containerStatuses", ()))
    }
    items = world_api.get(f"{BASE}/pods")["items"]
    found = {(i["metadata"]["namespace"], i["metadata"]["name"]) for i in items}
    # A container may have started or crashed between the two requests.
    assert len(found ^ running) <= 5
    assert all(container["usage"]["cpu"] for item in items for container in item["containers"])


def test_pod_metrics_can_be_requested_by_namespace_name_and_label(world_api: Api) -> None:
    items = world_api.get(f"{BASE}/namespaces/kube-system/pods")["items"]
    assert {item["metadata"]["namespace"] for item in items} == {"kube-system"}
    name = items[0]["metadata"]["name"]
    one = world_api.get(f"{BASE}/namespaces/kube-system/pods/{name}")
    assert (one["kind"], one["metadata"]["name"]) == ("PodMetrics", name)
    labelled = world_api.get(f"{BASE}/namespaces/kube-system/pods?labelSelector=component=etcd")
    assert {i["metadata"]["name"][:5] for i in labelled["items"]} == {"etcd-"}


def test_metrics_reject_missing_objects_and_unsupported_verbs(
    api: Api, cluster: DevCluster
) -> None:
    pod = {"metadata": {"name": "idle"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    api.post("/api/v1/namespaces/default/pods", pod)
    assert api.call("GET", f"{BASE}/namespaces/default/pods/idle")[0] == 404
    assert api.call("GET", f"{BASE}/nodes/nobody")[0] == 404
    assert api.call("POST", f"{BASE}/nodes", {"metadata": {"name": "n"}})[0] == 405
    assert api.call("GET", f"{BASE}/nodes?watch=true")[0] == 405
