"""Select the decoder and the namespaces of each kind's informer, and start and stop informers when
custom resource types are defined and deleted.
"""

from collections.abc import Hashable, Sequence
from typing import Any

from console.kube.clients import ReaderClient
from console.kube.clock import Clock
from console.kube.custom_types import CustomType, CustomTypes, definition_of
from console.kube.factory import InformerFactory, NeverCached, UnknownKind
from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, EVENTS, GVR, Key
from console.kube.informer import EVERYWHERE, Informer
from console.kube.listwatch import ListWatch
from console.kube.projections import DECODERS, custom
from console.kube.recent_events import RecentEvents
from console.kube.scopes import is_namespaced
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

    def make(self, gvr: GVR) -> Informer[Any]:
        if gvr == CUSTOM_RESOURCE_DEFINITIONS:
            return self._definitions
        if gvr in UNCACHED:
            raise NeverCached(gvr.qualified)
        kind = RecentEvents if gvr == EVENTS else Informer
        return kind(gvr, self.decoder(gvr), clock=self._clock)

    async def follow(self, informer: Informer[Any]) -> None:
        gvr = informer.gvr
        if gvr not in DECODERS and self.types.get(gvr) is not None:
            # The printer columns may have changed since the kind was last followed.
            informer.store.decode_with(self.decoder(gvr))
        namespaces = self.namespaces_of(gvr)
        await informer.follow({name: ListWatch(self._reader, gvr, name) for name in namespaces})

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
        return custom.decoder_of(found.columns, conditions=found.conditions)


class TypeWatch:
    """Call `changed` for every change of a CustomResourceDefinition, on the core thread."""

    def __init__(self, types: CustomTypes, factory: InformerFactory) -> None:
        self._types = types
        self._factory = factory
        self._shapes: dict[GVR, Hashable] = {}

    def changed(self, key: Key) -> None:
        others = [item.gvr for item in self._types.of(key) if self._is_another(item)]
        group, plural = definition_of(key)
        for gvr in (*self._factory.informers(), *self._factory.deleted_types()):
            if (gvr.group, gvr.resource) == (group, plural):
                self._settle(gvr, gvr in others)

    def _settle(self, gvr: GVR, another: bool) -> None:
        if self._types.get(gvr) is not None:
            self._factory.type_created(gvr)
            if another:
                self._factory.relist(gvr)
        elif gvr not in DECODERS:
            # The console's built-in kinds are not stopped: they wait for their type, as before it
            # is defined.
            self._factory.type_deleted(gvr)

    def _is_another(self, item: CustomType) -> bool:
        """Return True if the type was recreated, or if its columns or conditions changed."""
        shape: Hashable = item.uid
        if item.gvr not in DECODERS:
            shape = (item.uid, item.columns, item.conditions)
        known = self._shapes.get(item.gvr)
        self._shapes[item.gvr] = shape
        return known is not None and known != shape
