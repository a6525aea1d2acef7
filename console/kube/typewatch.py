"""Start and stop informers when custom resource types are defined and deleted."""

from collections.abc import Hashable

from console.kube.custom_types import CustomType, CustomTypes, definition_of
from console.kube.factory import InformerFactory
from console.kube.gvr import GVR, Key
from console.kube.projections import DECODERS


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
