"""YAML that somebody typed: what is read, what is refused, and how soon."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from console.ui.yamlreading import MAX_DEPTH, read_yaml
from tests.cputime import at_most

_BOMB = "a: &a [x, x]\n" + "".join(
    f"{name}: &{name} [*{before}, *{before}]\n"
    for before, name in zip("abcdefghijklmno", "bcdefghijklmnop", strict=True)
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("[get, list]", ["get", "list"]),
        ("- verbs: [get]\n  resources: ['*']\n", [{"verbs": ["get"], "resources": ["*"]}]),
        ("{a: 1, b: {a: 2}}", {"a": 1, "b": {"a": 2}}),
        ("[" * MAX_DEPTH + "]" * MAX_DEPTH, None),
    ],
)
def test_plain_values_are_read(text: str, value: Any) -> None:
    assert value is None or read_yaml(text) == value
    assert read_yaml(text) == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (_BOMB, "aliases"),
        ("a: &a [1]\nb: *a", "aliases"),
        ("base: &b {a: 1}\nmore: {<<: *b}", "aliases"),
        ("verbs: [get]\nverbs: ['*']", "twice"),
        ("[{a: {b: 1, b: 2}}]", "twice"),
        ("? [a]\n: b", "must be a text"),
        ("[" * 16_000, "deep|expected"),
        ("{a: " * 16_000, "deep|expected"),
        ("- " * 8_000, "deep"),
        ("!!python/object/apply:os.system [id]", "tags"),
        ("a: b: c", "not allowed"),
        ("a: 1\n---\nb: 2", "single document"),
        ("\0", "control|special|not allowed"),
        ("a: !!timestamp x", "tags"),
        ("a: 2026-99-99", "month"),
        ("a: " + "9" * 5_000, "digits"),
    ],
)
def test_others_are_refused_without_much_work(text: str, problem: str) -> None:
    with at_most(0.5), pytest.raises(yaml.YAMLError, match=problem):
        read_yaml(text)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = read_yaml(text)
    except yaml.YAMLError:
        return
    assert repr(found) == repr(yaml.load(text, Loader=yaml.CSafeLoader))  # noqa: S506
