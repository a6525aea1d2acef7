"""An informer that follows the whole cluster, or some namespaces of it as one.

Promises, beyond an `Informer`'s:
- Each namespace has a reflector of its own, which lists and replaces the objects of that one alone.
- `freshness` is that of all together: synced once every namespace has been listed, stale while one of
  them cannot be followed; then `problem` names it.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Generic, Protocol

import msgspec

from console.kube.clock import Clock
from console.kube.errors import Forbidden
from console.kube.gvr import GVR, Key
from console.kube.informer import Informer
from console.kube.listwatch import ListWatch, Source, WatchEvent
from console.kube.reflector import Reflector
from console.kube.sentences import Sentence
from console.kube.store import Decode, P, older

#: The namespace of a source that has them all.
EVERYWHERE = ""


class Gathering(Protocol):
    """A list on its way into a store, as `Store.replacing` gives one."""

    def add(self, raws: Sequence[msgspec.Raw]) -> None: ...

    def commit(self, resource_version: str) -> Sequence[Key]: ...


class ScopedInformer(Informer[P]):
    def __init__(self, gvr: GVR, decode: Decode[P], *, clock: Clock | None = None) -> None:
        super().__init__(gvr, decode, clock=clock)
        self._parts: tuple[_Part[P], ...] = ()
        self._reflectors: tuple[Reflector, ...] = ()
        self._followed: tuple[Source, ...] = ()

    async def follow(self, sources: Mapping[str, Source]) -> None:
        """Follows the sources, by namespace, until cancelled. May be called again afterwards: nothing
        then goes back to what the server may still remember of an earlier time."""
        oldest = "" if self.freshness.synced else "0"
        self._followed = tuple(sources.values())
        self._parts = tuple(_Part(self, namespace) for namespace in sources)
        self._reflectors = tuple(
            Reflector(part.name, source, part, clock=self._clock, oldest=oldest)
            for part, source in zip(self._parts, sources.values(), strict=True)
        )
        tasks = [asyncio.create_task(reflector.run()) for reflector in self._reflectors]
        try:
            # No TaskGroup: one that is cancelled is left to the garbage collector, with all it knows,
            # and what a first list brought is out of the collector's sight.
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            # They know this informer, which would know them.
            self._parts, self._reflectors = (), ()

    @property
    def reflector(self) -> Reflector | None:
        return self._reflectors[0] if self._reflectors else super().reflector

    @property
    def reflectors(self) -> tuple[Reflector, ...]:
        """Of each namespace; none while nothing is followed."""
        return self._reflectors

    @property
    def refusal(self) -> Forbidden | None:
        found = (item.refused for item in self._followed if isinstance(item, ListWatch))
        return next((refused for refused in found if refused is not None), None)

    @property
    def refused_verb(self) -> str:
        """What kube-apiserver has last not allowed."""
        found = [item for item in self._followed if isinstance(item, ListWatch) and item.refused]
        return found[0].refused_verb if found else "list"

    def wake(self) -> None:
        for part, reflector in zip(self._parts, self._reflectors, strict=True):
            if not part.connected_now:
                reflector.wake()

    def renew(self) -> None:
        for part, reflector in zip(self._parts, self._reflectors, strict=True):
            if self._doubt is not None:
                part.connected_now = self._connected = False
            reflector.renew()

    def gathering(self, namespace: str) -> Gathering:
        """Takes a namespace's list."""
        return self.store.replacing(namespace)

    def part_listed(self, changed: Sequence[Key]) -> None:
        """One namespace has been listed. Listeners hear of it at once, `synced` is for all."""
        if self.freshness.synced or all(part.listed for part in self._parts):
            self.replaced(changed)
        else:
            for key in changed:
                self._changed(key)

    def part_bookmark(self, resource_version: str) -> None:
        """One namespace is that far; another may have been further."""
        if not older(resource_version, self.store.resource_version):
            self.bookmark(resource_version)

    def part_moved(self) -> None:
        """A namespace's connection is good or bad now."""
        bad = next((part for part in self._parts if not part.connected_now), None)
        if bad is None:
            self.connected()
        elif problem := next((part.told for part in self._parts if part.problem), ""):
            self.disconnected(problem)


class _Part(Generic[P]):
    """The sink of one namespace's reflector."""

    def __init__(self, informer: ScopedInformer[P], namespace: str) -> None:
        self._informer = informer
        self._namespace = namespace
        self.name = f"{informer.gvr.qualified} {namespace}".strip()
        self.listed = self.connected_now = False
        self.problem = ""

    @property
    def told(self) -> str:
        """The problem with the namespace that has it."""
        if not self._namespace:
            return self.problem
        place, problem = self._namespace, self.problem
        return Sentence("%(namespace)s: %(problem)s", namespace=place, problem=problem)

    def replacing(self) -> "_Replacing[P]":
        return _Replacing(self._informer, self, self._namespace)

    def event(self, event: WatchEvent) -> str:
        return self._informer.event(event)

    def bookmark(self, resource_version: str) -> None:
        self._informer.part_bookmark(resource_version)

    def connected(self) -> None:
        self.connected_now, self.problem = True, ""
        self._informer.part_moved()

    def disconnected(self, problem: str) -> None:
        self.connected_now, self.problem = False, problem
        self._informer.part_moved()


class _Replacing(Generic[P]):
    """One namespace's list on its way into the informer."""

    def __init__(self, informer: ScopedInformer[P], part: _Part[P], namespace: str) -> None:
        self._informer = informer
        self._part = part
        self._gathering = informer.gathering(namespace)

    def add(self, raws: Sequence[msgspec.Raw]) -> None:
        self._gathering.add(raws)

    def commit(self, resource_version: str) -> None:
        changed = self._gathering.commit(resource_version)
        self._part.listed = True
        self._informer.part_listed(changed)
