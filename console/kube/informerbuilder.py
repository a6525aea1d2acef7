"""Select the decoder and the namespaces of each kind's informer, and start and stop informers when
resource types are added and removed.
"""

import asyncio
from collections.abc import Collection, Hashable, Sequence
from typing import Any

from console.kube.clients import ReaderClient
from console.kube.clock import Clock
from console.kube.compatibility import OLDER_VERSIONS
from console.kube.custom_types import CustomType, CustomTypes, definition_of
from console.kube.factory import InformerFactory, NeverCached, UnknownKind
from console.kube.gvr import BUILT_IN_GROUPS, CUSTOM_RESOURCE_DEFINITIONS, EVENTS, GVR, Key
from console.kube.informer import EVERYWHERE, NOT_INSTALLED, Informer
from console.kube.listwatch import ListWatch
from console.kube.projections import DECODERS, custom
from console.kube.recent_events import RecentEvents
from console.kube.scopes import is_namespaced
from console.kube.served_types import ServedTypes
from console.kube.store import Decode
from console.kube.uncached import UNCACHED


class ClusterInformerBuilder:
    """The `InformerBuilder` of a cluster.

    `namespaces` are the namespaces that the console is restricted to, if any.
    """

    def __init__(self, reader: ReaderClient, namespaces: Sequence[str], clock: Clock) -> None:
        self._reader = reader
        self._namespaces = tuple(namespaces)
        self._clock = clock
        self._definitions = Informer(
            CUSTOM_RESOURCE_DEFINITIONS, DECODERS[CUSTOM_RESOURCE_DEFINITIONS], clock=clock
        )
        self.types = CustomTypes(self._definitions)
        self.served = ServedTypes(self.types, reader, clock)
        #: The followed types that wait until the cluster serves them.
        self.waiting: set[GVR] = set()

    def make(self, gvr: GVR) -> Informer[Any]:
        if gvr == CUSTOM_RESOURCE_DEFINITIONS:
            return self._definitions
        if gvr in UNCACHED:
            raise NeverCached(gvr.qualified)
        kind = RecentEvents if gvr == EVENTS else Informer
        return kind(gvr, self.decoder(gvr), clock=self._clock)

    async def follow(self, informer: Informer[Any]) -> None:
        gvr = informer.gvr
        await self._until_served(informer)
        if gvr not in DECODERS and self.types.get(gvr) is not None:
            # The printer columns may have changed since the kind was last followed.
            informer.store.decode_with(self.decoder(gvr))
        namespaces = self.namespaces_of(gvr)
        await informer.follow({name: ListWatch(self._reader, gvr, name) for name in namespaces})

    async def _until_served(self, informer: Informer[Any]) -> None:
        """Wait without requests while the cluster does not serve the type. `TypeWatch` cancels this
        when it does.
        """
        gvr = informer.gvr
        unknown = gvr.group not in BUILT_IN_GROUPS and self.types.get(gvr) is None
        if unknown or gvr in OLDER_VERSIONS:
            await self.served.tried.wait()
        if self.served.serves(gvr) is False:
            # The objects stay in the store until the next list. Readers see that they are stale.
            informer.disconnected(NOT_INSTALLED)
            self.waiting.add(gvr)
            try:
                await asyncio.Event().wait()
            finally:
                self.waiting.discard(gvr)

    def namespaces_of(self, gvr: GVR) -> Sequence[str]:
        """Return the namespaces to list separately, or `EVERYWHERE` alone."""
        if self._namespaces and is_namespaced(gvr, self.types):
            return self._namespaces
        return (EVERYWHERE,)

    def decoder(self, gvr: GVR) -> Decode[Any]:
        """Return the decoder of a type's objects. Raise `UnknownKind`."""
        decode = DECODERS.get(gvr)
        if decode is not None:
            return decode
        found = self.types.get(gvr)
        if found is None:
            raise UnknownKind(gvr.qualified)
        return custom.decoder_of(found.columns, has_state=found.has_state)


class TypeWatch:
    """Call `changed` for every change of a CustomResourceDefinition, and `discovered` for every
    change of discovery, on the core thread.
    """

    def __init__(
        self, served: ServedTypes, waiting: Collection[GVR], factory: InformerFactory
    ) -> None:
        """`waiting` contains the followed types that wait until the cluster serves them."""
        self._served, self._types = served, served.customs
        self._waiting = waiting
        self._factory = factory
        self._shapes: dict[GVR, Hashable] = {}

    def changed(self, key: Key) -> None:
        self._served.definition_changed(*definition_of(key))
        others = [item.gvr for item in self._types.of(key) if self._is_another(item)]
        group, plural = definition_of(key)
        for gvr in (*self._factory.informers(), *self._factory.deleted_types()):
            if (gvr.group, gvr.resource) == (group, plural):
                self._settle(gvr, gvr in others)
        self.discovered()

    def discovered(self) -> None:
        for gvr in self._factory.informers():
            missing = self._served.serves(gvr) is False
            if missing is not (gvr in self._waiting) and gvr in DECODERS:
                self._factory.relist(gvr)

    def _settle(self, gvr: GVR, another: bool) -> None:
        if self._types.get(gvr) is not None:
            self._factory.type_created(gvr)
            if another:
                self._factory.relist(gvr)
        elif gvr not in DECODERS:
            # Built-in kinds are not stopped. They wait for their type (`discovered`).
            self._factory.type_deleted(gvr)

    def _is_another(self, item: CustomType) -> bool:
        """Return True if the type was recreated, or if its columns or its state changed."""
        shape: Hashable = item.uid
        if item.gvr not in DECODERS:
            shape = (item.uid, item.columns, item.has_state)
        known = self._shapes.get(item.gvr)
        self._shapes[item.gvr] = shape
        return known is not None and known != shape
