"""Incrementally maintained indexes equal indexes computed from the whole store."""

import weakref
from collections.abc import Callable, Mapping
from threading import Event, Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.kube.derived import Derived
from console.kube.gvr import Key
from console.kube.indexes import Index, indexes_of
from console.kube.store import Entry, Store
from tests.kube import generic
from tests.kube.fakes import obj, raw


class _Versions(Derived[Any]):
    """The simplest derived data: the version of each object."""

    def __init__(self, store: Store[Any]) -> None:
        super().__init__(store)
        self._found: dict[Key, str] = {}

    def read(self) -> dict[str, str]:
        with self.current():
            return {key.name: version for key, version in self._found.items()}

    def _rebuild(self, entries: Mapping[Key, Entry[Any]]) -> None:
        self._found = {key: entry.resource_version for key, entry in entries.items()}

    def _apply(self, key: Key, entry: Entry[Any] | None) -> None:
        if entry is None:
            self._found.pop(key, None)
        else:
            self._found[key] = entry.resource_version


def _versions(store: Store[Any]) -> dict[str, str]:
    return {key.name: e.resource_version for key, e in store.snapshot().entries.items()}


@pytest.fixture
def store() -> Store[Any]:
    return Store(generic.decode)


#: Operations on a store: put or drop a name, or relist some names.
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["put", "drop"]), st.sampled_from("abcde")),
        st.tuples(st.just("relist"), st.sets(st.sampled_from("abcde"))),
        st.tuples(st.just("read"), st.just("")),
    ),
    max_size=40,
)


@given(_STEPS, st.integers(1, 6))
def test_index_equals_the_store_after_any_changes(steps: list[Any], remembered: int) -> None:
    store: Store[Any] = Store(generic.decode)
    versions = _Versions(store)
    by_label = Index(store, lambda entry: entry.projection.labels.values())
    now: dict[str, int] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("console.kube.store._REMEMBERED", remembered)
        for number, (what, subject) in enumerate(steps, start=1):
            _take(store, now, what, subject, number)
            if what == "read":
                assert versions.read() == _versions(store) == {k: str(v) for k, v in now.items()}
        assert versions.read() == _versions(store) == {k: str(v) for k, v in now.items()}
    expected: dict[str, set[str]] = {}
    for name, version in now.items():
        expected.setdefault(f"v{version % 2}", set()).add(name)
    assert by_label.values() == {value: len(names) for value, names in expected.items()}
    for value, names in expected.items():
        assert {entry.key.name for entry in by_label.get(value)} == names


def _take(store: Store[Any], now: dict[str, int], what: str, subject: Any, number: int) -> None:
    if what == "put":
        now[subject] = number
        store.apply("MODIFIED", raw(_item(subject, number)))
    elif what == "drop" and now.pop(subject, None) is not None:
        store.apply("DELETED", raw(_item(subject, number)))
    elif what == "relist":
        kept = {name: now.get(name, number) for name in subject}
        now.clear()
        now.update(kept)
        store.replace([raw(_item(name, version)) for name, version in kept.items()], str(number))


def _item(name: str, version: int) -> dict[str, Any]:
    item = obj(name, version)
    item["metadata"]["labels"] = {"parity": f"v{version % 2}"}
    return item


def test_changes_are_replayed_instead_of_rebuilding(store: Store[Any]) -> None:
    versions = _Versions(store)
    versions.read()
    for number in range(1, 500):
        store.apply("MODIFIED", raw(obj(f"n{number % 7}", number)))
        versions.read()
    assert versions.rebuilds == 1


def test_index_is_rebuilt_after_too_many_changes(store: Store[Any]) -> None:
    versions = _Versions(store)
    versions.read()
    for number in range(1, 3000):
        store.apply("MODIFIED", raw(obj(f"n{number % 7}", number)))
    assert versions.read() == _versions(store)
    assert versions.rebuilds == 2


def test_index_is_rebuilt_after_a_failed_change(store: Store[Any]) -> None:
    broken = True

    def keys_of(entry: Entry[Any]) -> tuple[str]:
        if broken and entry.key.name == "b":
            raise ValueError("no such thing")
        return (entry.key.name,)

    index = Index(store, keys_of)
    assert index.values() == {}
    store.replace([raw(obj(name, 1)) for name in "abc"], "1")
    with pytest.raises(ValueError, match="no such thing"):
        index.values()
    broken = False
    assert index.values() == {"a": 1, "b": 1, "c": 1}


