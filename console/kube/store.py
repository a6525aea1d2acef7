"""The objects of one resource type as the server last told them.

Promises:
- Written by one thread only (the core's); read from any thread, without a lock and without waiting.
- A reader gets a `Snapshot`: it never changes, and it is the server's state at one resourceVersion.
- An object never goes backwards: an event older than what is stored is ignored. Only a new list may
  replace an object by an older one, since a server that was restored from a backup is right.
- `changes_since` tells what changed after a version that one has seen, so that whatever is worked out
  from the objects can be kept up to date without looking at all of them (see `console.kube.derived`).
- Memory: per object the projection and its compressed original. `bytes_packed` is the latter's sum.

Callers must not change what they get: projections are frozen, and `original()` makes a new dictionary
at each call.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import msgspec

from console.kube.gvr import Key
from console.kube.packing import ENOUGH, SAMPLES, Packer, without_managed_fields
from console.kube.scan import member

log = logging.getLogger(__name__)

#: Changes that are remembered at least, and, of a large store, for each so many objects one.
_REMEMBERED, _SHARE = 1000, 8


class Projected(Protocol):
    """What every projection has; a namespace is "" for cluster-scoped types."""

    @property
    def namespace(self) -> str: ...
    @property
    def name(self) -> str: ...


#: What decoding hostile JSON may raise: a custom resource can be nested a thousand levels deep, and
#: msgspec says nothing of its own for bytes that are no UTF-8.
UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeError)

P = TypeVar("P", bound=Projected)
#: From an object's JSON: its projection, its resourceVersion and its `managedFields` ("" without any).
#: Raises `msgspec.DecodeError` for what is no such object.
Decode = Callable[[bytes | msgspec.Raw], tuple[P, str, msgspec.Raw]]


@runtime_checkable
class Comparing(Protocol[P]):
    """A `Decode` that does less for what is known already."""

    def beside(self, known: Callable[[Key], P | None]) -> Decode[P]:
        """One that finds with `known` what it made of an object before, None of a new one."""
        ...


class Entry(msgspec.Struct, Generic[P], frozen=True, eq=False, gc=False):
    """One object in one version; equal to itself alone. `resource_version` is opaque but for the order
    within its type."""

    key: Key
    resource_version: str
    projection: P
    packed: bytes
    packer: Packer

    def original(self) -> dict[str, Any]:
        """The whole object as kube-apiserver sent it, without `managedFields`."""
        value = self.packer.unpack(self.packed)
        value.get("metadata", {}).pop("managedFields", None)
        return value


#: What became of an object: its new entry, None if it is gone.
Change = tuple[Key, Entry[P] | None]


@dataclass(frozen=True, slots=True)
class Snapshot(Generic[P]):
    """`version` grows with every change of an object and compares only with the same store's."""

    entries: Mapping[Key, Entry[P]]
    resource_version: str
    version: int


