"""Lifecycle of a CustomResourceDefinition: creation, serving, changes, and deletion."""

from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, Client
from tests.contract.crds import definition, establish, is_established, widget
from tests.contract.objects import CRDS, path
from tests.contract.stream import watch
from tests.controlplane.waiting import eventually


def test_several_versions_with_the_same_schema_are_served(
    admin: Client, cleanup: Cleanup, namespace: str
) -> None:
    crd = definition()
    (first,) = crd["spec"]["versions"]
    crd["spec"]["versions"].append({**first, "name": "v1beta1", "storage": False})
    where = establish(admin, cleanup, crd, namespace)
    admin.post(where, widget(crd, "both", size=1)).ok()
    old = admin.get(f"{where.replace('/v1/', '/v1beta1/')}/both").ok()
    assert old["apiVersion"] == f"{crd['spec']['group']}/v1beta1"
    assert old["spec"] == {"size": 1, "color": "blue"}


def test_the_scale_subresource_is_served(admin: Client, cleanup: Cleanup, namespace: str) -> None:
    scale = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
    crd = definition(subresources={"status": {}, "scale": scale})
    where = establish(admin, cleanup, crd, namespace)
    admin.post(where, widget(crd, "scaled", size=2)).ok()
    found = admin.get(f"{where}/scaled/scale").ok()
    assert (found["kind"], found["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert found["spec"] == {"replicas": 2}
    admin.patch(f"{where}/scaled/scale", {"spec": {"replicas": 4}}, MERGE_PATCH).ok()
    assert admin.get(f"{where}/scaled").ok()["spec"]["size"] == 4


def test_a_changed_schema_takes_effect(admin: Client, cleanup: Cleanup, namespace: str) -> None:
    crd = definition()
    where = establish(admin, cleanup, crd, namespace)
    body = widget(crd, "big", size=50)
    assert admin.post(where, body).status == 422
    here = f"{CRDS}/{crd['metadata']['name']}"
    found = admin.get(here).ok()
    schema = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["properties"]["size"]["maximum"] = 99
    admin.put(here, found).ok()
    eventually(lambda: admin.post(where, body).status == 201, "the new schema is in use")


def test_deleting_a_definition_deletes_its_objects(
    admin: Client, cleanup: Cleanup, namespace: str
) -> None:
    crd = definition()
    where = establish(admin, cleanup, crd, namespace)
    admin.post(where, widget(crd, "doomed", size=1)).ok()
    with watch(admin, where) as stream:
        assert stream.next()["type"] == "ADDED"
        admin.delete(f"{CRDS}/{crd['metadata']['name']}").ok()
        last = stream.next()
        assert (last["type"], last["object"]["metadata"]["name"]) == ("DELETED", "doomed")
        assert list(stream) == []
    eventually(lambda: admin.get(where).status == 404, "the type is gone")
    assert admin.get(f"{CRDS}/{crd['metadata']['name']}").status == 404


def test_a_recreated_definition_has_no_objects(
    admin: Client, cleanup: Cleanup, namespace: str
) -> None:
    crd = definition()
    where = establish(admin, cleanup, crd, namespace)
    admin.post(where, widget(crd, "doomed", size=1)).ok()
    here = f"{CRDS}/{crd['metadata']['name']}"
    admin.delete(here).ok()
    eventually(lambda: admin.get(here).status == 404, "the definition is gone")
    again = establish(admin, cleanup, crd, namespace)
    assert admin.get(again).ok()["items"] == []


def test_invalid_definitions_are_rejected(admin: Client) -> None:
    crd = definition()
    crd["metadata"]["name"] = "wrong.example.com"
    crd["spec"]["versions"][0]["storage"] = False
    answer = admin.post(CRDS, crd)
    assert (answer.status, answer.reason) == (422, "Invalid")
    fields = {cause["field"] for cause in answer.json["details"]["causes"]}
    assert fields >= {"metadata.name", "spec.versions"}
    crd = definition(schema={"openAPIV3Schema": {"properties": {}}})
    answer = admin.post(CRDS, crd)
    assert (answer.status, answer.reason) == (422, "Invalid")


def test_a_definition_is_established_after_conflicting_names_are_released(
    admin: Client, cleanup: Cleanup, namespace: str
) -> None:
    first, crd = definition(), definition()
    establish(admin, cleanup, first, namespace)
    group = first["spec"]["group"]
    crd["spec"]["group"] = group
    crd["spec"]["names"] |= {"plural": "gizmos", "shortNames": [], "categories": []}
    crd["metadata"]["name"] = f"gizmos.{group}"
    cleanup.create(CRDS, crd)
    refused = eventually(
        lambda: [
            c
            for c in admin.get(f"{CRDS}/gizmos.{group}").ok()["status"].get("conditions") or ()
            if (c["type"], c["status"]) == ("NamesAccepted", "False")
        ],
        "the kind is taken",
    )
    assert refused[0]["reason"] in ("KindConflict", "ListKindConflict", "SingularConflict")
    assert not is_established(admin, crd)
    assert admin.get(path(namespace, "gizmos", group=f"{group}/v1")).status == 404


def test_cluster_scoped_types_are_served_without_a_namespace(
    admin: Client, cleanup: Cleanup
) -> None:
    crd = definition()
    crd["spec"]["scope"] = "Cluster"
    cleanup.create(CRDS, crd)
    where = f"/apis/{crd['spec']['group']}/v1/widgets"
    eventually(lambda: admin.get(where).status == 200, "the type is served")
    made = admin.post(where, widget(crd, "global", size=1)).ok()
    assert "namespace" not in made["metadata"]
    assert admin.get(f"{where}/global").ok() == made
