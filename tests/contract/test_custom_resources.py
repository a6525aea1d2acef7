"""Custom resources: validation, defaulting, storage, and status."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import NamedTuple

import pytest

from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, STRATEGIC_PATCH, Client, Obj
from tests.contract.crds import definition, establish, widget
from tests.contract.objects import CRDS, unique, version_of
from tests.contract.stream import watch


class Widgets(NamedTuple):
    """A custom type with a status, and the path of its objects."""

    crd: Obj
    where: str

    @property
    def root(self) -> str:
        return f"/apis/{self.crd['spec']['group']}"


@pytest.fixture(scope="module")
def widgets(admin: Client, namespace: str) -> Iterator[Widgets]:
    with ExitStack() as stack:
        crd = definition(subresources={"status": {}})
        yield Widgets(crd, establish(admin, Cleanup(admin, stack), crd, namespace))


def make(admin: Client, widgets: Widgets, **spec: object) -> Obj:
    body = widget(widgets.crd, unique("w"), **{"size": 3, **spec})
    made: Obj = admin.post(widgets.where, body).ok()
    return made


def where_is(widgets: Widgets, made: Obj) -> str:
    return f"{widgets.where}/{made['metadata']['name']}"


def test_a_custom_type_appears_in_discovery(admin: Client, widgets: Widgets) -> None:
    group = admin.get(widgets.root).ok()
    assert group["preferredVersion"]["version"] == "v1"
    listed = {r["name"]: r for r in admin.get(f"{widgets.root}/v1").ok()["resources"]}
    assert listed.keys() == {"widgets", "widgets/status"}
    found = listed["widgets"]
    assert (found["kind"], found["singularName"], found["namespaced"]) == ("Widget", "widget", True)
    assert (found["shortNames"], found["categories"]) == (["wd"], ["gadgets"])
    assert set(found["verbs"]) >= {"create", "delete", "get", "list", "patch", "update", "watch"}


def test_a_definition_has_conditions(admin: Client, widgets: Widgets) -> None:
    found = admin.get(f"{CRDS}/{widgets.crd['metadata']['name']}").ok()["status"]
    conditions = {c["type"]: (c["status"], c["reason"]) for c in found["conditions"]}
    assert conditions["NamesAccepted"] == ("True", "NoConflicts")
    assert conditions["Established"] == ("True", "InitialNamesAccepted")
    assert found["storedVersions"] == ["v1"]
    assert found["acceptedNames"]["kind"] == "Widget"


def test_custom_objects_are_stored_and_listed(admin: Client, widgets: Widgets) -> None:
    made = make(admin, widgets, color="red")
    assert made["metadata"]["generation"] == 1
    assert admin.get(where_is(widgets, made)).ok() == made
    listed = admin.get(widgets.where).ok()
    assert listed["kind"] == "WidgetList"
    assert listed["apiVersion"] == made["apiVersion"]
    assert made in listed["items"]


def test_finalizers_without_a_path_are_accepted(admin: Client, widgets: Widgets) -> None:
    body = widget(widgets.crd, unique("w"), size=3)
    body["metadata"]["finalizers"] = ["finalizers.example.com"]
    made = admin.post(widgets.where, body).ok()
    assert made["metadata"]["finalizers"] == ["finalizers.example.com"]
    admin.patch(where_is(widgets, made), {"metadata": {"finalizers": None}}, MERGE_PATCH).ok()
    body["metadata"] |= {"name": unique("w"), "finalizers": ["not a name"]}
    assert admin.post(widgets.where, body).status == 422


def test_schema_defaults_are_filled_in(admin: Client, widgets: Widgets) -> None:
    made = make(admin, widgets, parts=[{"name": "wheel"}])
    assert made["spec"] == {"size": 3, "color": "blue", "parts": [{"name": "wheel", "count": 1}]}


def test_unknown_fields_are_pruned(admin: Client, widgets: Widgets) -> None:
    made = make(admin, widgets, unknown=1, notes={"any": {"thing": [1]}})
    assert made["spec"] == {"size": 3, "color": "blue", "notes": {"any": {"thing": [1]}}}


@pytest.mark.parametrize(
    ("spec", "field", "reason"),
    [
        ({"size": 10}, "spec.size", "FieldValueInvalid"),
        ({"size": 0}, "spec.size", "FieldValueInvalid"),
        ({"size": "3"}, "spec.size", "FieldValueTypeInvalid"),
        ({"color": "red"}, "spec.size", "FieldValueRequired"),
        ({"size": 3, "color": "green"}, "spec.color", "FieldValueNotSupported"),
        ({"size": 3, "parts": [{"name": "A1"}]}, "spec.parts[0].name", "FieldValueInvalid"),
        ({"size": 3, "parts": [{}]}, "spec.parts[0].name", "FieldValueRequired"),
        ({"size": 3, "parts": [{"name": "a"}] * 2}, "spec.parts[1]", "FieldValueDuplicate"),
    ],
)
def test_values_are_validated_against_the_schema(
    admin: Client, widgets: Widgets, spec: Obj, field: str, reason: str
) -> None:
    answer = admin.post(widgets.where, widget(widgets.crd, "bad", **spec))
    assert (answer.status, answer.reason) == (422, "Invalid")
    details = answer.json["details"]
    assert (details["name"], details["kind"]) == ("bad", "Widget")
    assert details["group"] == widgets.crd["spec"]["group"]
    assert [(c["field"], c["reason"]) for c in details["causes"]] == [(field, reason)]
    assert field in answer.json["message"]


def test_all_validation_errors_are_listed(admin: Client, widgets: Widgets) -> None:
    answer = admin.post(widgets.where, widget(widgets.crd, "bad", size=10, color="green"))
    fields = {cause["field"] for cause in answer.json["details"]["causes"]}
    assert fields == {"spec.size", "spec.color"}


def test_patched_values_are_validated(admin: Client, widgets: Widgets) -> None:
    made = make(admin, widgets)
    answer = admin.patch(where_is(widgets, made), {"spec": {"size": 11}}, MERGE_PATCH)
    assert (answer.status, answer.reason) == (422, "Invalid")


def test_only_spec_changes_increase_the_generation(admin: Client, widgets: Widgets) -> None:
    made = make(admin, widgets)
    labelled = admin.patch(
        where_is(widgets, made), {"metadata": {"labels": {"a": "b"}}}, MERGE_PATCH
    ).ok()
    assert labelled["metadata"]["generation"] == 1
    resized = admin.patch(where_is(widgets, made), {"spec": {"size": 4}}, MERGE_PATCH).ok()
    assert resized["metadata"]["generation"] == 2


def test_status_changes_only_through_its_subresource(admin: Client, widgets: Widgets) -> None:
    body = {**widget(widgets.crd, unique("w"), size=3), "status": {"phase": "Made"}}
    made = admin.post(widgets.where, body).ok()
    assert "status" not in made
    both = {"status": {"phase": "Ready"}, "spec": {"size": 5}}
    after = admin.patch(f"{where_is(widgets, made)}/status", both, MERGE_PATCH).ok()
    assert (after["status"], after["spec"]["size"]) == ({"phase": "Ready"}, 3)
    assert after["metadata"]["generation"] == 1
    again = admin.patch(where_is(widgets, made), {**both, "status": None}, MERGE_PATCH).ok()
    assert (again["status"], again["spec"]["size"]) == ({"phase": "Ready"}, 5)


def test_replacing_requires_a_resource_version(admin: Client, widgets: Widgets) -> None:
    made = make(admin, widgets)
    body = widget(widgets.crd, made["metadata"]["name"], size=4)
    answer = admin.put(where_is(widgets, made), body)
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert answer.json["details"]["causes"][0]["field"] == "metadata.resourceVersion"
    body["metadata"]["resourceVersion"] = version_of(made)
    assert admin.put(where_is(widgets, made), body).status == 200
    assert admin.put(where_is(widgets, made), body).status == 409


def test_strategic_merge_patches_are_unsupported(admin: Client, widgets: Widgets) -> None:
    made = make(admin, widgets)
    answer = admin.patch(where_is(widgets, made), {}, STRATEGIC_PATCH)
    assert (answer.status, answer.reason) == (415, "UnsupportedMediaType")


def test_server_side_apply_merges_lists_by_their_keys(admin: Client, widgets: Widgets) -> None:
    name = unique("w")
    one = widget(widgets.crd, name, size=3, parts=[{"name": "wheel"}])
    assert admin.apply(f"{widgets.where}/{name}", one, "one").status == 201
    two = widget(widgets.crd, name, parts=[{"name": "door", "count": 2}])
    found = admin.apply(f"{widgets.where}/{name}", two, "two").ok()
    assert sorted(part["name"] for part in found["spec"]["parts"]) == ["door", "wheel"]
    three = admin.apply(f"{widgets.where}/{name}", widget(widgets.crd, name, size=4), "three")
    assert (three.status, three.reason) == (409, "Conflict")
    assert three.json["details"]["causes"][0]["field"] == ".spec.size"


def test_watches_report_custom_objects(admin: Client, widgets: Widgets) -> None:
    start = version_of(admin.get(widgets.where).ok())
    made = make(admin, widgets)
    with watch(admin, widgets.where, resourceVersion=start) as stream:
        assert stream.next() == {"type": "ADDED", "object": made}


def test_custom_objects_are_selected_by_label(admin: Client, widgets: Widgets) -> None:
    body = widget(widgets.crd, unique("w"), size=3)
    body["metadata"]["labels"] = {"chosen": "yes"}
    made = admin.post(widgets.where, body).ok()
    assert admin.get(widgets.where, labelSelector="chosen=yes").ok()["items"] == [made]


def test_unserved_versions_return_404(admin: Client, widgets: Widgets) -> None:
    assert admin.get(widgets.where.replace("/v1/", "/v2/")).status == 404
