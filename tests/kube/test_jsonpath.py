"""JSON paths of printer columns."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from console.kube.jsonpath import MAX_LENGTH, BadPath, parse

OBJECT: dict[str, Any] = {
    "spec": {
        "size": 3,
        "on": False,
        "none": None,
        "a.b": "dotted",
        "list": [{"n": "x", "v": 1}, {"n": "y", "v": 2}, {"n": "z"}],
        "flat": ["p", "q", "r"],
        "mixed": [
            {"n": "none", "v": None},
            {"n": "list", "v": []},
            {"n": "f", "v": False},
            {"n": "i", "v": 10**400},
            {"n": "s", "v": "x"},
        ],
        "map": {"odd": "odd", "it's": "quoted"},
    },
    "status": {
        "conditions": [
            {"type": "Synced", "status": "False"},
            {"type": "Ready", "status": "True", "weight": 5},
        ]
    },
}


def found(text: str) -> Any:
    path = parse(text)
    return path.first(OBJECT.get(path.head))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (".spec.size", 3),
        (".spec.on", False),
        (".spec.none", None),
        (".spec.missing.more", None),
        (r".spec.a\.b", "dotted"),
        (".spec['a.b']", None),
        (".spec['list'][0]['n']", "x"),
        (r".spec['a\.b']", "dotted"),
        ('.spec["size"]', 3),
        (r".spec.map['it\'s']", "quoted"),
        (".spec.list[0].n", "x"),
        (".spec.list[-1].n", "z"),
        (".spec.list[7].n", None),
        (".spec.list[1:].n", "y"),
        (".spec.list[::2].n", "x"),
        (".spec.list[*].n", "x"),
        (".spec.flat[1]", "q"),
        (".spec.flat.[2]", "r"),
        (".spec.flat.n", None),
        (".spec.size[0]", None),
        (".spec.size.deeper", None),
        ('.status.conditions[?(@.type=="Ready")].status', "True"),
        (".status.conditions[?(@.type == 'Ready')].status", "True"),
        ('.status.conditions[?(@.type!="Ready")].status', "False"),
        (".status.conditions[?(@.weight)].type", "Ready"),
        (".status.conditions[?(@.weight>4)].type", "Ready"),
        (".status.conditions[?(@.weight>=6)].type", None),
        (".status.conditions[?(@.weight=='5')].type", None),
        (".spec.flat[?(@=='q')]", "q"),
        (".spec.mixed[?(@.v<true)].n", "f"),
        (".spec.mixed[?(@.v>=1)].n", "i"),
        (".spec.mixed[?(@.v>'a')].n", "s"),
        (".spec.map.*", "odd"),
    ],
)
def test_path_finds_the_expected_value(text: str, value: Any) -> None:
    assert found(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "spec.size",
        ".",
        "..size",
        ".spec.",
        ".spec[",
        ".spec[]",
        ".spec['a]",
        ".spec[x]",
        ".spec[1:2:0]",
        ".spec[1,2]",
        ".spec[?(@.a)",
        ".spec[?(a)]",
        ".spec[?(@.a==b)]",
        ".spec[?(@.a[?(@.b)])]",
        ".spec[99999999999999999999]",
        ".a" * 40,
        ".a" * MAX_LENGTH,
        "." + "[" * 900,
    ],
)
def test_invalid_path_is_refused(text: str) -> None:
    with pytest.raises(BadPath):
        parse(text)


@given(st.text(alphabet=".[]'\"?(@)=*:-\\ab0,<>!", max_size=60), st.booleans())
@example("[?(@.a", True)
def test_any_text_is_a_valid_path_or_raises_bad_path(text: str, tail: bool) -> None:
    try:
        path = parse(f".spec{text}" if tail else text)
    except BadPath:
        return
    path.first({"a": [{"b": 1}, "x", None], "b": {"a": 0}})
