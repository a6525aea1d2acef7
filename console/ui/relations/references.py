"""What an object names of other objects, told from what the cache keeps of it.

Promises:
- `named_by` and `others` need a projection and nothing else, so that the other direction (`referrers`)
  can be kept for any number of objects without reading one of them whole.
- `references` says more (how, where, whether it may be missing) and may read the one whole object. Both
  name the same targets, but for a pod's node, by which there is an index of all kinds
  (`console.kube.indexes`).

Names are what tenants wrote: nothing says that such an object exists, or may be seen.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from console.kube.gvr import GVR, PODS, Key
from console.kube.projections import podspec
from console.kube.store import Entry
from console.ui.kind import ResourceKind, Scope
from console.ui.registry import kinds
from console.ui.relations.naming import Reference, Target

#: Kinds of which it is kept who names them.
KEPT = 200


@lru_cache(KEPT)
def naming(kind: ResourceKind) -> Sequence[GVR]:
    """The types whose objects can name one of this kind: what makes pods first, then as the menu has it.
    Left out are those that a panel of its own tells of."""
    found = [user for user in kinds if kind.gvr in user.names and user.gvr not in kind.told_apart]
    return tuple(user.gvr for user in sorted(found, key=lambda user: user.rank))


def references(gvr: GVR, entry: Entry[Any]) -> tuple[Reference, ...]:
    """What the object names, in a fixed order; each mention by itself."""
    kind = kinds.of(gvr)
    if kind is None:
        return ()
    return (*_spec(kind, entry), *kind.references(entry.projection))


def uses_of(kind: ResourceKind | None, item: Any) -> tuple[str, ...]:
    """What a projection keeps of the specification of pods, as texts; of most types nothing."""
    found: tuple[str, ...] = item.uses if kind is not None and kind.pod_spec else ()
    return found


def others(kind: ResourceKind | None, item: Any) -> tuple[Target, ...]:
    """What it names beside its `uses`."""
    found = kind.references(item) if kind is not None else ()
    return tuple((ref.gvr, ref.key) for ref in found)


def named_by(uses: Iterable[str], namespace: str) -> Iterator[Target]:
    """The targets of `Kind/name`; a slash in a name is but a part of one that no object can have."""
    for text in uses:
        word, _slash, name = text.partition("/")
        target = named(word, namespace, name)
        if target is not None:
            yield target


def named_across(uses: Iterable[str], namespace: str) -> Iterator[Target]:
    """As `named_by`, of what may be in another namespace, as `Kind/namespace/name`."""
    for text in uses:
        word, _slash, name = text.partition("/")
        place, _slash, own = name.rpartition("/")
        target = named(word, place or namespace, own)
        if target is not None:
            yield target


def named(word: str, namespace: str, name: str) -> Target | None:
    """The object of that kind; None for a kind that Kubernetes has not."""
    kind = kinds.called(word)
    if kind is None:
        return None
    return kind.gvr, Key("" if kind.scope is Scope.CLUSTER else namespace, name)


def _spec(kind: ResourceKind, entry: Entry[Any]) -> Iterator[Reference]:
    """A pod's spec, or that of a template, mention by mention."""
    if not kind.pod_spec:
        return
    found: Any = entry.original()
    for part in kind.pod_spec:
        found = found.get(part) if isinstance(found, dict) else None
    try:
        spec = msgspec.convert(found or {}, podspec.WholeSpec)
    except msgspec.ValidationError:
        return
    pod = entry.key.name if kind.gvr == PODS else ""
    for one in podspec.named(spec, pod):
        target = named(one.kind, entry.key.namespace, one.name)
        if target is not None:
            yield Reference(*target, one.how, one.where, one.optional)
