"""The objects of one resource type as the server last told them.

Promises:
- Written by one thread only (the core's); read from any thread, without a lock and without waiting.
- A reader gets a `Snapshot`: it never changes, and it is the server's state at one resourceVersion.
- An object never goes backwards: an event older than what is stored is ignored.
- Memory: per object the projection and its compressed original. `bytes_packed` is the latter's sum.

Callers must not change what they get: projections are frozen, and `original()` makes a new dictionary
at each call.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import local
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar

import msgspec
import zstandard

from console.kube.gvr import Key

log = logging.getLogger(__name__)


class Projected(Protocol):
    """What every projection has; a namespace is "" for cluster-scoped types."""

    @property
    def namespace(self) -> str: ...
    @property
    def name(self) -> str: ...


P = TypeVar("P", bound=Projected)
Decode = Callable[[bytes | msgspec.Raw], tuple[P, str]]

_to_dict = msgspec.json.Decoder(dict[str, Any])


class _Zstd(local):
    """A context for each thread: zstandard's must not be used by two at once, and any thread reads."""

    def __init__(self) -> None:
        self._compressor = zstandard.ZstdCompressor(level=1)
        self._decompressor = zstandard.ZstdDecompressor()

    def pack(self, raw: msgspec.Raw) -> bytes:
        # The compressor's own result keeps the room of the worst case; a copy has only what it needs.
        return bytes(memoryview(self._compressor.compress(bytes(raw))))

    def unpack(self, packed: bytes) -> bytes:
        return self._decompressor.decompress(packed)


_zstd = _Zstd()


@dataclass(frozen=True, slots=True)
class Entry(Generic[P]):
    """One object. `resource_version` is opaque but for the order within its type."""

    key: Key
    resource_version: str
    projection: P
    packed: bytes

    def original(self) -> dict[str, Any]:
        """The whole object as kube-apiserver sent it, without `managedFields`."""
        value = _to_dict.decode(_zstd.unpack(self.packed))
        value.get("metadata", {}).pop("managedFields", None)
        return value


@dataclass(frozen=True, slots=True)
class Snapshot(Generic[P]):
    """`version` grows with every write and compares only with the same store's."""

    entries: Mapping[Key, Entry[P]]
    resource_version: str
    version: int


class Store(Generic[P]):
    def __init__(self, decode: Decode[P]) -> None:
        self._decode = decode
        self._entries: dict[Key, Entry[P]] = {}
        self._resource_version = ""
        self._version = 0
        self._snapshot: Snapshot[P] | None = None
        self.bytes_packed = 0
        self.undecodable = 0

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def resource_version(self) -> str:
        return self._resource_version

    def get(self, key: Key) -> Entry[P] | None:
        return self._entries.get(key)

    def snapshot(self) -> Snapshot[P]:
        """All objects at one moment. Copied at most once per change, and only if somebody asks."""
        snapshot = self._snapshot
        if snapshot is None or snapshot.version != self._version:
            # Version and resourceVersion are read before the copy, which is one step for the
            # interpreter: a write in between makes the next call copy again, never this one lie.
            version, resource_version = self._version, self._resource_version
            entries = MappingProxyType(self._entries.copy())
            snapshot = self._snapshot = Snapshot(entries, resource_version, version)
        return snapshot

    def apply(self, event: str, raw: msgspec.Raw) -> Key | None:
        """ADDED, MODIFIED or DELETED. The key that changed, or None if nothing did."""
        entry = self._entry(raw)
        if entry is None:
            return None
        known = self._entries.get(entry.key)
        if known is not None and _older(entry.resource_version, known.resource_version):
            return None
        if event == "DELETED":
            if known is None:
                return None
            del self._entries[entry.key]
            self.bytes_packed -= len(known.packed)
        else:
            self._entries[entry.key] = entry
            self.bytes_packed += len(entry.packed) - (len(known.packed) if known else 0)
        self._advance(entry.resource_version)
        return entry.key

    def bookmark(self, resource_version: str) -> None:
        """The server has nothing newer up to here. Readers see the same objects."""
        self._advance(resource_version)

    def replace(self, raws: Iterable[msgspec.Raw], resource_version: str) -> list[Key]:
        """Makes the store equal to a list. The keys that appeared, changed or went."""
        entries = {entry.key: entry for raw in raws if (entry := self._entry(raw))}
        old = self._entries
        changed = [key for key, entry in entries.items() if not _same(entry, old.get(key))]
        changed += [key for key in old if key not in entries]
        self._entries = entries
        self.bytes_packed = sum(len(entry.packed) for entry in entries.values())
        self._resource_version = resource_version
        self._version += 1
        return changed

    def _advance(self, resource_version: str) -> None:
        self._resource_version = resource_version
        self._version += 1

    def _entry(self, raw: msgspec.Raw) -> Entry[P] | None:
        """One undecodable object must not stop the others: it is counted, and then not there."""
        try:
            projection, resource_version = self._decode(raw)
        except msgspec.DecodeError as error:
            self.undecodable += 1
            log.warning("An object was left out of the cache: %s", error)
            return None
        key = Key(projection.namespace, projection.name)
        return Entry(key, resource_version, projection, _zstd.pack(raw))


def _same(entry: Entry[P], known: Entry[P] | None) -> bool:
    return known is not None and known.resource_version == entry.resource_version


def _older(version: str, than: str) -> bool:
    """Within one type resourceVersions are ordered integers (KEP-5504); others are taken as newer."""
    if not (version.isdigit() and than.isdigit()):
        return False
    return int(version) < int(than)
