"""Fields show values, and parse the shown texts."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.ui.wizard import fields
from console.ui.wizard.paths import ABSENT, leaves, remove_at, value_at, write_at

TEXT = fields.TextInput(id="x", label="X")
NUMBER = fields.NumberInput(id="x", label="X", least=0, most=9)
PORT = fields.IntOrText(id="x", label="X", accepts=fields.port_or_name, usage="Enter a port.")
CPU = fields.QuantityInput(id="x", label="X", units=fields.CPU_UNITS)
CHOICE = fields.Select(id="x", label="X", choices=(fields.Choice("", "-"), fields.Choice("a", "A")))
BOX = fields.CheckBox(id="x", label="X")
NOT_BOX = fields.CheckBox(id="x", label="X", on=False)
AREA = fields.TextArea(id="x", label="X")
PAIRS = fields.Pairs(id="x", label="X")
COMMAND = fields.Command(id="x", label="X")
WORDS = fields.Words(id="x", label="X")
ALL = (TEXT, NUMBER, PORT, CPU, CHOICE, BOX, NOT_BOX, AREA, PAIRS, COMMAND, WORDS)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 99999) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(value=JSON | st.just(ABSENT) | st.lists(st.text(max_size=9), max_size=4))
@pytest.mark.parametrize("field", ALL, ids=lambda field: type(field).__name__)
def test_a_shown_value_is_parsed_to_the_same_value(field: fields.Field, value: Any) -> None:
    shown = field.shown(value)
    if shown is None:
        return
    parsed = field.parsed(shown)
    assert str(parsed) == str(value) if isinstance(field, fields.QuantityInput) else parsed == value


@given(text=st.text(max_size=60))
@pytest.mark.parametrize("field", ALL, ids=lambda field: type(field).__name__)
def test_any_text_is_parsed_or_reported(field: fields.Field, text: str) -> None:
    try:
        value = field.clean(text)
    except fields.InvalidInput as error:
        assert str(error)
    else:
        assert value is ABSENT or field.shown(value) is not None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (TEXT, 7),
        (TEXT, ""),
        (NUMBER, "7"),
        (NUMBER, True),
        (PORT, "80"),
        (CHOICE, "b"),
        (BOX, "true"),
        (BOX, False),
        (PAIRS, {"a": 1}),
        (COMMAND, "ls"),
        (WORDS, ["a, b"]),
        (CPU, "many"),
    ],
)
def test_a_value_of_another_type_is_left_to_yaml(field: fields.Field, value: Any) -> None:
    assert field.shown(value) is None


@pytest.mark.parametrize(
    ("field", "text"),
    [
        (NUMBER, "10"),
        (NUMBER, "x"),
        (PORT, "70000"),
        (CPU, "2 cores"),
        (CHOICE, "b"),
        (COMMAND, "'"),
    ],
)
def test_an_invalid_text_is_reported(field: fields.Field, text: str) -> None:
    with pytest.raises(fields.InvalidInput):
        field.clean(text)


def test_removing_a_value_removes_mappings_that_become_empty() -> None:
    tree: Any = {"a": {"b": {"c": 1}}, "items": [{"d": {"e": 2}}]}
    remove_at(tree, ("a", "b", "c"))
    remove_at(tree, ("items", 0, "d", "e"))
    assert tree == {"items": [{}]}


def test_mappings_above_the_floor_stay() -> None:
    tree: Any = {"emptyDir": {"sizeLimit": "1Gi"}}
    remove_at(tree, ("emptyDir", "sizeLimit"), floor=1)
    assert tree == {"emptyDir": {}}


def test_writing_creates_missing_mappings() -> None:
    tree: Any = {}
    write_at(tree, ("a", "b"), 1)
    assert value_at(tree, ("a", "b")) == 1
    assert [*leaves(tree)] == [("a", "b")]
