"""Namespaces and their deletion."""

from tests.contract.client import MERGE_PATCH, Client
from tests.contract.objects import NAMESPACES, config_map, path
from tests.controlplane.waiting import eventually


def test_a_cluster_has_the_default_namespaces(admin: Client) -> None:
    names = {item["metadata"]["name"] for item in admin.get(NAMESPACES).ok()["items"]}
    assert names >= {"default", "kube-system", "kube-public", "kube-node-lease"}


def test_a_new_namespace_is_active(admin: Client, empty_namespace: str) -> None:
    name = empty_namespace
    made = admin.get(f"{NAMESPACES}/{name}").ok()
    assert made["status"] == {"phase": "Active"}
    assert made["spec"] == {"finalizers": ["kubernetes"]}
    assert made["metadata"]["labels"] == {"kubernetes.io/metadata.name": name}


def test_each_namespace_gets_a_default_service_account(admin: Client, namespace: str) -> None:
    where = path(namespace, "serviceaccounts", "default")
    eventually(lambda: admin.get(where).status == 200, "the default service account")


def test_creating_in_a_missing_namespace_returns_404(admin: Client) -> None:
    answer = admin.post(path("absent", "configmaps"), config_map("a"))
    assert (answer.status, answer.reason) == (404, "NotFound")
    assert answer.json["message"] == 'namespaces "absent" not found'
    assert answer.json["details"] == {"name": "absent", "kind": "namespaces"}


def test_listing_a_missing_namespace_is_empty(admin: Client) -> None:
    assert admin.get(path("absent", "configmaps")).ok()["items"] == []


def test_deleting_a_namespace_deletes_its_objects(admin: Client, empty_namespace: str) -> None:
    where = path(empty_namespace, "configmaps")
    admin.post(where, config_map("inside")).ok()
    answer = admin.delete(f"{NAMESPACES}/{empty_namespace}")
    assert answer.status == 200
    assert answer.json["status"]["phase"] == "Terminating"
    assert answer.json["metadata"]["deletionTimestamp"]
    gone = f"{NAMESPACES}/{empty_namespace}"
    eventually(lambda: admin.get(gone).status == 404, "the namespace is gone", timeout=40)
    assert admin.get(f"{where}/inside").status == 404


def test_a_terminating_namespace_rejects_new_objects(admin: Client, empty_namespace: str) -> None:
    body = config_map("held")
    body["metadata"]["finalizers"] = ["example.com/hold"]
    where = path(empty_namespace, "configmaps")
    admin.post(where, body).ok()
    admin.delete(f"{NAMESPACES}/{empty_namespace}").ok()
    refused = admin.post(where, config_map("late"))
    assert (refused.status, refused.reason) == (403, "Forbidden")
    assert refused.json["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    assert admin.get(f"{NAMESPACES}/{empty_namespace}").ok()["status"]["phase"] == "Terminating"
    held = admin.patch(f"{where}/held", {"metadata": {"finalizers": None}}, MERGE_PATCH)
    assert held.status == 200
    gone = f"{NAMESPACES}/{empty_namespace}"
    eventually(lambda: admin.get(gone).status == 404, "the namespace is gone", timeout=40)


def test_the_default_namespace_cannot_be_deleted(admin: Client) -> None:
    answer = admin.delete(f"{NAMESPACES}/default")
    assert (answer.status, answer.reason) == (403, "Forbidden")
