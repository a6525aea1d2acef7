"""The object of a detail page, as passed to its panels."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from console.kube.gvr import GVR, Key
from console.kube.informer import Informer
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import mask_values

T = TypeVar("T")


@dataclass(frozen=True)
class Subject:
    """The object of a detail page and its context.

    `informers` contains the running informers that the panels need. They may not be synced.
    `query` contains the page's untrusted query parameters, for panels with selectable content.
    `live` is the unmasked object as just read with the viewer's permissions, for actions with
    `reads_live`. Code that shows content of other objects must check `access` first.
    """

    kind: ResourceKind
    key: Key
    entry: Entry[Any]
    access: Access
    informers: Mapping[GVR, Informer[Any]]
    cluster: str
    query: Mapping[str, str] = field(default_factory=dict)
    live: Mapping[str, Any] = field(default_factory=dict)
    _done: dict[Callable[..., Any], Any] = field(default_factory=dict, init=False, compare=False)

    def cached(self, work: Callable[["Subject"], T]) -> T:
        """Return the result of `work`, computed once and shared by all panels. It must not contain
        ages, which each panel renders at a different time.
        """
        if work not in self._done:
            self._done[work] = work(self)
        found: T = self._done[work]
        return found

    @cached_property
    def manifest(self) -> Mapping[str, Any]:
        """The whole object from the cache, without managedFields and with masked values. Read-only.

        Users write its content, so values may not have the types that Kubernetes specifies.
        Raise `RecursionError` if the object is nested too deeply.
        """
        return mask_values(self.entry.original(), self.kind.masked)
