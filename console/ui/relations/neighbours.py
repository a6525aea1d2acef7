"""The related objects of an object: owners, owned objects, references and selectors, in both
directions.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from console.kube.gvr import GVR, PODS, Key
from console.kube.store import Entry
from console.ui.relations.naming import Reference
from console.ui.relations.owning import owned_by, owners_of
from console.ui.relations.references import references, referring_types
from console.ui.relations.seeing import ObjectLine, VisibleType
from console.ui.relations.selecting import pods_selected, selecting_types
from console.ui.relations.usedby import used_by
from console.ui.relations.words import how_text, singular_of
from console.ui.subject import Subject

#: Maximum objects shown of each sort: about 30 including the object itself and its owners.
MOST_USERS, MOST_OWNED, MOST_OF_THOSE, MOST_USED = 7, 6, 5, 7


@dataclass(frozen=True, slots=True)
class RelatedObject:
    """An object on the map.

    `column` is 0 for the object itself and negative for owners and users. `of` is the index of
    the object to which this one is connected. `says` describes the relation.
    """

    column: int
    kind: str | Promise
    line: ObjectLine
    of: int
    says: str


class RelatedObjects:
    """The related objects of a subject. `found[0]` is the object itself. `more` contains the number
    of omitted objects by column.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self.found: list[RelatedObject] = []
        self.more: dict[int, int] = {}
        self._above = list(owners_of(subject))
        self._mentions: dict[tuple[GVR, Key], list[Reference]] = {}
        for ref in references(subject.kind.gvr, subject.entry):
            self._mentions.setdefault((ref.gvr, ref.key), []).append(ref)
        self._add(0, subject.kind.gvr, self._line(subject.kind.gvr, subject.entry), 0, "")
        self._owners()
        self._users()
        self._owned()
        self._used()

    def _add(self, column: int, gvr: GVR, line: ObjectLine, of: int, says: str) -> int:
        self.found.append(RelatedObject(column, singular_of(gvr), line, of, says))
        return len(self.found) - 1

    def _line(self, gvr: GVR, entry: Entry[Any]) -> ObjectLine:
        return VisibleType(self._subject, gvr).line(entry)

    def _owners(self) -> None:
        below = 0
        for at, (gvr, key) in enumerate(self._above, start=1):
            line = VisibleType(self._subject, gvr).named(key, required=False)
            below = self._add(-at, gvr, line, below, _("owns"))

    def _users(self) -> None:
        kind = self._subject.kind
        by_name, by_selector = referring_types(kind), selecting_types(kind)
        found = [
            (gvr, entry)
            for gvr, entries in used_by(self._subject, by_name, by_selector)
            for entry in entries
        ]
        # A workload represents the objects it created, and no object is shown twice.
        uids = {entry.projection.uid for _gvr, entry in found} - {""}
        users = [
            (gvr, entry)
            for gvr, entry in found
            if getattr(entry.projection, "owner_uid", "") not in uids
            and (gvr, entry.key) not in self._above
            and (gvr, entry.key) not in self._mentions
        ]
        for gvr, entry in self._first(users, MOST_USERS, -1):
            says = _("selects") if gvr in by_selector else _("uses")
            self._add(-1, gvr, self._line(gvr, entry), 0, says)

    def _owned(self) -> None:
        """Add the owned and selected objects, and the objects that those own."""
        below = []
        children = self._children(self._subject.kind.gvr, self._subject.entry)
        for gvr, entry, says in self._first(children, MOST_OWNED, 1):
            place = self._add(1, gvr, self._line(gvr, entry), 0, says)
            below += [(place, *child) for child in self._children(gvr, entry)]
        for place, gvr, entry, says in self._first(below, MOST_OF_THOSE, 2):
            self._add(2, gvr, self._line(gvr, entry), place, says)

    def _children(self, owner: GVR, entry: Entry[Any]) -> list[tuple[GVR, Entry[Any], str]]:
        kind = VisibleType(self._subject, owner).kind
        found = [
            (gvr, child, _("owns"))
            for gvr in (kind.owns if kind is not None else ())
            for child in owned_by(entry, VisibleType(self._subject, gvr))
        ]
        pods = VisibleType(self._subject, PODS)
        selector = kind.pod_selector(entry) if kind is not None and kind.selects_pods else None
        if selector is not None and pods.informer is not None:
            chosen = pods.only_visible(pods_selected(selector, entry.key.namespace, pods.informer))
            found += [(PODS, pod, _("selects")) for pod in sorted(chosen, key=pods.rank)]
        return found

    def _used(self) -> None:
        for (gvr, key), refs in self._first(self._mentions.items(), MOST_USED, 1):
            required = not all(ref.optional for ref in refs)
            line = VisibleType(self._subject, gvr).named(key, required=required)
            self._add(1, gvr, line, 0, how_text(refs[0].how, refs[0].where))

    def _first(self, found: Iterable[Any], most: int, column: int) -> Iterator[Any]:
        listed = list(found)
        if len(listed) > most:
            self.more[column] = self.more.get(column, 0) + len(listed) - most
        return iter(listed[:most])
