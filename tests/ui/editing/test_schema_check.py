"""Checking manifests against OpenAPI schemas before the cluster can check them."""

from typing import Any

import pytest

from console.ui.editing.schema_check import KindSchema

COMPONENTS: dict[str, Any] = {
    "Spec": {
        "type": "object",
        "required": ["image"],
        "properties": {
            "image": {"type": "string", "minLength": 1},
            "replicas": {"type": "integer", "minimum": 0, "maximum": 9},
            "port": {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
            "policy": {"type": "string", "enum": ["Always", "Never"]},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "inner": {"allOf": [{"$ref": "#/components/schemas/Spec"}], "default": {}},
            "items": {"type": "array", "items": {"$ref": "#/components/schemas/Spec"}},
            "free": {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": True,
                "properties": {"known": {"type": "boolean"}},
            },
        },
    }
}
ROOT = {"type": "object", "properties": {"spec": {"$ref": "#/components/schemas/Spec"}}}


def problems_of(**spec: Any) -> list[tuple[Any, str]]:
    value = {"apiVersion": "v1", "kind": "Thing", "metadata": {}, "spec": spec}
    return [(steps[1:], text) for steps, text in KindSchema(ROOT, COMPONENTS).problems(value)]


@pytest.mark.parametrize(
    ("spec", "steps", "words"),
    [
        ({"replicas": 1}, (), "image is missing."),
        ({"image": "a", "imagee": "b"}, ("imagee",), "unknown field"),
        ({"image": 5}, ("image",), "expected string, got integer"),
        ({"image": ""}, ("image",), "must have a length of at least 1"),
        ({"image": "a", "replicas": "1"}, ("replicas",), "expected integer, got string"),
        ({"image": "a", "replicas": True}, ("replicas",), "expected integer, got boolean"),
        ({"image": "a", "replicas": 10}, ("replicas",), "must be at most 9"),
        ({"image": "a", "policy": "Often"}, ("policy",), "must be one of: Always, Never"),
        ({"image": "a", "labels": {"a": 1}}, ("labels", "a"), "expected string, got integer"),
        ({"image": "a", "inner": {"image": "b", "x": 1}}, ("inner", "x"), "unknown field"),
        ({"image": "a", "items": [{"image": "b"}, {}]}, ("items", 1), "image is missing."),
        ({"image": "a", "free": {"known": 1}}, ("free", "known"), "expected boolean, got integer"),
    ],
)
def test_a_problem_is_reported_with_its_path(
    spec: dict[str, Any], steps: tuple[str | int, ...], words: str
) -> None:
    assert problems_of(**spec) == [(steps, words)]


@pytest.mark.parametrize(
    "spec",
    [
        {"image": "a", "port": 80},
        {"image": "a", "port": "http"},
        {"image": "a", "replicas": None},
        {"image": "a", "free": {"anything": [1]}},
        {"image": "a", "labels": {"any.thing/x": "y"}},
    ],
)
def test_valid_values_are_accepted(spec: dict[str, Any]) -> None:
    assert problems_of(**spec) == []


def test_a_schema_that_refers_to_itself_is_followed_only_where_the_value_goes() -> None:
    spec: dict[str, Any] = {"image": "a"}
    for _level in range(50):
        spec = {"image": "a", "inner": spec}
    assert problems_of(**spec) == []


@pytest.mark.parametrize("schema", [{}, {"properties": 5}, {"type": ["x"]}, {"required": "a"}])
def test_an_invalid_schema_of_a_definition_reports_nothing(schema: dict[str, Any]) -> None:
    value = {"apiVersion": "v1", "kind": "Thing", "metadata": {}, "spec": {"a": [1, {"b": None}]}}
    assert list(KindSchema(schema, {}).problems(value)) == []
