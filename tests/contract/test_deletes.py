"""Deletion: preconditions, finalizers, and owners."""

import pytest

from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.objects import config_map, create_pod, path, pod, unique, version_of
from tests.contract.stream import watch
from tests.controlplane.waiting import eventually


@pytest.fixture
def made(admin: Client, namespace: str) -> Obj:
    found: Obj = admin.post(path(namespace, "configmaps"), config_map(unique("doomed"))).ok()
    return found


def where_is(obj: Obj) -> str:
    return path(obj["metadata"]["namespace"], "configmaps", obj["metadata"]["name"])


def options(**fields: object) -> Obj:
    return {"kind": "DeleteOptions", "apiVersion": "v1", **fields}


def is_gone(admin: Client, where: str) -> bool:
    return admin.get(where).status == 404


def owned(owner: Obj, namespace: str, **more: object) -> Obj:
    """Return a ConfigMap that is owned by another one."""
    body = config_map(unique("owned"))
    reference = {"apiVersion": "v1", "kind": "ConfigMap", **more}
    reference |= {key: owner["metadata"][key] for key in ("name", "uid")}
    body["metadata"] |= {"namespace": namespace, "ownerReferences": [reference]}
    return body


def test_delete_returns_a_success_status(admin: Client, made: Obj) -> None:
    answer = admin.delete(where_is(made))
    assert (answer.status, answer.json["kind"], answer.json["status"]) == (200, "Status", "Success")
    details = {
        "name": made["metadata"]["name"],
        "kind": "configmaps",
        "uid": made["metadata"]["uid"],
    }
    assert answer.json["details"] == details
    assert is_gone(admin, where_is(made))


def test_deleting_a_missing_object_returns_404(admin: Client, namespace: str) -> None:
    answer = admin.delete(path(namespace, "configmaps", "absent"))
    assert (answer.status, answer.reason) == (404, "NotFound")


@pytest.mark.parametrize("field", ["uid", "resourceVersion"])
def test_delete_checks_preconditions(admin: Client, made: Obj, field: str) -> None:
    wrong = options(preconditions={field: "77"})
    answer = admin.delete(where_is(made), wrong)
    assert (answer.status, answer.reason) == (409, "Conflict")
    assert "in the precondition (77) does not match" in answer.json["message"]
    assert not is_gone(admin, where_is(made))
    right = options(preconditions={field: made["metadata"][field]})
    assert admin.delete(where_is(made), right).status == 200
    assert is_gone(admin, where_is(made))


def test_deletion_waits_for_finalizers(admin: Client, namespace: str) -> None:
    body = config_map(unique("held"))
    body["metadata"]["finalizers"] = ["example.com/hold"]
    made = admin.post(path(namespace, "configmaps"), body).ok()
    answer = admin.delete(where_is(made)).ok()
    assert answer["kind"] == "ConfigMap"
    assert answer["metadata"]["deletionTimestamp"].endswith("Z")
    assert answer["metadata"]["deletionGracePeriodSeconds"] == 0
    assert not is_gone(admin, where_is(made))
    admin.patch(where_is(made), {"metadata": {"finalizers": None}}, MERGE_PATCH).ok()
    assert is_gone(admin, where_is(made))


def test_finalizers_cannot_be_added_during_deletion(admin: Client, namespace: str) -> None:
    body = config_map(unique("held"))
    body["metadata"]["finalizers"] = ["example.com/hold"]
    made = admin.post(path(namespace, "configmaps"), body).ok()
    admin.delete(where_is(made)).ok()
    more = {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}}
    answer = admin.patch(where_is(made), more, MERGE_PATCH)
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert answer.json["details"]["causes"][0]["field"] == "metadata.finalizers"
    admin.patch(where_is(made), {"metadata": {"finalizers": []}}, MERGE_PATCH).ok()
    assert is_gone(admin, where_is(made))


def test_a_second_delete_keeps_the_deletion_timestamp(admin: Client, namespace: str) -> None:
    body = config_map(unique("held"))
    body["metadata"]["finalizers"] = ["example.com/hold"]
    made = admin.post(path(namespace, "configmaps"), body).ok()
    first = admin.delete(where_is(made)).ok()["metadata"]["deletionTimestamp"]
    assert admin.delete(where_is(made)).ok()["metadata"]["deletionTimestamp"] == first
    admin.patch(where_is(made), {"metadata": {"finalizers": []}}, MERGE_PATCH).ok()


def test_dependents_of_a_deleted_object_are_garbage_collected(
    admin: Client, made: Obj, namespace: str
) -> None:
    where = path(namespace, "configmaps")
    dependent = admin.post(where, owned(made, namespace)).ok()
    admin.delete(where_is(made)).ok()
    eventually(lambda: is_gone(admin, where_is(dependent)), "the dependent is collected")


