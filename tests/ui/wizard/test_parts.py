"""Rows of mappings, presets and cases write only changes."""

from typing import Any

from django.http import QueryDict

from console.ui.wizard import fields
from console.ui.wizard.fields import Choice
from console.ui.wizard.parts import Case, FormPart, MapRows, OptionalDocument, Preset, Rows, Variant
from console.ui.wizard.paths import ABSENT
from console.ui.wizard.state import FieldScope, FormState
from tests.support.wizard_forms import EXISTING

ROWS = MapRows(
    id="data",
    add="Add",
    parts=(
        fields.RowKey(label="Key", apart=("pods",)),
        fields.TextInput(id="value", label="Value"),
    ),
)
PRESET = Preset(
    id="preset",
    label="Preset",
    path=("labels",),
    target=fields.Pairs(id="labels", label="Labels"),
    values=lambda scope: [(Choice("web", "web"), {"app": "web"})],
)
CASES = Variant(
    id="kind",
    label="Kind",
    cases=(
        Case(id="plain", label="Plain", when=lambda scope: scope.get("type") in ("A", ABSENT)),
        Case(
            id="b",
            label="B",
            keys=("type", "b"),
            when=lambda scope: scope.get("type") == "B",
            start={"type": "B", ("b", "c"): 1},
            parts=(fields.NumberInput(id="c", path=("b", "c"), label="C"),),
        ),
    ),
)


SIDES = Variant(
    id="side",
    label="Side",
    cases=(
        Case(
            id="left",
            label="Left",
            when=lambda scope: not scope.has("right"),
            start={"right": ABSENT},
            needs={"left": 1},
        ),
        Case(
            id="both",
            label="Both",
            when=lambda scope: scope.has("right"),
            needs={"left": 1, "right": 2},
        ),
    ),
)
SERVICE = OptionalDocument(
    slot="service",
    label="Service",
    start=lambda state: {"new": True},
    dependents=("ingress",),
    parts=(fields.TextInput(id="name", label="Name"),),
)
INGRESS = OptionalDocument(slot="ingress", label="Ingress", start=lambda state: {}, parts=())


def submitted(
    part: FormPart,
    document: dict[str, Any],
    act: str = "",
    inputs: dict[str, str] | None = None,
    **values: str,
) -> FormState:
    """Submit fields, by name with `__` for dots."""
    post = QueryDict(mutable=True)
    for name, value in values.items():
        post[name.replace("__", ".")] = value
    state = FormState(EXISTING, {"": document}, inputs=inputs or {}, post=post, act=act)
    part.apply(FieldScope(state))
    return state


def test_keys_and_values_of_a_mapping_are_changed_in_their_place() -> None:
    document: dict[str, Any] = {"data": {"a": "1", "b": "2"}}
    submitted(ROWS, document, data__0__key="c", data__0__value="1", data__1__value="3")
    assert [*document["data"].items()] == [("c", "1"), ("b", "3")]


def test_a_key_that_another_row_has_is_refused_and_kept_as_typed() -> None:
    document: dict[str, Any] = {"data": {"a": "1", "b": "2"}}
    state = submitted(ROWS, document, data__0__key="b")
    assert document == {"data": {"a": "1", "b": "2"}}
    key = ROWS.bind(FieldScope(state)).children[0].children[0]
    assert (key.value, str(key.error)) == ("b", "Another field has this key.")


def test_a_key_with_a_separate_field_has_no_row() -> None:
    document: dict[str, Any] = {"data": {"pods": "5", "a": "1"}}
    state = submitted(ROWS, document, data__0__key="pods")
    assert len(ROWS.bind(FieldScope(state)).children) == 1
    assert document == {"data": {"pods": "5", "a": "1"}}
    submitted(ROWS, document, act="data.0.remove")
    assert document == {"data": {"pods": "5"}}


def test_an_added_row_without_key_is_dropped_when_the_step_is_left() -> None:
    document: dict[str, Any] = {"data": {"a": "1"}}
    state = submitted(ROWS, document, act="data.add")
    assert document == {"data": {"a": "1", "": ""}}
    again = FormState(
        EXISTING, {"": document}, inputs=state.inputs, post=QueryDict(), act="data.add"
    )
    ROWS.apply(FieldScope(again))
    assert len(document["data"]) == 2 and again.focus == "data.1."
    ROWS.drop_unused(FieldScope(again))
    assert document == {"data": {"a": "1"}}


def test_values_that_rows_show_are_not_listed_as_yaml() -> None:
    document: dict[str, Any] = {"data": {"a": "1", "b": ["x"], "c": ""}}
    ROWS.strip(FieldScope(FormState(EXISTING, {"": document})))
    assert document == {"data": {"b": ["x"]}}


