"""The objects of one type that a viewer can see, and how panels display them and references to
them.
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
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR, Key
from console.kube.indexes import indexes_of
from console.kube.informer import Informer
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.core.kind import ResourceKind
from console.ui.core.links import list_url
from console.ui.core.permissions import NOTHING, Readable, visible
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.core.words import reason_text, translate
from console.ui.lists.columns import LinkTarget, target_url

#: Texts by `Reference.how`.
HOW: dict[str, str | Promise] = {
    "account": gettext_lazy("runs as"),
    "backend": gettext_lazy("sends traffic to"),
    "bound": gettext_lazy("bound to"),
    "certificate": gettext_lazy("certificate"),
    "class": gettext_lazy("class"),
    "dns": gettext_lazy("DNS names of pods"),
    "endpoints": gettext_lazy("endpoints of"),
    "env": gettext_lazy("environment of"),
    "env-from": gettext_lazy("environment of"),
    "gateway": gettext_lazy("attached to"),
    "node": gettext_lazy("runs on"),
    "priority": gettext_lazy("priority"),
    "pull": gettext_lazy("image pull secret"),
    "role": gettext_lazy("grants"),
    "scales": gettext_lazy("scales"),
    "secret": gettext_lazy("token or password"),
    "source": gettext_lazy("copy of"),
    "subject": gettext_lazy("grants to"),
    "volume": gettext_lazy("volume"),
}


def how_text(how: str, where: str = "") -> str:
    """Return a description such as `volume config`, or "" if the reference needs none."""
    return f"{HOW.get(how, '')} {escape_invisible(where)}".strip()


#: Maximum objects of a kind in a panel. A link leads to all.
FIRST = 10


@dataclass(frozen=True, slots=True)
class ObjectLine:
    """An object in a panel.

    `url` is "" if the viewer can't open its page. `severity` is "" if its state is unknown.
    `note` describes the relation to the subject.
    """

    name: str
    namespace: str
    url: str
    severity: str = ""
    word: str | Promise = ""
    reason: str | Promise = ""
    note: str = ""
    created: datetime | None = None


@dataclass(frozen=True, slots=True)
class ObjectGroup:
    """The first objects of a kind, the worst first. `url` is the list of all `total` objects, or
    "".
    """

    title: str | Promise
    total: int
    lines: tuple[ObjectLine, ...]
    url: str = ""

    @property
    def more(self) -> int:
        return self.total - len(self.lines)


@dataclass(frozen=True)
class VisibleType:
    """Objects of one type, as visible to the viewer of `subject`."""

    subject: Subject
    gvr: GVR

    @cached_property
    def kind(self) -> ResourceKind | None:
        return self.subject.access.cluster.kinds.of(self.gvr)

    @property
    def title(self) -> str | Promise:
        """The title of the kind, or the Kubernetes resource name for types without pages."""
        return self.kind.title if self.kind is not None else self.gvr.resource

    @property
    def singular(self) -> str | Promise:
        """The singular of the kind, or the Kubernetes resource name for types without pages."""
        return self.kind.singular if self.kind is not None else self.gvr.resource

    @cached_property
    def readable(self) -> Readable:
        access = self.subject.access
        if self.kind is not None:
            return visible(self.kind, access)
        # All types without a page that are used here are namespaced.
        return Readable(
            access.namespaces_where("list", self.gvr), access.names_where("list", self.gvr)
        )

    @cached_property
    def informer(self) -> Informer[Any] | None:
        """The synced informer, or None."""
        informer = self.subject.informers.get(self.gvr)
        return informer if informer is not None and informer.freshness.synced else None

    @property
    def not_listable(self) -> bool:
        """True if the viewer can't list the type in any namespace."""
        return self.readable == NOTHING

    def sees_all(self, namespace: str) -> bool:
        """Return True if the viewer can list all objects of the type in a namespace, or, for "", in
        all namespaces.
        """
        allowed = self.readable.namespaces
        return allowed is None or namespace in allowed

    def get(self, key: Key) -> Entry[Any] | None:
        """Return an object, or None if it does not exist or is not visible."""
        if self.informer is None or not self.readable.includes(key):
            return None
        return self.informer.store.get(key)

    def is_missing(self, key: Key) -> bool:
        """Return True if the viewer could see the object and it does not exist."""
        return self.informer is not None and self.readable.includes(key) and self.get(key) is None

    def only_visible(self, entries: Iterable[Entry[Any]]) -> list[Entry[Any]]:
        """Return the visible entries."""
        if self.readable.namespaces is None:
            return list(entries)
        return [entry for entry in entries if self.readable.includes(entry.key)]

    @property
    def all_visible(self) -> list[Entry[Any]]:
        """All visible objects of the type, or none if they are not loaded. For types with few
        objects.
        """
        if self.informer is None:
            return []
        return self.only_visible(self.informer.store.snapshot().entries.values())

    @property
    def in_namespace(self) -> list[Entry[Any]]:
        """The visible objects in the subject's namespace, or none if they are not loaded."""
        if self.informer is None:
            return []
        there = indexes_of(self.informer.store).by_namespace
        return self.only_visible(there.get(self.subject.key.namespace))

    @property
    def names(self) -> list[str]:
        return sorted(entry.key.name for entry in self.in_namespace)

    def url(self, key: Key) -> str:
        """Return the object's page, or "" if it has none or the object is unknown.

        Objects of uncached kinds are never cached, so their pages report themselves if the object
        does not exist. The pages of kinds with `links_unchecked` also check the permission.
        """
        if self.kind is None:
            return ""
        if not self.kind.links_unchecked:
            if not self.readable.includes(key):
                return ""
            if not self.kind.uncached and self.get(key) is None:
                return ""
        return target_url(
            self.subject.cluster, LinkTarget(self.kind.segment, key.namespace, key.name)
        )

    def all_url(self, *query: tuple[str, str]) -> str:
        """Return the kind's list, filtered by `query`, or "" if the kind has no list."""
        if self.kind is None:
            return ""
        given = [pair for pair in query if pair[1]]
        url = list_url(self.subject.cluster, self.kind.segment)
        return f"{url}?{urlencode(given)}" if given else url

    def line(self, entry: Entry[Any], note: str = "") -> ObjectLine:
        status = self.kind.status(entry) if self.kind is not None else None
        return ObjectLine(
            name=escape_invisible(entry.key.name),
            namespace=_elsewhere(self.subject, entry.key),
            url=self.url(entry.key),
            severity=status.severity.value if status else "",
            word=translate(status.word) if status else "",
            reason=reason_text(status) if status else "",
            note=note,
            created=entry.projection.created,
        )

    def named(self, key: Key, note: str = "", *, required: bool = True) -> ObjectLine:
        """Return the line of an object that the subject refers to, with its state if it is visible."""
        entry = self.get(key)
        if entry is not None:
            return self.line(entry, note)
        name, namespace = escape_invisible(key.name), _elsewhere(self.subject, key)
        if required and self.is_missing(key):
            return ObjectLine(name, namespace, "", Severity.WARN.value, _("Missing"), note=note)
        return ObjectLine(name, namespace, self.url(key), note=note)

    def group(
        self, found: Collection[Entry[Any]], url: str = "", first: int = FIRST
    ) -> ObjectGroup:
        """Return a group of visible objects."""
        worst = nsmallest(first, found, key=self.rank)
        return ObjectGroup(self.title, len(found), tuple(self.line(entry) for entry in worst), url)

    def rank(self, entry: Entry[Any]) -> tuple[int, Key]:
        status = self.kind.status(entry) if self.kind is not None else None
        return (status.severity.rank if status else Severity.OK.rank), entry.key


def _elsewhere(subject: Subject, key: Key) -> str:
    """Return the namespace if it differs from the subject's, else ""."""
    return "" if key.namespace == subject.key.namespace else escape_invisible(key.namespace)
