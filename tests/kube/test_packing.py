"""Compressed originals of objects: size and round trip."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.kube.packing import ENOUGH, Packer, without_managed_fields


class _Meta(msgspec.Struct):
    managedFields: msgspec.Raw = msgspec.Raw()


class _Object(msgspec.Struct):
    metadata: _Meta


def _cut(original: bytes) -> bytes:
    managed = msgspec.json.decode(original, type=_Object).metadata.managedFields
    return without_managed_fields(original, managed)


_MANAGED = [{"manager": "kubectl", "fieldsV1": {"f:metadata": {"f:labels": {}}}}]


@pytest.mark.parametrize(
    "metadata",
    [
        {"managedFields": _MANAGED},
        {"managedFields": _MANAGED, "name": "a"},
        {"name": "a", "managedFields": _MANAGED},
        {"name": "a", "managedFields": [], "uid": "u"},
        {"name": "a", "managedFields": None, "uid": "u"},
        {"name": "a"},
    ],
)
def test_managed_fields_are_removed_regardless_of_position(metadata: dict[str, Any]) -> None:
    item = {"metadata": metadata, "spec": {"managed": [1]}}
    lean = msgspec.json.decode(_cut(msgspec.json.encode(item)))
    rest = {key: value for key, value in metadata.items() if key != "managedFields"}
    assert lean == {"metadata": rest, "spec": {"managed": [1]}}


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=40), max_size=4))
def test_fields_named_like_managed_fields_are_kept(annotations: dict[str, str]) -> None:
    annotations = {**annotations, "x": '"managedFields":[1]', '"managedFields":': "[]"}
    item = {
        "spec": {"managedFields": _MANAGED},
        "metadata": {"annotations": annotations, "managedFields": _MANAGED, "name": "n"},
    }
    found = msgspec.json.decode(_cut(msgspec.json.encode(item)))
    found["metadata"].pop("managedFields", None)
    assert found == {
        "spec": {"managedFields": _MANAGED},
        "metadata": {"annotations": annotations, "name": "n"},
    }


def test_data_packed_before_training_is_readable() -> None:
    packer = Packer()
    items = [{"name": f"pod-{n}", "spec": {"image": "registry/app:1", "n": n}} for n in range(200)]
    raws = [msgspec.json.encode(item) for item in items]
    before = packer.pack(raws[0])
    assert packer.unpack(before) == items[0]
    packer.train(raws)
    assert not packer.untrained
    assert packer.unpack(before) == items[0]
    assert [packer.unpack(packer.pack(raw)) for raw in raws] == items


def test_trained_dictionary_reduces_the_size() -> None:
    text = "".join(chr(33 + number * 7 % 90) for number in range(2000))
    raws = [msgspec.json.encode({"uid": str(n * 7919), "spec": text}) for n in range(500)]
    packer = Packer()
    alone = len(packer.pack(raws[-1]))
    packer.train(raws[:-1])
    assert len(packer.pack(raws[-1])) < alone / 2


def test_packing_works_without_a_dictionary() -> None:
    packer = Packer()
    packer.train([b"{}"] * ENOUGH)
    assert not packer.untrained
    assert packer.unpack(packer.pack(b'{"a":1}')) == {"a": 1}