def test_a_preset_fills_in_its_fields() -> None:
    document: dict[str, Any] = {"labels": {"app": "api"}}
    submitted(PRESET, document, preset="web", labels="app=api")
    assert document == {"labels": {"app": "web"}}
    state = submitted(PRESET, document, preset="web", labels="app=other")
    assert document == {"labels": {"app": "other"}}
    assert PRESET.bind(FieldScope(state)).value == ""


def test_a_preset_that_is_not_offered_is_refused() -> None:
    document: dict[str, Any] = {"labels": {"app": "api"}}
    state = submitted(PRESET, document, preset="x")
    assert document == {"labels": {"app": "api"}}
    assert PRESET.bind(FieldScope(state)).error


def test_a_case_is_found_by_its_values_and_removes_them_when_left() -> None:
    document: dict[str, Any] = {"type": "A", "other": 1}
    submitted(CASES, document, kind="plain")
    assert document == {"type": "A", "other": 1}
    submitted(CASES, document, kind="b")
    assert document == {"type": "B", "other": 1, "b": {"c": 1}}
    submitted(CASES, document, kind="plain")
    assert document == {"other": 1}
    assert CASES.bind(FieldScope(FormState(EXISTING, {"": {"type": "C"}}))).is_yaml_only


def test_a_case_that_is_chosen_again_has_its_former_values() -> None:
    document: dict[str, Any] = {"type": "B", "b": {"c": 7, "d": ["x"]}}
    state = submitted(CASES, document, kind="plain")
    assert document == {}
    state = submitted(CASES, document, inputs=state.inputs, kind="b")
    assert document == {"type": "B", "b": {"c": 7, "d": ["x"]}} and state.inputs == {}


def test_values_that_a_case_removes_return_with_the_case_that_had_them() -> None:
    document: dict[str, Any] = {"left": 5, "right": 6}
    state = submitted(SIDES, document, side="left")
    assert document == {"left": 5}
    submitted(SIDES, document, inputs=state.inputs, side="both")
    assert document == {"left": 5, "right": 6}


def test_kept_values_that_no_case_can_lose_are_ignored() -> None:
    for text in (
        "x",
        "1",
        '[["x", 1]]',
        "[[[], 1]]",
        '[[["left"], 9]]',
        '[[[["x"]], 1]]',
        "[" * 9999,
    ):
        document: dict[str, Any] = {"left": 5}
        submitted(SIDES, document, inputs={"side.~both": text}, side="both")
        assert document == {"left": 5, "right": 2}


def test_a_removed_document_takes_its_dependents_along_and_returns_with_them() -> None:
    documents: dict[str, dict[str, Any]] = {"": {}, "service": {"a": 1}, "ingress": {"b": 2}}
    inputs: dict[str, str] = {}
    for value, expected in (("", {""}), ("on", {"", "service", "ingress"})):
        post = QueryDict(mutable=True)
        post["service"] = value
        post["ingress"] = "on" if "ingress" in documents else ""
        state = FormState(EXISTING, documents, inputs=inputs, post=post)
        for part in (SERVICE, INGRESS):
            part.apply(FieldScope(state))
        assert documents.keys() == expected
        inputs = state.inputs
    assert (documents["service"], documents["ingress"]) == ({"a": 1}, {"b": 2})


def test_removed_documents_that_are_no_documents_are_ignored() -> None:
    for text in ("x", "1", '{"service": 1}', '{"other": {}}', "[" * 9999):
        documents: dict[str, dict[str, Any]] = {"": {}}
        post = QueryDict("service=on")
        SERVICE.apply(FieldScope(FormState(EXISTING, documents, {"service.~": text}, post=post)))
        assert documents == {"": {}, "service": {"new": True}}


def test_added_rows_with_a_meaning_are_kept_without_input() -> None:
    rows = Rows(id="rules", add="Add", keeps_new=True, parts=(fields.TextInput(id="a", label="A"),))
    document: dict[str, Any] = {}
    state = submitted(rows, document, act="rules.add")
    rows.drop_unused(FieldScope(state))
    assert document == {"rules": [{}]}


def test_a_membership_changes_only_its_own_item() -> None:
    document: dict[str, Any] = {"modes": ["A", "B"]}
    box = fields.Membership(id="modes", label="B", on="B")
    submitted(box, document, modes="")
    assert document == {"modes": ["A"]}
    submitted(box, document, modes="on")
    assert document == {"modes": ["A", "B"]}


def test_pairs_keep_the_keys_that_other_fields_show() -> None:
    document: dict[str, Any] = {"notes": {"alias": "x", "a": "1"}}
    pairs = fields.Pairs(id="notes", label="Notes", own=lambda key: key != "alias")
    submitted(pairs, document, notes="a=2")
    assert document == {"notes": {"alias": "x", "a": "2"}}
    submitted(pairs, document, notes="")
    assert document == {"notes": {"alias": "x"}}
    state = submitted(pairs, document, notes="alias=y")
    assert document == {"notes": {"alias": "x"}} and state.inputs == {"notes": "alias=y"}
