"""Namespaces, and what happens to those that are deleted."""

from tests.contract.client import MERGE_PATCH, Client
from tests.contract.objects import NAMESPACES, config_map, path
from tests.controlplane.waiting import eventually


def it_begins_with_the_usual_ones(admin: Client) -> None:
    names = {item["metadata"]["name"] for item in admin.get(NAMESPACES).ok()["items"]}
    assert names >= {"default", "kube-system", "kube-public", "kube-node-lease"}


def it_makes_an_active_namespace(admin: Client, empty_namespace: str) -> None:
    name = empty_namespace
    made = admin.get(f"{NAMESPACES}/{name}").ok()
    assert made["status"] == {"phase": "Active"}
    assert made["spec"] == {"finalizers": ["kubernetes"]}
    assert made["metadata"]["labels"] == {"kubernetes.io/metadata.name": name}


def it_gives_each_a_service_account(admin: Client, namespace: str) -> None:
    where = path(namespace, "serviceaccounts", "default")
    eventually(lambda: admin.get(where).status == 200, "the default service account")


def it_refuses_objects_in_a_namespace_that_is_not_there(admin: Client) -> None:
    answer = admin.post(path("absent", "configmaps"), config_map("a"))
    assert (answer.status, answer.reason) == (404, "NotFound")
    assert answer.json["message"] == 'namespaces "absent" not found'
    assert answer.json["details"] == {"name": "absent", "kind": "namespaces"}


def it_lists_nothing_in_a_namespace_that_is_not_there(admin: Client) -> None:
    assert admin.get(path("absent", "configmaps")).ok()["items"] == []


def it_empties_and_removes(admin: Client, empty_namespace: str) -> None:
    where = path(empty_namespace, "configmaps")
    admin.post(where, config_map("inside")).ok()
    answer = admin.delete(f"{NAMESPACES}/{empty_namespace}")
    assert answer.status == 200
    assert answer.json["status"]["phase"] == "Terminating"
    assert answer.json["metadata"]["deletionTimestamp"]
    gone = f"{NAMESPACES}/{empty_namespace}"
    eventually(lambda: admin.get(gone).status == 404, "the namespace is gone", timeout=40)
    assert admin.get(f"{where}/inside").status == 404


def it_takes_nothing_new_while_it_ends(admin: Client, empty_namespace: str) -> None:
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


def it_keeps_the_one_it_needs(admin: Client) -> None:
    answer = admin.delete(f"{NAMESPACES}/default")
    assert (answer.status, answer.reason) == (403, "Forbidden")