def test_unchanged_entries_are_kept_on_a_relist(store: Store[Any]) -> None:
    store.replace([raw(obj("a", 1)), raw(obj("b", 2))], "2")
    before, version = store.snapshot().entries, store.version
    assert store.replace([raw(obj("a", 1)), raw(obj("b", 3))], "3") == [Key("default", "b")]
    assert store.get(Key("default", "a")) is before[Key("default", "a")]
    found = store.changes_since(version)
    assert found is not None
    assert [key.name for key, _ in found[1]] == ["b"]


def test_relist_of_one_namespace_leaves_the_others(store: Store[Any]) -> None:
    other = obj("x", 5)
    other["metadata"]["namespace"] = "other"
    store.replace([raw(obj("a", 1)), raw(other)], "5")
    replacing = store.receive_list("default")
    replacing.add([raw(obj("b", 6))])
    changed = replacing.commit("6")
    assert sorted(key.name for key in changed) == ["a", "b"]
    assert _versions(store) == {"b": "6", "x": "5"}


def test_objects_are_found_by_common_indexes(store: Store[Any]) -> None:
    item = obj("a", 1)
    owner = {"kind": "ReplicaSet", "name": "r", "uid": "r-1", "controller": True}
    item["metadata"] |= {"ownerReferences": [owner], "labels": {"app": "web"}}
    store.replace([raw(item), raw(obj("b", 2))], "2")
    indexes = indexes_of(store)
    assert indexes is indexes_of(store)
    assert [entry.key.name for entry in indexes.by_owner.get("r-1")] == ["a"]
    assert [entry.key.name for entry in indexes.by_label.get("app=web")] == ["a"]
    assert indexes.by_namespace.values() == {"default": 2}
    assert indexes.by_owner.values() == {"r-1": 1}
    assert indexes.by_node.values() == {}


def test_store_without_references_is_freed() -> None:
    store: Store[Any] = Store(generic.decode)
    store.replace([raw(obj("a", 1))], "1")
    index = indexes_of(store).by_namespace
    assert index.values() == {"default": 1}
    held = weakref.ref(store)
    del store
    assert held() is None
    with pytest.raises(ReferenceError):
        index.values()


class _Slow(_Versions):
    """Call `meanwhile` once in the middle of a rebuild."""

    meanwhile: Callable[[], object] | None = None

    def _rebuild(self, entries: Mapping[Key, Entry[Any]]) -> None:
        super()._rebuild(entries)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()


def test_changes_during_a_rebuild_are_not_lost(store: Store[Any]) -> None:
    versions = _Slow(store)
    store.apply("ADDED", raw(obj("a", 1)))
    versions.meanwhile = lambda: store.apply("ADDED", raw(obj("b", 2)))
    assert versions.read() == {"a": "1", "b": "2"}


def test_index_is_updated_by_one_reader_at_a_time(store: Store[Any]) -> None:
    versions = _Slow(store)
    store.apply("ADDED", raw(obj("a", 1)))
    found: list[dict[str, str]] = []
    second = Thread(target=lambda: found.append(versions.read()))

    def enter() -> None:
        second.start()
        second.join(0.2)
        assert second.is_alive(), "it did not wait"

    versions.meanwhile = enter
    assert versions.read() == {"a": "1"}
    second.join()
    assert (found, versions.rebuilds) == ([{"a": "1"}], 1)


def test_readers_see_one_version_while_another_thread_writes(store: Store[Any]) -> None:
    versions = _Versions(store)
    index = Index(store, lambda entry: (entry.key.name,))
    done = Event()

    def write() -> None:
        for number in range(1, 4000):
            store.apply("MODIFIED", raw(obj(f"n{number % 50}", number)))
            if number % 1000 == 0:
                store.replace([raw(obj(f"n{n}", number)) for n in range(50)], str(number))
        done.set()

    def check(read: Callable[[], Mapping[Any, Any]]) -> None:
        while not done.is_set():
            read()

    threads = [Thread(target=write), *(Thread(target=check, args=(versions.read,)) for _ in "ab")]
    for thread in threads:
        thread.start()
    while not done.is_set():
        assert all(index.count(value) == 1 for value in list(index.values()))
    for thread in threads:
        thread.join()
    assert versions.read() == _versions(store)
