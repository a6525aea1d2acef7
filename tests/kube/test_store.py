"""Guarantees of the store for its readers."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from console.kube.gvr import Key
from console.kube.store import Store
from tests.kube import generic
from tests.kube.fakes import obj, raw


@pytest.fixture
def store() -> Store[Any]:
    store: Store[Any] = Store(generic.decode)
    store.replace([raw(obj("a", 1)), raw(obj("b", 2))], "2")
    return store


def test_snapshots_are_immutable(store: Store[Any]) -> None:
    before = store.snapshot()
    store.apply("ADDED", raw(obj("c", 3)))
    store.apply("DELETED", raw(obj("a", 4)))
    assert {key.name for key in before.entries} == {"a", "b"}
    assert before.resource_version == "2"
    after = store.snapshot()
    assert {key.name for key in after.entries} == {"b", "c"}
    assert after.resource_version == "4"
    with pytest.raises(TypeError):
        after.entries[Key("x", "y")] = None  # type: ignore[index]


def test_unchanged_store_returns_the_same_snapshot(store: Store[Any]) -> None:
    assert store.snapshot() is store.snapshot()


def test_replace_returns_the_changed_keys(store: Store[Any]) -> None:
    changed = store.replace([raw(obj("b", 2)), raw(obj("c", 9))], "9")
    assert sorted(key.name for key in changed) == ["a", "c"]


def test_originals_are_returned_without_managed_fields(store: Store[Any]) -> None:
    item = obj("a", 5, spec={"x": [1, "é", None]})
    item["metadata"]["managedFields"] = [{"manager": "kubectl"}]
    store.apply("MODIFIED", raw(item))
    entry = store.get(Key("default", "a"))
    assert entry is not None
    assert entry.original()["spec"] == {"x": [1, "é", None]}
    assert "managedFields" not in entry.original()["metadata"]
    entry.original()["spec"]["x"] = "changed"
    assert entry.original()["spec"]["x"] == [1, "é", None]


def test_originals_can_be_read_by_many_threads(store: Store[Any]) -> None:
    text = "x" * 20_000
    store.replace([raw(obj(f"n{i}", i + 1, spec={"text": text})) for i in range(50)], "50")
    entries = list(store.snapshot().entries.values())

    def read(_: int) -> int:
        return sum(len(entry.original()["spec"]["text"]) for _ in range(10) for entry in entries)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(read, range(16))) == {50 * 10 * 20_000}


@pytest.mark.parametrize("kind", ["MODIFIED", "DELETED"])
def test_older_versions_are_ignored(store: Store[Any], kind: str) -> None:
    store.apply("MODIFIED", raw(obj("a", 10)))
    assert store.apply(kind, raw(obj("a", 9))) == (None, "9")
    entry = store.get(Key("default", "a"))
    assert entry is not None
    assert entry.resource_version == "10"


def test_undecodable_objects_are_skipped(store: Store[Any]) -> None:
    broken = {"metadata": {"name": 5, "resourceVersion": "7"}}
    assert store.apply("ADDED", raw(broken)) == (None, "")
    assert store.undecodable == 1
    assert len(store) == 2


def test_packed_size_is_tracked(store: Store[Any]) -> None:
    for key in list(store.snapshot().entries):
        store.apply("DELETED", raw(obj(key.name, 50)))
    assert store.bytes_packed == 0
