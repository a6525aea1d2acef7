"""The objects of one resource type as last reported by the server.

- Only the core thread writes. Any thread may read without locks or waiting.
- Readers get a `Snapshot`, which never changes and is the server's state at one resourceVersion.
- An event that is older than the stored object is ignored. Only a new list may replace an object
  with an older version, because a server that was restored from a backup is authoritative.
- `changes_since` returns the changes after a version, so that derived data can be updated
  incrementally (see `console.kube.derived`).
- Memory per object: the projection and the compressed original. `bytes_packed` is the sum of the
  latter.

Callers must not modify results: projections are frozen, and `original()` returns a new
dictionary.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import msgspec

from console.kube.gvr import Key
from console.kube.json_scan import find_member
from console.kube.packing import ENOUGH, SAMPLES, Packer, without_managed_fields

log = logging.getLogger(__name__)

#: Minimum number of remembered changes. A large store remembers one change per `_SHARE` objects.
_REMEMBERED, _SHARE = 1000, 8


class Projected(Protocol):
    """Attributes of every projection. `namespace` is "" for cluster-scoped types."""

    @property
    def namespace(self) -> str: ...
    @property
    def name(self) -> str: ...


#: Exceptions of decoding untrusted JSON. A custom resource can be nested a thousand levels deep,
#: and msgspec raises UnicodeError for invalid UTF-8.
UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeError)

P = TypeVar("P", bound=Projected)
#: Decodes an object's JSON to its projection, resourceVersion and `managedFields` ("" if missing).
#: Raises `msgspec.DecodeError` for anything else.
Decode = Callable[[bytes | msgspec.Raw], tuple[P, str, msgspec.Raw]]


@runtime_checkable
class ReusingDecode(Protocol[P]):
    """A `Decode` that can reuse earlier results."""

    def reusing(self, known: Callable[[Key], P | None]) -> Decode[P]:
        """Return a decoder that looks up an object's previous projection with `known`, None for new
        objects.
        """
        ...


class Entry(msgspec.Struct, Generic[P], frozen=True, eq=False, gc=False):
    """One object in one version, compared by identity.

    `resource_version` is opaque, but ordered within the type.
    """

    key: Key
    resource_version: str
    projection: P
    packed: bytes
    packer: Packer

    def original(self) -> dict[str, Any]:
        """Return the object as kube-apiserver sent it, without `managedFields`."""
        value = self.packer.unpack(self.packed)
        value.get("metadata", {}).pop("managedFields", None)
        return value


#: A changed object and its new entry, or None if it was deleted.
Change = tuple[Key, Entry[P] | None]


@dataclass(frozen=True, slots=True)
class Snapshot(Generic[P]):
    """All objects at one moment. `version` grows with every change and is only comparable within a
    store.
    """

    entries: Mapping[Key, Entry[P]]
    resource_version: str
    version: int


@dataclass(frozen=True, slots=True)
class _Journal(Generic[P]):
    """The latest changes. `base` is the version before the first; `log` is append-only."""

    base: int
    log: list[Change[P]]

    @property
    def version(self) -> int:
        return self.base + len(self.log)


class Store(Generic[P]):
    def __init__(self, decode: Decode[P]) -> None:
        self._decode = self._comparing(decode)
        self._packer = Packer()
        self._entries: dict[Key, Entry[P]] = {}
        self._resource_version = ""
        self._journal: _Journal[P] = _Journal(0, [])
        self._snapshot: Snapshot[P] | None = None
        self.bytes_packed = 0
        self.undecodable = 0

    # Any thread.

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def resource_version(self) -> str:
        return self._resource_version

    @property
    def version(self) -> int:
        """Return the version, which grows by one for each changed object (see `Snapshot`)."""
        journal = self._journal
        return journal.base + len(journal.log)

    def get(self, key: Key) -> Entry[P] | None:
        return self._entries.get(key)

    def snapshot(self) -> Snapshot[P]:
        """Return all objects at one moment.

        The entries are copied at most once per change. Use `changes_since` for data that is
        updated with each change.
        """
        known, resource_version = self._snapshot, self._resource_version
        version = self.version
        if (
            known is not None
            and known.version == version
            and known.resource_version == resource_version
        ):
            return known
        # The versions are read before the copy, which is atomic in CPython. After a concurrent
        # write the copy is newer than its version, and replaying the changes applies them twice,
        # which is harmless.
        entries = MappingProxyType(self._entries.copy())
        snapshot = self._snapshot = Snapshot(entries, resource_version, version)
        return snapshot

    def changes_since(self, version: int) -> tuple[int, Sequence[Change[P]]] | None:
        """Return the current version and the changes after `version`, oldest first. A key may occur
        repeatedly.

        Return None if `version` is too old; then start from a `snapshot`.
        """
        journal = self._journal
        now = journal.version
        if not journal.base <= version <= now:
            return None
        return now, journal.log[version - journal.base : now - journal.base]

    # The writer's thread.

    def apply(self, event: str, raw: msgspec.Raw) -> tuple[Key | None, str]:
        """Apply an ADDED, MODIFIED or DELETED event.

        Return the changed key, or None if nothing changed, and the event's resourceVersion, or
        "" if it cannot be decoded.
        """
        entry = self._entry(raw)
        if entry is None:
            return self._lose(raw)
        key, version = entry.key, entry.resource_version
        known = self._entries.get(key)
        if known is not None and is_older(version, known.resource_version):
            return None, version
        if event == "DELETED":
            if known is None:
                return None, version
            del self._entries[key]
            self.bytes_packed -= len(known.packed)
            self._record([(key, None)], version)
        elif entry is known:
            return None, version
        else:
            self._entries[key] = entry
            self.bytes_packed += len(entry.packed) - (len(known.packed) if known else 0)
            self._record([(key, entry)], version)
        return key, version

    def _lose(self, raw: msgspec.Raw) -> tuple[Key | None, str]:
        """Remove the object of an event that cannot be decoded, because its stored state is
        outdated.
        """
        key, version = identity(raw)
        known = self._entries.get(key) if key is not None else None
        if key is None or known is None or is_older(version, known.resource_version):
            return None, version
        del self._entries[key]
        self.bytes_packed -= len(known.packed)
        self._record([(key, None)], version)
        return key, version

    def decode_with(self, decode: Decode[P]) -> None:
        """Use another decoder from now on. Stored objects are kept until the next list."""
        self._decode = self._comparing(decode)

    def bookmark(self, resource_version: str) -> None:
        """Advance the resourceVersion without changing objects."""
        self._resource_version = resource_version

    def evict(self, keys: Sequence[Key]) -> list[Key]:
        """Remove objects that may still exist on the server. Return the keys that were removed."""
        gone = [key for key in keys if key in self._entries]
        for key in gone:
            self.bytes_packed -= len(self._entries.pop(key).packed)
        self._record([(key, None) for key in gone], self._resource_version)
        return gone

    def receive_list(self, namespace: str = "") -> "Replacement[P]":
        """Start to receive a list in batches. Readers see nothing before `commit`.

        With a namespace, only objects of that namespace are replaced.
        """
        return Replacement(self, namespace)

    def replace(self, raws: Sequence[msgspec.Raw], resource_version: str) -> list[Key]:
        """Replace all objects with a list. Return the keys that were added, changed or removed."""
        replacement = self.receive_list()
        replacement.add(raws)
        return replacement.commit(resource_version)

    def entries_of(self, raws: Sequence[msgspec.Raw]) -> list[Entry[P]]:
        """Return the entries of these objects, reusing the store's entries of the same version."""
        if self._packer.untrained and len(raws) >= ENOUGH:
            self._packer.train([lean for raw in raws[:SAMPLES] if (lean := self._lean(raw))])
        return [entry for raw in raws if (entry := self._entry(raw))]

    def wants_samples(self, count: int) -> bool:
        """Return True while `count` objects are too few to train the dictionary."""
        return self._packer.untrained and count < SAMPLES

    def replace_entries(
        self, namespace: str, entries: dict[Key, Entry[P]], resource_version: str
    ) -> list[Key]:
        """Replace all entries, or those of `namespace`. Return the keys that were added, changed or
        removed.
        """
        old = self._entries
        changed = [key for key, entry in entries.items() if entry is not old.get(key)]
        replaced = (key for key in old if not namespace or key.namespace == namespace)
        gone = [key for key in replaced if key not in entries]
        if namespace:
            others = {key: entry for key, entry in old.items() if key.namespace != namespace}
            entries = {**others, **entries}
        self._entries = entries
        self.bytes_packed = sum(len(entry.packed) for entry in entries.values())
        changes: list[Change[P]] = [(key, entries[key]) for key in changed]
        self._record([*changes, *((key, None) for key in gone)], resource_version)
        return changed + gone

    def _record(self, changes: Sequence[Change[P]], resource_version: str) -> None:
        """Append changes to the journal.

        Call it after changing the entries, so that readers of the new version see the changes.
        """
        journal = self._journal
        remembered = max(_REMEMBERED, len(self._entries) // _SHARE)
        if len(changes) > remembered:
            self._journal = _Journal(journal.version + len(changes), [])
        else:
            journal.log.extend(changes)
            if len(journal.log) > 2 * remembered:
                cut = len(journal.log) - remembered
                self._journal = _Journal(journal.base + cut, journal.log[cut:])
        self._resource_version = resource_version

    def _comparing(self, decode: Decode[P]) -> Decode[P]:
        return decode.reusing(self._known) if isinstance(decode, ReusingDecode) else decode

    def _known(self, key: Key) -> P | None:
        entry = self._entries.get(key)
        return None if entry is None else entry.projection

    def _entry(self, raw: msgspec.Raw) -> Entry[P] | None:
        """Decode an object. An object that cannot be decoded is counted and skipped."""
        try:
            projection, resource_version, managed_fields = self._decode(raw)
        except UNREADABLE as error:
            self.undecodable += 1
            log.warning("Cannot decode an object, skipping it: %s", error)
            return None
        key = Key(projection.namespace, projection.name)
        packed = self._packer.pack(without_managed_fields(bytes(raw), managed_fields))
        known = self._entries.get(key)
        # Compare the bytes too: a restored server may reuse a version. Compare the projection too:
        # the decoder may have changed.
        if (
            known is not None
            and known.resource_version == resource_version
            and known.packed == packed
            and known.projection == projection
        ):
            return known
        return Entry(key, resource_version, projection, packed, self._packer)

    def _lean(self, raw: msgspec.Raw) -> bytes:
        try:
            return without_managed_fields(bytes(raw), self._decode(raw)[2])
        except UNREADABLE:
            return b""


class Replacement(Generic[P]):
    def __init__(self, store: Store[P], namespace: str) -> None:
        self._store = store
        self._namespace = namespace
        self._entries: dict[Key, Entry[P]] = {}
        # The first objects wait until there are enough samples to train the dictionary.
        self._waiting: list[msgspec.Raw] = []

    def add(self, raws: Sequence[msgspec.Raw]) -> None:
        self._waiting += raws
        if not self._store.wants_samples(len(self._waiting)):
            self._gather()

    def commit(self, resource_version: str) -> list[Key]:
        """Make the list visible. Return the keys that were added, changed or removed."""
        self._gather()
        return self._store.replace_entries(self._namespace, self._entries, resource_version)

    def _gather(self) -> None:
        waiting, self._waiting = self._waiting, []
        for entry in self._store.entries_of(waiting):
            self._entries[entry.key] = entry


class _Identity(msgspec.Struct):
    name: str
    namespace: str = ""
    resourceVersion: str = ""


class _Identified(msgspec.Struct):
    metadata: _Identity


_identified = msgspec.json.Decoder(_Identified)
_identity = msgspec.json.Decoder(_Identity)


def identity(raw: bytes | msgspec.Raw) -> tuple[Key | None, str]:
    """Return key and resourceVersion of an object that cannot be fully decoded, or None and ""."""
    try:
        found = _identified.decode(raw).metadata
    except RecursionError:
        try:
            found = _identity.decode(find_member(bytes(raw), b"metadata"))
        except UNREADABLE:
            return None, ""
    except UNREADABLE:
        return None, ""
    return Key(found.namespace, found.name), found.resourceVersion


def is_older(version: str, than: str) -> bool:
    """Return True if `version` is older than `than`.

    Within a type, resourceVersions are ordered integers (KEP-5504). Other values count as newer.
    """
    if not (version.isascii() and version.isdigit() and than.isascii() and than.isdigit()):
        return False
    # Compared as strings, because the numbers may have any length.
    one, other = version.lstrip("0"), than.lstrip("0")
    return (len(one), one) < (len(other), other)
