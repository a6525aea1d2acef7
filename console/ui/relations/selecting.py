"""Selectors in both directions: the pods that an object selects, and what selects pods of some labels.

Selectors reach into their own namespace alone, so looking at that one is enough.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from console.kube import gvr as types
from console.kube.gvr import GVR
from console.kube.indexes import indexes_of
from console.kube.informer import Informer
from console.kube.selectors import LabelSelector, SelectorError, parse_labels
from console.kube.store import Entry

#: Kinds that are about the pods that they select.
SELECTING = (types.SERVICES, types.POD_DISRUPTION_BUDGETS, types.NETWORK_POLICIES)


@lru_cache(2000)
def read_selector(text: str) -> LabelSelector | None:
    """None for what is none: it selects nothing."""
    try:
        return parse_labels(text)
    except SelectorError:
        return None


def selector_of(gvr: GVR, entry: Entry[Any]) -> LabelSelector | None:
    """Of an object of a type in `SELECTING`; None for one that selects nothing."""
    text: str = entry.projection.selector
    if text:
        return read_selector(text)
    if gvr == types.SERVICES:
        return None
    if gvr == types.POD_DISRUPTION_BUDGETS:
        # Only the object itself tells a selector of everything, {}, from none at all.
        spec = entry.original().get("spec")
        return LabelSelector() if isinstance(spec, dict) and spec.get("selector") == {} else None
    return LabelSelector()


def pods_selected(selector: LabelSelector, namespace: str, pods: Informer[Any]) -> list[Entry[Any]]:
    found = indexes_of(pods.store).by_namespace.get(namespace)
    return [entry for entry in found if selector.matches(entry.projection.labels)]


def selecting(
    informer: Informer[Any], namespace: str, labels: Mapping[str, str]
) -> list[Entry[Any]]:
    """The objects of a type in `SELECTING` that select pods with these labels."""
    return [
        entry
        for entry in indexes_of(informer.store).by_namespace.get(namespace)
        if (selector := selector_of(informer.gvr, entry)) is not None and selector.matches(labels)
    ]
