"""The kinds of the custom types that a cluster has at this moment.

Promises:
- A kind is there as soon as its type is served, and gone with it; what is declared comes before it.
- It stays the same object for as long as its type stays what it is, so it can be the name of things.
- A type costs nothing before somebody asks for it, however many there are. Any thread may ask.
"""

from collections.abc import Callable, Iterator
from threading import Lock

from console.kube.discovery import CustomType, Types
from console.kube.gvr import GVR
from console.kube.projections import DECODERS
from console.kube.uncached import UNCACHED
from console.ui.generic import GenericKind, generic_kind

#: New kinds until those are let go whose types are gone.
SPARE = 100


class CustomKinds:
    """Of a cluster's `types`. `declares` tells whether one has a kind of its own: group and plural."""

    def __init__(self, declares: Callable[[str, str], bool], types: Types) -> None:
        self._declares, self._types = declares, types
        self._lock = Lock()
        self._kinds: dict[str, GenericKind] = {}
        self._most = SPARE

    def find(self, segment: str) -> GenericKind | None:
        """The kind of `plural.group`, in the version that people mean who name none."""
        plural, _dot, group = segment.partition(".")
        custom = self._types.find(group, plural) if group else None
        return self._kind(custom) if custom is not None else None

    def serves(self, gvr: GVR) -> bool:
        """True while the cluster has this custom type, whether or not its kind is declared."""
        return self._types.get(gvr) is not None

    def named(self, word: str) -> GenericKind | None:
        """The first kind that this word in lower case is a name of."""
        return next(self._called(lambda names: word in names), None)

    def like(self, text: str) -> Iterator[GenericKind]:
        """Kinds of which a name has this text in lower case inside. Makes the kinds that it comes to."""
        return self._called(lambda names: any(text in name for name in names))

    def _called(self, fits: Callable[[tuple[str, ...]], bool]) -> Iterator[GenericKind]:
        for custom in self._types:
            if custom.preferred and fits(_names(custom)):
                kind = self._kind(custom)
                if kind is not None:
                    yield kind

    def __iter__(self) -> Iterator[GenericKind]:
        """By group and plural. Makes the kinds that it comes to."""
        for custom in self._types:
            kind = self._kind(custom) if custom.preferred else None
            if kind is not None:
                yield kind

    def _kind(self, custom: CustomType) -> GenericKind | None:
        gvr = custom.gvr
        if is_kept(gvr) or self._declares(gvr.group, gvr.resource):
            return None
        known = self._kinds.get(gvr.qualified)
        if known is not None and known.custom == custom:
            return known
        with self._lock:
            known = self._kinds.get(gvr.qualified)
            if known is None or known.custom != custom:
                self._tidy()
                known = self._kinds[gvr.qualified] = generic_kind(custom)
            return known

    def _tidy(self) -> None:
        if len(self._kinds) < self._most:
            return
        names = {item.gvr.qualified for item in self._types}
        self._kinds = {name: kind for name, kind in self._kinds.items() if name in names}
        self._most = len(self._kinds) + SPARE


def is_kept(gvr: GVR) -> bool:
    """Whether the console reads the type for itself."""
    return gvr in DECODERS or gvr in UNCACHED


def _names(custom: CustomType) -> tuple[str, ...]:
    gvr = custom.gvr
    return gvr.resource, gvr.qualified, custom.kind.lower(), custom.singular, *custom.short_names
