"""Wizards that are generated from schemas."""

import json
from copy import deepcopy
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from console.kube.gvr import GVR
from console.ui.editing.schema_check import KindSchema
from console.ui.wizard.fields import BoundField
from console.ui.wizard.parts import walk
from console.ui.wizard.wizard import Wizard, WizardDraft
from console.wizards.generated import generated_wizard
from tests.support.depth import SEED, number
from tests.support.wizard_forms import (
    EXISTING,
    fields_of,
    manifest_variation,
    saved_unchanged,
    step_html,
)

WIDGETS = GVR("example.org", "v1", "widgets")
PORT = {
    "type": "object",
    "required": ["port"],
    "properties": {
        "port": {"x-kubernetes-int-or-string": True, "description": "The port. Or its name."},
        "name": {"type": "string"},
    },
}
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size", "ports"],
            "properties": {
                "size": {"type": "integer", "minimum": 1, "maximum": 9},
                "color": {"type": "string", "enum": ["red", "green"], "default": "red"},
                "loud": {"type": "boolean"},
                "ratio": {"type": "number"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "ports": {"type": "array", "items": {"$ref": "#/components/schemas/port"}},
                "tls": {
                    "type": "object",
                    "required": ["secret"],
                    "properties": {"secret": {"type": "string"}, "mode": {"type": "string"}},
                },
                "values": {"x-kubernetes-preserve-unknown-fields": True},
            },
        },
        "status": {"type": "object"},
    },
}
WIDGET: dict[str, Any] = {
    "apiVersion": "example.org/v1",
    "kind": "Widget",
    "metadata": {"name": "one", "namespace": "shop", "labels": {"a": "b"}},
    "spec": {
        "size": 3,
        "color": "green",
        "loud": False,
        "ratio": 0.5,
        "tags": ["x", "y z"],
        "labels": {"team": "checkout"},
        "ports": [{"port": 80, "name": "http"}, {"port": "https", "other": [1, {"a": None}]}],
        "tls": {"secret": "cert", "mode": "strict"},
        "values": {"deep": {"list": [1, "2", True]}, "text": "a: b"},
        "unknown": {"kept": True},
    },
}


def wizard() -> Wizard:
    schema = KindSchema(SCHEMA, {"port": PORT})
    return generated_wizard(WIDGETS, "Widget", schema, namespaced=True)


def test_an_unchanged_object_stays_unchanged() -> None:
    assert saved_unchanged(wizard(), EXISTING, WIDGET) == [WIDGET]
    random = Random(SEED)  # noqa: S311
    for count in range(number(200, 10_000)):
        varied = manifest_variation(WIDGET, random)
        got = saved_unchanged(wizard(), EXISTING, deepcopy(varied), rendered=count % 20 == 0)
        assert json.dumps(got, sort_keys=True) == json.dumps([varied], sort_keys=True)


def test_fields_of_the_schema_are_shown_and_written() -> None:
    found = WizardDraft.of(wizard(), EXISTING, [deepcopy(WIDGET)])
    [_basics, spec] = found.wizard.steps
    nodes = [
        node for one in found.bound(spec) for node in walk(one) if isinstance(node, BoundField)
    ]
    named = {node.field.label: node for node in nodes}
    assert list(named)[0] == "size"
    assert (named["color"].value, named["loud"].value) == ("green", "false")
    assert named["port"].field.hint == "The port"
    sent = fields_of(step_html(found, spec))
    sent[named["size"].name], sent[named["secret"].name] = "7", "other"
    found.submit(spec, sent)
    assert found.main["spec"] == {
        **WIDGET["spec"],
        "size": 7,
        "tls": {"secret": "other", "mode": "strict"},
    }
    assert [path for _slot, path in found.yaml_only()] == [
        ("spec", "ports", 1, "other", 0),
        ("spec", "unknown", "kept"),
    ]


def test_missing_required_fields_are_reported() -> None:
    found = WizardDraft.of(wizard(), EXISTING, [])
    [_basics, spec] = found.wizard.steps
    assert [field.field.label for field, _error in found.errors(spec)] == ["size"]


@given(
    schema=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "type",
                        "properties",
                        "items",
                        "required",
                        "enum",
                        "$ref",
                        "allOf",
                        "description",
                    ]
                    + ["spec", "a", "object", "minimum", "additionalProperties"]
                ),
                inner | st.sampled_from(["object", "array", "string", "integer", "#/x/self"]),
                max_size=5,
            )
        ),
        max_leaves=20,
    )
)
def test_any_schema_gives_a_wizard(schema: Any) -> None:
    root = {"properties": {"spec": schema, "x": {"$ref": "#/x/self"}}}
    made = generated_wizard(WIDGETS, "Widget", KindSchema(root, {"self": root}), namespaced=False)
    draft = WizardDraft.of(made, EXISTING, [])
    for step in made.steps:
        step_html(draft, step)
