"""Streaming parser of list responses, independent of chunk boundaries."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.kube.liststream import ListStream

#: Texts that resemble the boundaries of objects in a list.
_TEXTS = st.sampled_from(["", "a", "},{", '},{"metadata":', "]}", '"items":[', "é", "\\", '"'])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | _TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(_TEXTS | st.sampled_from(["metadata", "items"]), inner, max_size=3)
    ),
    max_leaves=6,
)
_ITEMS = st.lists(
    st.fixed_dictionaries({"metadata": st.fixed_dictionaries({"name": _TEXTS}), "spec": _VALUES}),
    max_size=8,
)


async def _read(response: bytes, size: int, batch: int) -> tuple[list[Any], ListStream]:
    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(response), size):
            yield response[at : at + size]

    stream = ListStream(chunks(), batch=batch)
    return [msgspec.json.decode(raw) async for objects in stream for raw in objects], stream


@given(_ITEMS, st.integers(1, 200), st.integers(1, 300), st.booleans())
async def test_every_object_is_returned_once_in_order(
    items: list[Any], size: int, batch: int, metadata_last: bool
) -> None:
    meta = {"metadata": {"resourceVersion": "77"}}
    body = {"items": items, **meta} if metadata_last else {**meta, "items": items}
    response = msgspec.json.encode({"kind": "List", "apiVersion": "v1", **body})
    objects, stream = await _read(response + b"\n", size, batch)
    assert objects == items
    assert stream.metadata.resourceVersion == "77"


@given(_ITEMS, st.integers(1, 50), st.data())
async def test_truncated_response_is_refused(
    items: list[Any], batch: int, data: st.DataObject
) -> None:
    response = msgspec.json.encode({"metadata": {"resourceVersion": "1"}, "items": items})
    end = data.draw(st.integers(0, len(response) - 1))
    with pytest.raises(msgspec.DecodeError):
        await _read(response[:end], 7, batch)


async def test_null_items_are_an_empty_list() -> None:
    objects, stream = await _read(b'{"metadata":{"resourceVersion":"5"},"items":null}', 4, 1)
    assert objects == []
    assert stream.metadata.resourceVersion == "5"


@pytest.mark.parametrize("batch", [1, 3000, 1_000_000])
@pytest.mark.parametrize("deep", ["[", '{"a":'])
async def test_deeply_nested_object_is_passed_through(batch: int, deep: str) -> None:
    closing = {"[": "]", '{"a":': "}"}[deep]
    value = deep * 9000 + "1" + closing * 9000
    plain = [f'{{"metadata":{{"name":"n{number}"}},"t":"]}}\\"{{"}}' for number in range(40)]
    items = [*plain[:20], f'{{"metadata":{{"name":"deep"}},"spec":{value}}}', *plain[20:]]
    response = f'{{"metadata":{{"resourceVersion":"9"}},"items":[{",".join(items)}]}}\n'.encode()

    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(response), 500):
            yield response[at : at + 500]

    stream = ListStream(chunks(), batch=batch)
    raws = [bytes(raw).decode() async for objects in stream for raw in objects]
    assert raws == items
    assert stream.metadata.resourceVersion == "9"


async def test_memory_is_bounded_by_a_batch_and_an_object() -> None:
    items = [{"metadata": {"name": f"n{number}"}, "text": "x" * 100} for number in range(1000)]
    response = msgspec.json.encode({"metadata": {"resourceVersion": "1"}, "items": items})

    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(response), 64):
            yield response[at : at + 64]

    sizes = [sum(len(raw) for raw in objects) async for objects in ListStream(chunks(), batch=2000)]
    assert len(sizes) > 40
    assert max(sizes) < 2000 + 200
