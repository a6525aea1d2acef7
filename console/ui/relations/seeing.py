"""Other objects as one viewer may see them beside an object.

Promises:
- Nothing of another object is told but by `Seeing`, which asks the viewer's rights first. A name that
  the shown object itself contains is no secret; whether there is such an object is one.
- Counts are of what the viewer may list.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from heapq import nsmallest
from typing import Any
from urllib.parse import urlencode

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from console.kube.gvr import GVR, Key
from console.kube.indexes import indexes_of
from console.kube.informer import Informer
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.access import Access
from console.ui.columns.links import Target, target_url
from console.ui.decisions import Denied, Readable, readable
from console.ui.kind import ResourceKind
from console.ui.links import list_url
from console.ui.relations.words import title_of
from console.ui.subject import Subject
from console.ui.text import visible
from console.ui.words import reason_text, translate

#: Objects of a kind that a panel shows; a link leads to all.
FIRST = 10
_NOBODY = Readable(frozenset())


@dataclass(frozen=True, slots=True)
class Line:
    """One object in a panel. `url` is "" where there is no page for this viewer. `severity` is "" where
    its state is not known; `note` says what it has to do with the shown object."""

    name: str
    namespace: str
    url: str
    severity: str = ""
    word: str | Promise = ""
    reason: str | Promise = ""
    note: str = ""
    created: datetime | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """The first objects of a kind, the worst first. `url`: the list of all `total`, "" for none."""

    title: str | Promise
    total: int
    lines: tuple[Line, ...]
    url: str = ""

    @property
    def more(self) -> int:
        return self.total - len(self.lines)


@dataclass(frozen=True)
class Seeing:
    """One type, as the viewer of `subject` may see it."""

    subject: Subject
    gvr: GVR

    @cached_property
    def kind(self) -> ResourceKind | None:
        return self.subject.access.cluster.kinds.of(self.gvr)

    @cached_property
    def readable(self) -> Readable:
        return _readable(self.gvr, self.kind, self.subject.access)

    @cached_property
    def informer(self) -> Informer[Any] | None:
        """None while nothing of the type is known."""
        informer = self.subject.informers.get(self.gvr)
        return informer if informer is not None and informer.freshness.synced else None

    @property
    def nothing(self) -> bool:
        """True if the viewer may not list the type anywhere."""
        return self.readable == _NOBODY

    def sees_all(self, namespace: str) -> bool:
        """True if the viewer may list all objects of the type there; of all namespaces for ""."""
        allowed = self.readable.namespaces
        return allowed is None or namespace in allowed

    def sees(self, key: Key) -> bool:
        return self.readable.sees(key)

    def get(self, key: Key) -> Entry[Any] | None:
        """The object, None for one that does not exist or may not be seen."""
        if self.informer is None or not self.sees(key):
            return None
        return self.informer.store.get(key)

    def lacks(self, key: Key) -> bool:
        """True if there is no such object, as far as the viewer may know."""
        return self.informer is not None and self.sees(key) and self.get(key) is None

    def among(self, entries: Iterable[Entry[Any]]) -> list[Entry[Any]]:
        """Those that may be seen."""
        if self.readable.namespaces is None:
            return list(entries)
        return [entry for entry in entries if self.sees(entry.key)]

    @property
    def everywhere(self) -> list[Entry[Any]]:
        """All of the type that may be seen; none while nothing is known. For types with few objects."""
        if self.informer is None:
            return []
        return self.among(self.informer.store.snapshot().entries.values())

    @property
    def beside(self) -> list[Entry[Any]]:
        """Those in the project of `subject`, likewise."""
        if self.informer is None:
            return []
        there = indexes_of(self.informer.store).by_namespace
        return self.among(there.get(self.subject.key.namespace))

    @property
    def names(self) -> list[str]:
        return sorted(entry.key.name for entry in self.beside)

    def url(self, key: Key) -> str:
        """The object's page, "" where there is none for the viewer or nobody knows yet. The page of what
        is never cached says itself if there is none."""
        if self.kind is None or not self.sees(key):
            return ""
        if not self.kind.private and self.get(key) is None:
            return ""
        return target_url(self.subject.cluster, Target(self.kind.segment, key.namespace, key.name))

    def all_url(self, *query: tuple[str, str]) -> str:
        """The kind's list, narrowed by `query`; "" where there is none."""
        if self.kind is None:
            return ""
        given = [pair for pair in query if pair[1]]
        url = list_url(self.subject.cluster, self.kind.segment)
        return f"{url}?{urlencode(given)}" if given else url

    def line(self, entry: Entry[Any], note: str = "") -> Line:
        status = self.kind.status(entry) if self.kind is not None else None
        return Line(
            name=visible(entry.key.name),
            namespace=_elsewhere(self.subject, entry.key),
            url=self.url(entry.key),
            severity=status.severity.value if status else "",
            word=translate(status.word) if status else "",
            reason=reason_text(status) if status else "",
            note=note,
            created=entry.projection.created,
        )

    def named(self, key: Key, note: str = "", *, required: bool = True) -> Line:
        """An object that the shown one names: with its state if that may be seen."""
        entry = self.get(key)
        if entry is not None:
            return self.line(entry, note)
        name, namespace = visible(key.name), _elsewhere(self.subject, key)
        if required and self.lacks(key):
            return Line(name, namespace, "", Severity.WARN.value, _("Missing"), note=note)
        return Line(name, namespace, self.url(key), note=note)

    def group(self, found: Collection[Entry[Any]], url: str = "", first: int = FIRST) -> Group:
        """Of objects that may be seen."""
        worst = nsmallest(first, found, key=self.rank)
        return Group(
            title_of(self.gvr), len(found), tuple(self.line(entry) for entry in worst), url
        )

    def rank(self, entry: Entry[Any]) -> tuple[int, Key]:
        status = self.kind.status(entry) if self.kind is not None else None
        return (status.severity.rank if status else Severity.OK.rank), entry.key


def _readable(gvr: GVR, kind: ResourceKind | None, access: Access) -> Readable:
    if kind is None:
        # The types without a page that are named here are all namespaced.
        return Readable(access.namespaces_where("list", gvr), access.names_where("list", gvr))
    try:
        return readable(kind, access)
    except Denied:
        return _NOBODY


def _elsewhere(subject: Subject, key: Key) -> str:
    """The namespace where it is another one than the shown object's."""
    return "" if key.namespace == subject.key.namespace else visible(key.namespace)