def test_orphan_policy_keeps_dependents(admin: Client, made: Obj, namespace: str) -> None:
    where = path(namespace, "configmaps")
    dependent = admin.post(where, owned(made, namespace)).ok()
    admin.delete(where_is(made), options(propagationPolicy="Orphan")).ok()
    eventually(lambda: is_gone(admin, where_is(made)), "the owner is gone")
    left = admin.get(where_is(dependent)).ok()["metadata"]
    assert left.get("ownerReferences") is None


def test_foreground_deletion_waits_for_dependents(admin: Client, made: Obj, namespace: str) -> None:
    body = owned(made, namespace, blockOwnerDeletion=True)
    body["metadata"]["finalizers"] = ["example.com/hold"]
    dependent = admin.post(path(namespace, "configmaps"), body).ok()
    answer = admin.delete(where_is(made), options(propagationPolicy="Foreground")).ok()
    assert "foregroundDeletion" in answer["metadata"]["finalizers"]
    eventually(
        lambda: "deletionTimestamp" in admin.get(where_is(dependent)).ok()["metadata"],
        "the dependent is being deleted",
    )
    assert not is_gone(admin, where_is(made))
    admin.patch(where_is(dependent), {"metadata": {"finalizers": None}}, MERGE_PATCH).ok()
    eventually(lambda: is_gone(admin, where_is(made)), "the owner is gone")


def test_the_propagation_policy_can_be_a_query_parameter(admin: Client, made: Obj) -> None:
    answer = admin.delete(where_is(made), propagationPolicy="Sideways")
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert answer.json["details"]["causes"][0]["field"] == "propagationPolicy"
    assert admin.delete(where_is(made), propagationPolicy="Background").status == 200


def test_an_unscheduled_pod_is_deleted_immediately(admin: Client, namespace: str) -> None:
    name = unique("unscheduled")
    create_pod(admin, namespace, pod(name))
    where = path(namespace, "pods", name)
    answer = admin.delete(where).ok()
    assert (answer["kind"], answer["metadata"]["name"]) == ("Pod", name)
    assert is_gone(admin, where)


def test_watches_report_a_modified_event_before_a_pod_is_deleted(
    admin: Client, empty_namespace: str
) -> None:
    start = version_of(create_pod(admin, empty_namespace, pod("marked")))
    where = path(empty_namespace, "pods")
    admin.delete(f"{where}/marked").ok()
    with watch(admin, where, resourceVersion=start) as stream:
        modified, deleted = stream.take(2)
    assert (modified["type"], deleted["type"]) == ("MODIFIED", "DELETED")
    about = modified["object"]["metadata"]
    assert about["deletionTimestamp"]
    assert about["deletionGracePeriodSeconds"] == 0


def test_a_recreated_object_has_a_new_uid(admin: Client, made: Obj, namespace: str) -> None:
    admin.delete(where_is(made)).ok()
    body = config_map(made["metadata"]["name"])
    again = admin.post(path(namespace, "configmaps"), body).ok()
    assert again["metadata"]["uid"] != made["metadata"]["uid"]
    assert int(version_of(again)) > int(version_of(made))


def test_circular_owners_are_deleted_in_the_foreground(
    admin: Client, made: Obj, namespace: str
) -> None:
    where = path(namespace, "configmaps")
    other = admin.post(where, owned(made, namespace, blockOwnerDeletion=True)).ok()
    about = {key: other["metadata"][key] for key in ("name", "uid")}
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "blockOwnerDeletion": True, **about}
    patch = {"metadata": {"ownerReferences": [owner]}}
    admin.patch(where_is(made), patch, MERGE_PATCH).ok()
    admin.delete(where_is(made), options(propagationPolicy="Foreground")).ok()
    eventually(lambda: is_gone(admin, where_is(made)), "the owner is gone")
    eventually(lambda: is_gone(admin, where_is(other)), "the other one is gone")


def test_a_dependent_with_another_owner_is_kept(admin: Client, made: Obj, namespace: str) -> None:
    where = path(namespace, "configmaps")
    other = admin.post(where, config_map(unique("owner"))).ok()
    body = owned(made, namespace, blockOwnerDeletion=True)
    body["metadata"]["ownerReferences"] += owned(other, namespace)["metadata"]["ownerReferences"]
    dependent = admin.post(where, body).ok()
    admin.delete(where_is(made), options(propagationPolicy="Foreground")).ok()
    eventually(lambda: is_gone(admin, where_is(made)), "the owner is gone")
    owners = admin.get(where_is(dependent)).ok()["metadata"]["ownerReferences"]
    assert [one["uid"] for one in owners] == [other["metadata"]["uid"]]
