"""Pod selectors in both directions: the pods that an object selects, and the objects that select a
pod.

Selectors apply only to their own namespace, so only that namespace is searched.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from console.kube.gvr import GVR
from console.kube.indexes import indexes_of
from console.kube.informer import Informer
from console.kube.selectors import LabelSelector
from console.kube.store import Entry
from console.ui.kind import ResourceKind
from console.ui.registry import kinds


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
