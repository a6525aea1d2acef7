"""Keeps what is followed in step with the types that the cluster defines."""

from collections.abc import Iterable
from typing import Protocol

from console.kube.discovery import Types, definition_of
from console.kube.gvr import GVR, Key
from console.kube.projections import DECODERS


class Followed(Protocol):
    """What this needs of the factory."""

    def informers(self) -> Iterable[GVR]: ...
    def vanished(self) -> Iterable[GVR]: ...
    def vanish(self, gvr: GVR) -> None: ...
    def appear(self, gvr: GVR) -> None: ...
    def renew(self, gvr: GVR) -> None: ...


class TypeWatch:
    """`changed` is told of every change of a CustomResourceDefinition, on the core's thread."""

    def __init__(self, types: Types, factory: Followed) -> None:
        self._types = types
        self._factory = factory
        self._uids: dict[Key, str] = {}

    def changed(self, key: Key) -> None:
        another = self._is_another(key)
        group, plural = definition_of(key)
        for gvr in (*self._factory.informers(), *self._factory.vanished()):
            if (gvr.group, gvr.resource) == (group, plural):
                self._settle(gvr, another)

    def _settle(self, gvr: GVR, another: bool) -> None:
        if self._types.get(gvr) is not None:
            self._factory.appear(gvr)
            if another:
                self._factory.renew(gvr)
        elif gvr not in DECODERS:
            # The console's own kinds wait for their type instead, as they do before it is defined.
            self._factory.vanish(gvr)

    def _is_another(self, key: Key) -> bool:
        """True if the definition was deleted and made anew since it was last looked at."""
        uid = self._types.uid(key)
        known = self._uids.get(key, "")
        if uid:
            self._uids[key] = uid
        return bool(uid and known and uid != known)