@dataclass(frozen=True, slots=True)
class _Journal(Generic[P]):
    """The last changes. `base` is the version before the first; `log` only ever grows at its end."""

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
        """Grows by one for each object that changes; see `Snapshot`."""
        journal = self._journal
        return journal.base + len(journal.log)

    def get(self, key: Key) -> Entry[P] | None:
        return self._entries.get(key)

    def snapshot(self) -> Snapshot[P]:
        """All objects at one moment. Copied at most once per change, and only if somebody asks: for
        what is worked out at each change `changes_since` is the way."""
        known, resource_version = self._snapshot, self._resource_version
        version = self.version
        if (
            known is not None
            and known.version == version
            and known.resource_version == resource_version
        ):
            return known
        # The versions are read before the copy, which is one step for the interpreter: after a write
        # in between the copy knows more than it says, and whoever replays the changes gets it again.
        entries = MappingProxyType(self._entries.copy())
        snapshot = self._snapshot = Snapshot(entries, resource_version, version)
        return snapshot

    def changes_since(self, version: int) -> tuple[int, Sequence[Change[P]]] | None:
        """The version now and what changed after `version`, the oldest first; a key may come again.

        None if that is too long ago to be remembered: then start from a `snapshot`.
        """
        journal = self._journal
        now = journal.version
        if not journal.base <= version <= now:
            return None
        return now, journal.log[version - journal.base : now - journal.base]

    # The writer's thread.

    def apply(self, event: str, raw: msgspec.Raw) -> tuple[Key | None, str]:
        """ADDED, MODIFIED or DELETED. The key that changed, None if nothing did, and the event's
        resourceVersion, "" if it cannot be read."""
        entry = self._entry(raw)
        if entry is None:
            return self._lose(raw)
        key, version = entry.key, entry.resource_version
        known = self._entries.get(key)
        if known is not None and older(version, known.resource_version):
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
        """What it was before is not what it is now: an object that cannot be read is not there."""
        key, version = identity(raw)
        known = self._entries.get(key) if key is not None else None
        if key is None or known is None or older(version, known.resource_version):
            return None, version
        del self._entries[key]
        self.bytes_packed -= len(known.packed)
        self._record([(key, None)], version)
        return key, version

    def decode_with(self, decode: Decode[P]) -> None:
        """From now on; what is here already stays as it is until a list brings it anew."""
        self._decode = self._comparing(decode)

    def bookmark(self, resource_version: str) -> None:
        """The server has nothing newer up to here. Readers see the same objects."""
        self._resource_version = resource_version

    def evict(self, keys: Sequence[Key]) -> list[Key]:
        """Forgets objects that the server may still have. The keys that were there."""
        gone = [key for key in keys if key in self._entries]
        for key in gone:
            self.bytes_packed -= len(self._entries.pop(key).packed)
        self._record([(key, None) for key in gone], self._resource_version)
        return gone

    def replacing(self, namespace: str = "") -> "Replacement[P]":
        """Gathers a list, batch by batch; readers see nothing of it before its `commit`.

        With a namespace the list is of that one, and the objects of others stay as they are.
        """
        return Replacement(self, namespace)

    def replace(self, raws: Sequence[msgspec.Raw], resource_version: str) -> list[Key]:
        """Makes the store equal to a list. The keys that appeared, changed or went."""
        replacement = self.replacing()
        replacement.add(raws)
        return replacement.commit(resource_version)

    def gathered(self, raws: Sequence[msgspec.Raw]) -> list[Entry[P]]:
        """Entries of these objects, the very ones of the store where that has the same version."""
        if self._packer.untrained and len(raws) >= ENOUGH:
            self._packer.train([lean for raw in raws[:SAMPLES] if (lean := self._lean(raw))])
        return [entry for raw in raws if (entry := self._entry(raw))]

    def wants_samples(self, count: int) -> bool:
        """True while so many objects are too few to learn from how to pack more."""
        return self._packer.untrained and count < SAMPLES

    def exchange(
        self, namespace: str, entries: dict[Key, Entry[P]], resource_version: str
    ) -> list[Key]:
        """Puts these in the place of all there are, or of those in `namespace`."""
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
        """After the change itself, so that nobody who has seen the new version misses it."""
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
        return decode.beside(self._known) if isinstance(decode, Comparing) else decode

    def _known(self, key: Key) -> P | None:
        entry = self._entries.get(key)
        return None if entry is None else entry.projection

    def _entry(self, raw: msgspec.Raw) -> Entry[P] | None:
        """One undecodable object must not stop the others: it is counted, and then not there."""
        try:
            projection, resource_version, managed_fields = self._decode(raw)
        except UNREADABLE as error:
            self.undecodable += 1
            log.warning("An object was left out of the cache: %s", error)
            return None
        key = Key(projection.namespace, projection.name)
        packed = self._packer.pack(without_managed_fields(bytes(raw), managed_fields))
        known = self._entries.get(key)
        # The bytes count too: a server that was restored may give a version a second time. So does what
        # is made of them, since that may have become something else.
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
        # The first objects wait for others, so that what is learnt from them is worth more.
        self._waiting: list[msgspec.Raw] = []

    def add(self, raws: Sequence[msgspec.Raw]) -> None:
        self._waiting += raws
        if not self._store.wants_samples(len(self._waiting)):
            self._gather()

    def commit(self, resource_version: str) -> list[Key]:
        """The keys that appeared, changed or went."""
        self._gather()
        return self._store.exchange(self._namespace, self._entries, resource_version)

    def _gather(self) -> None:
        waiting, self._waiting = self._waiting, []
        for entry in self._store.gathered(waiting):
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
    """Key and resourceVersion of an object that may be unreadable otherwise; None and "" if they are."""
    try:
        found = _identified.decode(raw).metadata
    except RecursionError:
        try:
            found = _identity.decode(member(bytes(raw), b"metadata"))
        except UNREADABLE:
            return None, ""
    except UNREADABLE:
        return None, ""
    return Key(found.namespace, found.name), found.resourceVersion


def older(version: str, than: str) -> bool:
    """Within one type resourceVersions are ordered integers (KEP-5504); others are taken as newer."""
    if not (version.isascii() and version.isdigit() and than.isascii() and than.isdigit()):
        return False
    # As texts: the numbers may have any length.
    one, other = version.lstrip("0"), than.lstrip("0")
    return (len(one), one) < (len(other), other)
