"""Related objects by owner and by pod selector, in both directions.

Selectors apply only to their own namespace, so only that namespace is searched.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from console.kube.gvr import GVR
from console.kube.indexes import indexes_of
from console.kube.informer import Informer
from console.kube.selectors import LabelSelector
from console.kube.store import Entry
from console.ui.core.kind import ResourceKind, Target
from console.ui.core.registry import kinds
from console.ui.core.subject import Subject
from console.ui.details.relations.references import target_named
from console.ui.details.relations.visible_type import VisibleType


def selecting_types(kind: ResourceKind) -> Sequence[GVR]:
    """Return the types that can select pods of a kind."""
    return [one.gvr for one in kinds if one.selects_pods] if kind.pod_spec else []


def pods_selected(selector: LabelSelector, namespace: str, pods: Informer[Any]) -> list[Entry[Any]]:
    found = indexes_of(pods.store).by_namespace.get(namespace)
    return [entry for entry in found if selector.matches(entry.projection.labels)]


def selecting(
    informer: Informer[Any], namespace: str, labels: Mapping[str, str]
) -> list[Entry[Any]]:
    """Return the objects of an informer that select pods with these labels."""
    kind = kinds.by_type(informer.gvr)
    return [
        entry
        for entry in indexes_of(informer.store).by_namespace.get(namespace)
        if kind is not None
        and (selector := kind.pod_selector(entry)) is not None
        and selector.matches(labels)
    ]


#: Maximum generations of owners.
HIGHEST = 4


def owned_types(kind: ResourceKind | None) -> Collection[GVR]:
    """Return all types that an object of a kind can own, over all generations."""
    found = dict.fromkeys(kind.owns if kind is not None else ())
    for gvr in tuple(found):
        found |= dict.fromkeys(owned_types(kinds.by_type(gvr)))
    return found


def owner_types(gvr: GVR) -> Collection[GVR]:
    """Return all types that can own an object of a type, over all generations."""
    found = dict.fromkeys(kind.gvr for kind in kinds if gvr in kind.owns)
    for one in tuple(found):
        found |= dict.fromkeys(owner_types(one))
    return found


def owned_by(owner: Entry[Any], seeing: VisibleType) -> list[Entry[Any]]:
    """Return the visible owned objects of a type, current ones first."""
    return sorted(owned_unordered(owner, seeing), key=lambda entry: _order(seeing, entry))


def owned_unordered(owner: Entry[Any], seeing: VisibleType) -> list[Entry[Any]]:
    """Return the visible owned objects of a type in any order."""
    if seeing.informer is None:
        return []
    uid, namespace = owner.projection.uid, owner.key.namespace
    found = indexes_of(seeing.informer.store).by_owner.get(uid) if uid else ()
    return seeing.only_visible(
        entry for entry in found if not namespace or entry.key.namespace == namespace
    )


def _order(seeing: VisibleType, entry: Entry[Any]) -> tuple[Any, ...]:
    own = seeing.kind.order_among_owned(entry) if seeing.kind is not None else None
    return (*own, entry.key) if own is not None else seeing.rank(entry)


def owners_of(subject: Subject) -> Iterator[Target]:
    """Yield the owner, its owner and so on, as long as the viewer can see them."""
    item = subject.entry.projection
    for _generation in range(HIGHEST):
        word, _slash, name = getattr(item, "owner", "").partition("/")
        owner = target_named(word, item.namespace, name, subject.access.cluster.kinds)
        if owner is None or not name:
            return
        yield owner
        entry = VisibleType(subject, owner[0]).get(owner[1])
        # The owner may have been replaced by another object with the same name.
        if entry is None or entry.projection.uid != item.owner_uid:
            return
        item = entry.projection
