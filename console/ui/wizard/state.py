"""The state of a wizard's form: the draft's documents, the values that can't be written into them,
and what the viewer may choose from.
"""

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from django.http import QueryDict
from django.utils.datastructures import MultiValueDict

from console.kube.factory import UnknownKind
from console.kube.gvr import GVR, NODES
from console.kube.indexes import indexes_of
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.gpus import GpuKind
from console.ui.core.kind import ResourceKind
from console.ui.core.permissions import visible
from console.ui.wizard.paths import ABSENT, Path, value_at

V = TypeVar("V")
#: Shown value and reason of refused values, by field name.
Refusals = dict[str, tuple[str, str]]
#: Uploaded files by the names of their inputs.
Files = MultiValueDict[str, Any]
#: Maximum suggested values of a field.
MOST_SUGGESTIONS = 500


@dataclass(frozen=True, slots=True)
class WizardContext:
    """Who uses the wizard, and where. `namespace` is "" for cluster-scoped objects, and until one
    is chosen. `is_new` is False if the wizard edits an existing object.

    A context belongs to one request, so that all fields, warnings and drawings of a page read and
    evaluate the same objects once.
    """

    access: Access
    namespace: str = ""
    is_new: bool = True
    _results: dict[Hashable, Any] = field(default_factory=dict, init=False, compare=False)

    def once(self, key: Hashable, compute: Callable[[], V]) -> V:
        """Return the result of `compute`, which is called only once for each key."""
        if key not in self._results:
            self._results[key] = compute()
        found: V = self._results[key]
        return found

    def serves(self, gvr: GVR) -> bool:
        """Return True if the cluster serves the type."""
        return self.access.cluster.kinds.installed(gvr)

    def gpu_kinds(self) -> Sequence[GpuKind]:
        """Return the types of GPUs that the cluster's configuration names, the default one first."""
        return self.access.cluster.gpu_kinds()

    def devices(self) -> Sequence[str]:
        """Return the names of devices of the nodes that the viewer may see, sorted."""
        return self.once("devices", self._devices)

    def _devices(self) -> Sequence[str]:
        nodes = self.entries(NODES)
        return sorted({name for node in nodes for name in node.projection.devices})

    def entries(self, gvr: GVR, namespace: str | None = None) -> Sequence[Entry[Any]]:
        """Return the visible objects of a cached type, sorted by name. If the type is namespaced,
        return those in `namespace`, by default the context's. Return an empty list if the type
        isn't loaded.
        """
        kind = self.access.cluster.kinds.of(gvr)
        if kind is None or not self._is_loaded(kind):
            return []
        place = self.namespace if namespace is None else namespace
        return self.once((gvr, place), lambda: self._entries(kind, place))

    def _entries(self, kind: ResourceKind, place: str) -> Sequence[Entry[Any]]:
        informer = self.access.cluster.runtime.informer(kind.gvr)
        entries = indexes_of(informer.store).by_namespace.get(place if kind.view.namespaced else "")
        allowed = visible(kind, self.access)
        found = (entry for entry in entries if allowed.includes(entry.key))
        return sorted(found, key=lambda entry: entry.key.name)

    def sees_all(self, gvr: GVR, namespace: str) -> bool:
        """Return True if the viewer may list all objects of a cached type in a namespace, and they
        are loaded.
        """
        kind = self.access.cluster.kinds.of(gvr)
        loaded = kind is not None and self._is_loaded(kind)
        return loaded and self.access.can("list", gvr, namespace=namespace)

    def _is_loaded(self, kind: ResourceKind) -> bool:
        """Return True if the cache contains all objects of the kind."""
        if kind.uncached:
            return False
        try:
            return self.access.cluster.runtime.informer(kind.gvr).freshness.synced
        except UnknownKind:
            return False

    def count(self, gvr: GVR, namespace: str) -> int | None:
        """Return the number of objects of a cached type in a namespace, or None if the viewer may
        not list all of them.
        """
        if not self.sees_all(gvr, namespace):
            return None
        store = self.access.cluster.runtime.informer(gvr).store
        return indexes_of(store).by_namespace.count(namespace)

    def names(self, gvr: GVR) -> list[str]:
        """Return the names of the first visible objects of a type, see `entries`."""
        return [entry.key.name for entry in self.entries(gvr)[:MOST_SUGGESTIONS]]


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a server other than kube-apiserver, which a button of a step asks.

    - `name`: name of the field or part that shows the answer, with `template`.
    - `ask`: returns the answer. Failures are answers, too.
    """

    name: str
    template: str
    ask: Callable[[], Awaitable[Any]]


@dataclass(slots=True)
class FormState:
    """A draft while its form is built or submitted.

    - `documents`: the draft's manifests, by slot. `extra` documents belong to no slot.
    - `inputs`: entered values that their fields can't convert, by field name.
    - `refused`: values that the cluster refused and the reasons, by field name.
    - `shows_errors`: the step was submitted before, so missing values are errors.
    - `post`: the submitted form, and `files` its files. `act` is the submitted change of rows, such as
      `containers.0.remove`.
    - `focus`: name of the field or row to focus after the act.
    - `questions`: those that the act asks. `answers`: answers to questions, by name of the field.
    - `decided`: documents that a checkbox of another document added or removed.
    """

    context: WizardContext
    documents: dict[str, dict[str, Any]]
    inputs: dict[str, str] = field(default_factory=dict)
    refused: Refusals = field(default_factory=dict)
    shows_errors: bool = False
    post: QueryDict | None = None
    act: str = ""
    focus: str = ""
    questions: list[Question] = field(default_factory=list)
    answers: Mapping[str, Any] = field(default_factory=dict)
    decided: set[str] = field(default_factory=set)
    files: Files = field(default_factory=MultiValueDict)

    def renumber(self, prefix: str, order: Sequence[int | None]) -> None:
        """Move values with their rows. `order` contains the old index of each row, None for
        a new one.
        """
        self.inputs = _renumbered(self.inputs, prefix, order)
        self.refused = _renumbered(self.refused, prefix, order)


def _renumbered(values: dict[str, V], prefix: str, order: Sequence[int | None]) -> dict[str, V]:
    kept = {name: value for name, value in values.items() if not name.startswith(prefix)}
    for new, old in enumerate(order):
        start = f"{prefix}{old}."
        kept |= {
            f"{prefix}{new}.{name.removeprefix(start)}": value
            for name, value in values.items()
            if old is not None and name.startswith(start)
        }
    return kept


@dataclass(frozen=True, slots=True)
class FieldScope:
    """A place in one of the draft's documents.

    - `slot`: the document. `base`: the path where the paths of fields start.
    - `prefix`: prefix of the names of fields.
    - `floor`: number of steps of `base` that exist even without content, see `remove_at`.
    - `is_absent`: an optional mapping around it doesn't exist, so no field is missing.
    """

    state: FormState
    slot: str = ""
    base: Path = ()
    prefix: str = ""
    floor: int = 0
    is_absent: bool = False

    @property
    def document(self) -> dict[str, Any]:
        return self.state.documents.get(self.slot, {})

    def get(self, *path: str | int) -> Any:
        """Return the value at a path below `base`, or `ABSENT`."""
        return value_at(self.document, (*self.base, *path))

    def texts(self, *path: str | int) -> list[str]:
        """Return the strings in the list at a path."""
        found = self.get(*path)
        return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []

    def mappings(self, *path: str | int) -> list[Mapping[str, Any]]:
        """Return the mappings in the list at a path."""
        found = self.get(*path)
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    def has(self, *path: str | int) -> bool:
        return self.get(*path) is not ABSENT

    def within(self, path: Path, prefix: str = "", *, keeps: bool = False) -> "FieldScope":
        """Return the scope at a path below. With `keeps`, its mapping exists even without content."""
        base = (*self.base, *path)
        floor = len(base) if keeps else self.floor
        return replace(self, base=base, prefix=f"{self.prefix}{prefix}", floor=floor)

    def in_slot(self, slot: str) -> "FieldScope":
        """Return the scope of another document."""
        return FieldScope(self.state, slot, prefix=f"{self.prefix}{slot}.")
