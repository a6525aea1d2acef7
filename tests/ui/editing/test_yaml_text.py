"""YAML output that parses back to the same value and shows invisible characters."""

import unicodedata
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from console.kube.merging import json_equal
from console.ui.core.registry import kinds
from console.ui.editing.yaml_text import read_yaml, yaml_text

KIND = kinds.by_segment("pods")
assert KIND is not None

_texts = st.text(st.characters(exclude_categories=["Cs"]))
_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_texts, inner, max_size=4),
    max_leaves=12,
)


def written(value: Any) -> str:
    assert KIND is not None
    return yaml_text(KIND, {"spec": value})


@given(_values)
def test_output_parses_back_to_the_same_value(value: Any) -> None:
    text = written(value)
    assert yaml.safe_load(text) == {"apiVersion": "v1", "kind": "Pod", "spec": value}
    assert json_equal(read_yaml(text)["spec"], value)
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "text", ["no", "y", "0777", "0o17", "1e3", "1:30", "null", "~", ".5e3", "on", "08"]
)
def test_ambiguous_strings_are_quoted(text: str) -> None:
    assert f"spec: {text}\n" not in written(text)
    assert read_yaml(written(text))["spec"] == text


def test_lines_are_written_as_a_block() -> None:
    assert "spec: |\n  one\n    two\n" in written("one\n  two\n")


def test_bidirectional_characters_are_escaped() -> None:
    assert 'spec: "a\\u202Eb' in written("a\u202eb")


def test_every_invisible_character_is_escaped() -> None:
    """The generated values above contain only a few of them."""
    hidden = {"Cc", "Cf", "Zl", "Zp", "Zs"}
    unseen = [c for c in map(chr, range(0x110000)) if unicodedata.category(c) in hidden]
    for character in unseen:
        text = written(f"a{character}b")
        assert text.replace("\n", "").isprintable(), ascii(character)


def test_the_type_of_the_kind_comes_first() -> None:
    assert KIND is not None
    text = yaml_text(KIND, {"spec": 1, "kind": "Own", "metadata": {"name": "x"}})
    assert text == "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\nspec: 1\n"
