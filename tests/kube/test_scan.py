"""The JSON scan of objects that are nested too deeply for the parser."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.kube.gvr import Key
from console.kube.json_scan import end_of_array, find_member, split_objects
from console.kube.store import identity

_TEXTS = st.sampled_from(["", '"', "\\", '"metadata":{', "]}", "é", "metadata"])
_VALUES = st.recursive(
    st.none() | st.integers(-5, 5) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)
_OBJECTS = st.dictionaries(_TEXTS | st.just("metadata"), _VALUES, max_size=4)


@given(st.lists(_OBJECTS, min_size=1, max_size=6))
def test_scan_splits_objects_like_the_parser(items: list[Any]) -> None:
    text = b",".join(msgspec.json.encode(item) for item in items)
    assert [msgspec.json.decode(raw) for raw in split_objects(text)] == items
    assert end_of_array(text + b'],"metadata":{}}') == len(text)


@given(_OBJECTS)
def test_only_members_of_the_outermost_object_are_found(item: dict[str, Any]) -> None:
    found = find_member(msgspec.json.encode(item), b"metadata")
    value = item.get("metadata")
    if isinstance(value, dict | list):
        assert msgspec.json.decode(found) == value


@pytest.mark.parametrize("where", ["before", "behind"])
def test_identity_of_an_unreadable_object_is_found(where: str) -> None:
    meta = b'"metadata":{"name":"a","namespace":"n","resourceVersion":"7"}'
    # Nested objects may contain other values.
    deep = b'"aaa":{"metadata":{"name":"other"},"x":%b%b}' % (b"[" * 9000, b"]" * 9000)
    text = b"{%b}" % b",".join([deep, meta] if where == "behind" else [meta, deep])
    assert identity(text) == (Key("n", "a"), "7")


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"metadata":5}', b"\xff", b"{" * 9000])
def test_text_that_is_no_object_has_no_identity(text: bytes) -> None:
    assert identity(text) == (None, "")
