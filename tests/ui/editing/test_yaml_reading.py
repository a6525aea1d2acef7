"""Parsing of YAML typed by users: supported features, errors and cost."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from console.ui.editing.yaml_text import (
    MAX_DEPTH,
    UnreadableDocument,
    read_document,
    read_documents,
    read_yaml,
)
from tests.support.cputime import at_most

_BOMB = "a: &a [x, x]\n" + "".join(
    f"{name}: &{name} [*{before}, *{before}]\n"
    for before, name in zip("abcdefghijklmno", "bcdefghijklmnop", strict=True)
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: &a [1]\nb: *a", {"a": [1], "b": [1]}),
        ("a: &a x\nb: [*a, *a]", {"a": "x", "b": ["x", "x"]}),
        ("a: &a {x: 1}\nb: {<<: *a, w: 2}", {"a": {"x": 1}, "b": {"x": 1, "w": 2}}),
        ("a: &a {x: 1}\nb: {<<: *a, x: 2}", {"a": {"x": 1}, "b": {"x": 2}}),
        ("a: &a {x: 1}\nb: {x: 2, <<: *a}", {"a": {"x": 1}, "b": {"x": 2}}),
        ("{<<: [{x: 1, w: 1}, {w: 2, z: 2}]}", {"x": 1, "w": 1, "z": 2}),
        ("{'<<': 1}", {"<<": 1}),
    ],
)
def test_anchors_can_be_repeated_and_merged(text: str, value: Any) -> None:
    assert read_yaml(text) == value


def test_repeated_value_is_copied_for_each_place() -> None:
    found = read_yaml("a: &a [1]\nb: *a")
    found["a"].append(2)
    assert found["b"] == [1]


def test_many_merges_are_cheap() -> None:
    parts = "[" + "*a, " * 60_000 + "]"
    keys = "".join(f"k{n}: 1\n" for n in range(20_000))
    with at_most(3):
        assert len(read_yaml(f"{keys}a: &a {{}}\n<<: {parts}")) == 20_001


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
def test_plain_values_are_parsed(text: str, value: Any) -> None:
    assert value is None or read_yaml(text) == value
    assert read_yaml(text) == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (_BOMB, "aliases expand to too much content"),
        (f"a: &a {'x' * 1000}\nb: [{'*a, ' * 300}]", "aliases expand to too much content"),
        ("a: &a {k: *a}", "does not refer to an anchor"),
        ("a: *b\nb: &b 1", "does not refer to an anchor"),
        ("a: &a 1\n---\nb: *a", "more than one document"),
        (f"a: &a {'[' * 60}{']' * 60}\nb: {'[' * 60}*a{']' * 60}", "deep"),
        ("a: &a 1\nb: {<<: *a}", "only mappings"),
        ("a: &a {x: 1}\nb: {<<: *a, <<: *a}", "more than once"),
        ("a: &a {x: 1}\nb: {<<: *a, w: 1, w: 2}", "more than once"),
        ("verbs: [get]\nverbs: ['*']", "more than once"),
        ("[{a: {b: 1, b: 2}}]", "more than once"),
        ("? [a]\n: b", "must be a string"),
        ("[" * 16_000, "deep|expected"),
        ("{a: " * 16_000, "deep|expected"),
        ("- " * 8_000, "deep"),
        ("!!python/object/apply:os.system [id]", "tags"),
        ("a: b: c", "not allowed"),
        ("a: 1\n---\nb: 2", "more than one document"),
        ("yes: 1", "quotes"),
        ("1.0: x", "quotes"),
        ("a: .inf", "JSON"),
        ("a: 1e999", "too large"),
        ('a: "\\uD800"', "Unicode|character|code"),
        ("\0", "control|special|not allowed"),
        ("a: !!timestamp x", "tags"),
        ("a: " + "9" * 5_000, "too large"),
        (f"[{'a,' * 1_000_000}]", "too many values"),
    ],
)
def test_unsupported_input_is_refused_quickly(text: str, problem: str) -> None:
    with at_most(3), pytest.raises(yaml.YAMLError, match=problem):
        read_yaml(text)


@given(st.text(max_size=200))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        found = read_yaml(text)
    except yaml.YAMLError:
        return
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-01-01", "2026-01-01"),
        ("22:22", "22:22"),
        ("=", "="),
        ("y", True),
        ("off", False),
        ("0777", 511),
        ("0o17", 15),
        ("0x1F", 31),
        ("1_000", 1000),
        ("1e3", 1000),
        (".5", 0.5),
        ("1.0", 1),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", 2.0**63),
        ("'1'", "1"),
    ],
)
def test_scalars_have_the_meaning_they_have_in_kubectl(text: str, value: Any) -> None:
    found = read_yaml(f"a: {text}")["a"]
    assert (found, type(found)) == (value, type(value))


def test_numeric_keys_become_strings() -> None:
    assert read_yaml("{8080: x, '0x1': z}") == {"8080": "x", "0x1": "z"}


@pytest.mark.parametrize(
    ("steps", "place"),
    [
        ((), (1, 1)),
        (("a", "b", 1, "d"), (4, 5)),
        (("a", "b", 7), (2, 3)),
        (("a", "none", "x"), (1, 1)),
        (("z",), (1, 1)),
    ],
)
def test_values_have_positions(steps: tuple[str | int, ...], place: tuple[int, int]) -> None:
    found = read_document("a:\n  b:\n  - c: 1\n  - d: 2\n").place(steps)
    assert (found.line, found.column) == place


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: 1\n---\n# nothing\n---\nb: 2\n", [({"a": 1}, 1), ({"b": 2}, 5)]),
        ("--- # first\na: 1\n--- {b: 2}\n", [({"a": 1}, 2), ({"b": 2}, 3)]),
        ("\ufeffa: 1\n---\n\ufeffb: 2", [({"a": 1}, 1), ({"b": 2}, 3)]),
        ("%YAML 1.1\n---\na: 1\n", [({"a": 1}, 3)]),
        ('{"a": "\\ud83d\\udea2"}', [({"a": "\U0001f6a2"}, 1)]),
        ('{"a": "\\ud83d!"}', [({"a": "\ufffd!"}, 1)]),
        ('{"a": 1}\n{\n\t"b": 2}\n---\n{"c": 3}', [({"a": 1}, 1), ({"b": 2}, 2), ({"c": 3}, 5)]),
        ("{a: 1}", [({"a": 1}, 1)]),
        ('{"a": 1.0, "b": 9223372036854775808}', [({"a": 1, "b": 2.0**63}, 1)]),
        ("a: ]\n---\nb: 2\n---\nc: {\n", ["node content", ({"b": 2}, 3), "node content"]),
        ('{"a": 1, "a": 2}', ["a appears more than once"]),
        ('{"a": 1}\n\n{"b": 1, "b": 2}', ["b appears more than once"]),
        ('{"a":' * 200 + "1" + "}" * 200, ["nested too deeply"]),
    ],
)
def test_documents_are_read_as_kubectl_reads_them(text: str, found: list[Any]) -> None:
    documents = list(read_documents(text))
    assert len(documents) == len(found)
    for document, wanted in zip(documents, found, strict=True):
        if isinstance(document, UnreadableDocument):
            assert wanted in str(document.error)
        else:
            assert (document.value, document.place().line) == wanted


def test_values_of_json_documents_have_positions() -> None:
    text = '{"a": 1}\n{\n  "s": "\\ud83d\\udea2",\n  "b": [{"c": 1}]\n}'
    _first, second = read_documents(text)
    assert not isinstance(second, UnreadableDocument)
    assert second.place(("b", 0, "c")).line == 4
    [item] = second.within("b")
    assert item.place(("c",)).line == 4


def test_a_text_with_many_documents_is_read_in_linear_time() -> None:
    text = "---\n".join(f"a: {number}\n" for number in range(2000))
    with at_most(5):
        assert len(list(read_documents(text))) == 2000


def test_a_list_of_thousands_of_objects_is_read() -> None:
    items = "".join(f"- metadata: {{name: m{number}}}\n  data: {DATA}\n" for number in range(2000))
    [document] = read_documents(f"kind: List\nitems:\n{items}")
    assert not isinstance(document, UnreadableDocument), document.error
    found = document.within("items")
    assert len(found) == 2000 and found[-1].place().line == 2 + 2 * 1999 + 1


DATA = "{" + ", ".join(f"k{number}: v" for number in range(60)) + "}"
