"""The resource types that a cluster serves, according to its CustomResourceDefinitions and its
discovery API.

Definitions are watched, so custom types are known immediately. All other types, such as those of
aggregated API servers, are known from discovery. It is read again after CustomResourceDefinitions
and APIServices change, and every few minutes.

https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from console.kube.api_discovery import (
    Discovered,
    ServedType,
    aggregated_types,
    group_versions,
    listed_types,
)
from console.kube.clock import Backoff, Clock, SystemClock
from console.kube.compatibility import (
    ApiVersions,
    Limitation,
    ServerVersion,
    limitations,
    read_version,
)
from console.kube.custom_types import CustomType, CustomTypes
from console.kube.errors import ApiError, InvalidResponse
from console.kube.group_kind import group_kind
from console.kube.gvr import GVR, NAMESPACES
from console.kube.informer import OnChange, OnState
from console.kube.messages import Message

log = logging.getLogger(__name__)

#: Seconds between two reads of discovery without a known change.
INTERVAL = 300.0
#: Seconds before each of the reads after a change. kube-apiserver takes a few seconds to serve a
#: new type, and longer to reach a new aggregated API server.
AFTER_CHANGE = (1.0, 2.0, 5.0, 15.0)
#: Seconds for which a removed custom type counts as removed although discovery still lists it.
REMOVED = 60.0
#: Maximum number of types. Large clusters have a few thousand.
MOST_TYPES = 20_000


class DiscoveryReader(Protocol):
    """The part of `console.kube.clients.ReaderClient` that is used here."""

    async def discovery(self, path: str) -> bytes: ...


@dataclass(frozen=True, slots=True)
class _Types:
    """All types, and the types by group and plural, and by `Kind.group`, in the version that
    discovery prefers.
    """

    all: Mapping[GVR, ServedType] = field(default_factory=dict)
    preferred: Mapping[tuple[str, str], ServedType] = field(default_factory=dict)
    kinds: Mapping[str, ServedType] = field(default_factory=dict)


def _types(found: Collection[ServedType], removed: Collection[tuple[str, str]]) -> _Types:
    every: dict[GVR, ServedType] = {}
    preferred: dict[tuple[str, str], ServedType] = {}
    for one in found:
        name = one.gvr.group, one.gvr.resource
        if name not in removed and len(every) < MOST_TYPES:
            every.setdefault(one.gvr, one)
            preferred.setdefault(name, one)
    kinds = {group_kind(one.kind, one.gvr.group): one for one in preferred.values()}
    return _Types(every, dict(sorted(preferred.items())), kinds)


class ServedTypes:
    """The types of one cluster. Without a `reader`, only the definitions are known.

    Listeners are called on the core thread.
    """

    def __init__(
        self,
        customs: CustomTypes,
        reader: DiscoveryReader | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.customs = customs
        self._reader = reader
        self._clock = clock or SystemClock()
        # Replaced, not modified. None before the first successful read.
        self._types: _Types | None = None
        #: The version of kube-apiserver, or None if it is unknown.
        self.version: ServerVersion | None = None
        #: The versions in which the server serves the console's types.
        self.api_versions = ApiVersions()
        self._removed: dict[tuple[str, str], float] = {}
        self._changes = 0
        self._listeners: tuple[Callable[[], None], ...] = ()
        self._wake = asyncio.Event()
        self._coming: list[float] = []
        self._backoff = Backoff(limit=INTERVAL)
        #: Set after the first attempt to read discovery.
        self.tried = asyncio.Event()

    # Any thread.

    @property
    def state(self) -> Hashable:
        """Return a value that changes whenever the types change."""
        return self._changes, self.customs.changes

    def serves(self, gvr: GVR) -> bool | None:
        """Return True if the cluster serves the type in this version or in an older version with the
        same fields, None if this is unknown.
        """
        if self.customs.get(gvr) is not None:
            return True
        types = self._types
        return None if types is None else self.api_versions.served(gvr) in types.all

    @property
    def limitations(self) -> tuple[Limitation, ...]:
        """Return what the cluster lacks, compared with the newest Kubernetes version."""
        return limitations(self.version, self.serves)

    def find(self, group: str, resource: str) -> ServedType | None:
        """Return a discovered type in the version that discovery prefers."""
        types = self._types
        return types.preferred.get((group, resource)) if types is not None else None

    def by_group_kind(self, word: str) -> CustomType | ServedType | None:
        """Return the type of a `Kind.group` (see `console.kube.group_kind`), in the version that
        discovery prefers.
        """
        types = self._types
        found = types.kinds.get(word) if types is not None else None
        return self.customs.by_group_kind(word) or found

    def __iter__(self) -> Iterator[ServedType]:
        """Iterate over the discovered types in their preferred version, sorted by group and plural."""
        types = self._types
        return iter(types.preferred.values() if types is not None else ())

    def add_listener(self, on_change: OnChange, on_state: OnState) -> Callable[[], None]:
        """Call `on_state` when discovery lists other types. Return a function that removes the
        listener.
        """

        def listener() -> None:
            on_state()

        self._listeners = (*self._listeners, listener)

        def remove() -> None:
            self._listeners = tuple(one for one in self._listeners if one is not listener)

        return remove

    # Core thread only.

    def change_expected(self) -> None:
        """Read discovery soon, because types may have been added or removed."""
        self._coming = [*AFTER_CHANGE]
        self._wake.set()

    def definition_changed(self, group: str, resource: str) -> None:
        """Note that a CustomResourceDefinition changed."""
        name = group, resource
        if self.customs.find(*name) is not None:
            self._removed.pop(name, None)
        elif self.find(*name) is not None:
            self._removed[name] = self._clock.monotonic() + REMOVED
            self.replace(Discovered([*self._types.all.values()] if self._types else []))
        self.change_expected()

    def replace(self, found: Discovered) -> None:
        """Replace the discovered types. Types of unavailable group versions are kept."""
        old, now = self._types or _Types(), self._clock.monotonic()
        listed = {(one.gvr.group, one.gvr.resource) for one in found.types}
        self._removed = {
            name: until for name, until in self._removed.items() if name in listed and now < until
        }
        kept = [
            one for one in old.all.values() if (one.gvr.group, one.gvr.version) in found.unavailable
        ]
        new = _types([*found.types, *kept], self._removed)
        self.api_versions = ApiVersions.of(self.version, lambda gvr: gvr in new.all)
        if self._types is not None and new == old:
            return
        self._types = new
        self._changes += 1
        for listener in self._listeners:
            listener()

    async def run(self) -> None:
        """Read discovery until cancelled."""
        told = ""
        while self._reader is not None:
            self._wake.clear()
            try:
                found = await self._read(self._reader)
                self.version = await _version(self._reader)
                self.replace(found)
            except ApiError as error:
                level = logging.INFO if told == str(error) else logging.WARNING
                log.log(level, "Cannot read the resource types of the cluster: %s", error)
                told, delay = str(error), self._backoff.next()
            else:
                self._backoff.reset()
                told, delay = "", self._next_delay(INTERVAL)
            self.tried.set()
            await self._pause(delay)

    def _next_delay(self, otherwise: float) -> float:
        return self._coming.pop(0) if self._coming else otherwise

    async def _pause(self, seconds: float) -> None:
        sleep = asyncio.ensure_future(self._clock.sleep(seconds))
        woken = asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait({sleep, woken}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleep.cancel()
            woken.cancel()
        if self._wake.is_set():
            # Several definitions are often created together.
            await self._clock.sleep(self._next_delay(0.0))

    async def _read(self, reader: DiscoveryReader) -> Discovered:
        types: list[ServedType] = []
        unavailable: set[tuple[str, str]] = set()
        for root in ("/api", "/apis"):
            body = await reader.discovery(root)
            found = aggregated_types(body) or await self._read_each(reader, body)
            types += found.types
            unavailable |= found.unavailable
        if not any(one.gvr == NAMESPACES for one in types):
            # Not a complete answer. Every cluster has the core group.
            raise InvalidResponse(
                Message("The response from the Kubernetes API is not a list of resource types")
            )
        return Discovered(types, frozenset(unavailable))

    async def _read_each(self, reader: DiscoveryReader, body: bytes) -> Discovered:
        """Read each group version, for servers without the aggregated format (before Kubernetes
        1.27).
        """
        types: list[ServedType] = []
        unavailable: set[tuple[str, str]] = set()
        for group, version in group_versions(body):
            # A resource path without the plural is the path of the group version.
            try:
                listed = await reader.discovery(GVR(group, version, "").path())
                types += listed_types(listed, group, version)
            except ApiError:
                unavailable.add((group, version))
        return Discovered(types, frozenset(unavailable))


async def _version(reader: DiscoveryReader) -> ServerVersion | None:
    """Read the version of kube-apiserver. Return None if it can't be read."""
    try:
        return read_version(await reader.discovery("/version"))
    except ApiError:
        return None
