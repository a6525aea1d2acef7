"""One object as its detail shows it: what the panels of its page are given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from console.kube.gvr import GVR, Key
from console.kube.informer import Informer
from console.kube.store import Entry
from console.ui.access import Access
from console.ui.kind import ResourceKind
from console.ui.masking import masked

T = TypeVar("T")


@dataclass(frozen=True)
class Subject:
    """`informers`: those that the panels said they need and that are running; each may be yet to sync.
    `query`: the parameters of the page's address, for panels with a choice in them; of anybody.
    `live`: the whole object as the viewer has just read it, for whoever asks for that
    (`Action.reads_live`). Nothing of it is masked.

    Whatever of other objects is shown must be asked of `access` first.
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

    def once(self, work: Callable[["Subject"], T]) -> T:
        """What several panels need: the first of them has it worked out. No ages: each draws its own."""
        if work not in self._done:
            self._done[work] = work(self)
        found: T = self._done[work]
        return found

    @cached_property
    def manifest(self) -> Mapping[str, Any]:
        """The whole object as the cache has it, without managedFields and without what its kind masks.

        To be read only. Tenants write it: nothing in it need be what Kubernetes' types say. Raises
        `RecursionError` for what is nested too deeply to be read.
        """
        return masked(self.entry.original(), self.kind.masked)
