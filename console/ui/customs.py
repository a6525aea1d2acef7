"""The kinds of the custom resources that a cluster currently serves.

- A kind appears and disappears together with its API. Built-in kinds take precedence.
- The kind of an unchanged type stays the same object, so it can be a cache key.
- Kinds are created on first use, regardless of the number of types. All functions are
  thread-safe.
"""

from collections.abc import Callable, Iterator
from threading import Lock

from console.kube.discovery import CustomType, CustomTypes
from console.kube.gvr import GVR
from console.kube.projections import DECODERS
from console.kube.uncached import UNCACHED
from console.ui.generic import GenericKind, generic_kind

#: Number of new kinds after which the kinds of removed types are dropped.
SPARE = 100


class CustomKinds:
    """The kinds of a cluster's `types`. `declares` returns True if a built-in kind exists for a
    group and plural.
    """

    def __init__(self, declares: Callable[[str, str], bool], types: CustomTypes) -> None:
        self._declares, self._types = declares, types
        self._lock = Lock()
        self._kinds: dict[str, GenericKind] = {}
        self._most = SPARE

    def find(self, segment: str) -> GenericKind | None:
        """Return the kind of `plural.group`, in the preferred version."""
        plural, _dot, group = segment.partition(".")
        custom = self._types.find(group, plural) if group else None
        return self._kind(custom) if custom is not None else None

    def serves(self, gvr: GVR) -> bool:
        """Return True while the cluster serves this custom type, even if the console has a built-in
        kind for it.
        """
        return self._types.get(gvr) is not None

    def named(self, word: str) -> GenericKind | None:
        """Return the first kind that has this lowercase name."""
        return next(self._called(lambda names: word in names), None)

    def like(self, text: str) -> Iterator[GenericKind]:
        """Yield the kinds with a name that contains this lowercase text. Kinds are created during
        iteration.
        """
        return self._called(lambda names: any(text in name for name in names))

    def _called(self, fits: Callable[[tuple[str, ...]], bool]) -> Iterator[GenericKind]:
        for custom in self._types:
            if custom.preferred and fits(_names(custom)):
                kind = self._kind(custom)
                if kind is not None:
                    yield kind

    def __iter__(self) -> Iterator[GenericKind]:
        """Iterate by group and plural. Kinds are created during iteration."""
        for custom in self._types:
            kind = self._kind(custom) if custom.preferred else None
            if kind is not None:
                yield kind

    def _kind(self, custom: CustomType) -> GenericKind | None:
        gvr = custom.gvr
        if is_internal_type(gvr) or self._declares(gvr.group, gvr.resource):
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


def is_internal_type(gvr: GVR) -> bool:
    """Return True if the console itself reads this type."""
    return gvr in DECODERS or gvr in UNCACHED


def _names(custom: CustomType) -> tuple[str, ...]:
    gvr = custom.gvr
    return gvr.resource, gvr.qualified, custom.kind.lower(), custom.singular, *custom.short_names
