"""Look up a store's objects by something other than their key.

An index is built on first use and updated from then on (see `console.kube.derived`).
`indexes_of` returns the indexes that every kind has. Use `Index` for a custom index, or `by` for
a shared one.
"""

import weakref
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cached_property
from typing import Any, Generic
from weakref import WeakKeyDictionary

from console.kube.derived import Derived
from console.kube.gvr import Key
from console.kube.store import Entry, P, Store

KeysOf = Callable[[Entry[P]], Iterable[Hashable]]


class Index(Derived[P]):
    """An index. `keys_of` returns the values under which an object is found: zero, one or more."""

    def __init__(self, store: Store[P], keys_of: KeysOf[P]) -> None:
        super().__init__(store)
        self._keys_of = keys_of
        self._found: dict[Hashable, dict[Key, Entry[P]]] = {}
        self._values: dict[Key, tuple[Hashable, ...]] = {}

    def get(self, value: Hashable) -> tuple[Entry[P], ...]:
        """Return the objects that have this value."""
        with self.current():
            return tuple(self._found.get(value, {}).values())

    def count(self, value: Hashable) -> int:
        with self.current():
            return len(self._found.get(value, ()))

    def values(self) -> Mapping[Hashable, int]:
        """Return every value with the number of its objects."""
        with self.current():
            return {value: len(found) for value, found in self._found.items()}

    def _rebuild(self, entries: Mapping[Key, Entry[P]]) -> None:
        self._found, self._values = {}, {}
        for key, entry in entries.items():
            self._apply(key, entry)

    def _apply(self, key: Key, entry: Entry[P] | None) -> None:
        for value in self._values.pop(key, ()):
            found = self._found[value]
            del found[key]
            if not found:
                del self._found[value]
        values = tuple(dict.fromkeys(self._keys_of(entry))) if entry is not None else ()
        if entry is not None and values:
            self._values[key] = values
            for value in values:
                self._found.setdefault(value, {})[key] = entry


class Indexes(Generic[P]):
    """The indexes that every kind has."""

    def __init__(self, store: Store[P]) -> None:
        self._store_ref = weakref.ref(store)
        self._own: dict[KeysOf[P], Index[P]] = {}

    @cached_property
    def by_namespace(self) -> Index[P]:
        return self._index(lambda entry: (entry.key.namespace,))

    @cached_property
    def by_owner(self) -> Index[P]:
        """Index by the uid of the owner that controls the object."""
        return self._index(lambda entry: _text(entry, "owner_uid"))

    @cached_property
    def by_node(self) -> Index[P]:
        """Index by the name of the object's node."""
        return self._index(lambda entry: _text(entry, "node"))

    @cached_property
    def by_label(self) -> Index[P]:
        """Index by `key=value`."""
        return self._index(_labels)

    def by(self, keys_of: KeysOf[P]) -> Index[P]:
        """Return a custom index. Callers must pass the same function each time to share it."""
        return self._own.get(keys_of) or self._own.setdefault(keys_of, self._index(keys_of))

    def _index(self, keys_of: KeysOf[P]) -> Index[P]:
        store = self._store_ref()
        if store is None:
            raise ReferenceError("the store no longer exists")
        return Index(store, keys_of)


_indexes: WeakKeyDictionary[Store[Any], Indexes[Any]] = WeakKeyDictionary()


def indexes_of(store: Store[P]) -> Indexes[P]:
    """Return the shared indexes of a store."""
    found = _indexes.get(store)
    if found is None:
        found = _indexes.setdefault(store, Indexes(store))
    return found


def _text(entry: Entry[Any], attribute: str) -> tuple[str, ...]:
    text: str = getattr(entry.projection, attribute, "")
    return (text,) if text else ()


def _labels(entry: Entry[Any]) -> Iterable[str]:
    labels: Mapping[str, str] = getattr(entry.projection, "labels", {})
    return (f"{key}={value}" for key, value in labels.items())
