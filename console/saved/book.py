"""Keeping views: saving, finding, renaming, forgetting. Synchronous: call it off the loop.

Each function is one transaction. What somebody may not manage is not found.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from console.saved.models import SavedView, Sharing

#: Views of one holder, over all kinds.
MOST = 100
#: Seconds for which what a list opens with is remembered: every list asks. A change in this process
#: counts at once.
FRESH = 5.0


@dataclass(frozen=True, slots=True)
class Reader:
    """Who asks. `manages`: they may change the platform's views."""

    account: str
    manages: bool = False

    @property
    def own(self) -> Q:
        return Q(sharing=Sharing.OWN, holder=self.account)

    @property
    def readable(self) -> Q:
        return self.own | Q(sharing=Sharing.PLATFORM)

    @property
    def managed(self) -> Q:
        return self.readable if self.manages else self.own


class Full(Exception):
    """There are `MOST` views already."""


class NameTaken(Exception):
    """Another view of this list has the name."""


def views_of(reader: Reader, cluster: str, kind: str) -> Sequence[SavedView]:
    """Own ones first, then the platform's, each by name."""
    found = SavedView.objects.filter(reader.readable, cluster=cluster, kind=kind)
    return sorted(found, key=lambda view: view.sharing == Sharing.PLATFORM)


def all_views(reader: Reader, cluster: str) -> Sequence[SavedView]:
    """Those of all lists, by kind, and of each as `views_of`."""
    found = SavedView.objects.filter(reader.readable, cluster=cluster)
    return sorted(found, key=lambda view: (view.kind, view.sharing == Sharing.PLATFORM))


@dataclass(frozen=True, slots=True)
class Openings:
    """The queries that one list opens with, by the account whose choice it is; "" is the platform's.
    `read`: when that was so (`time.monotonic()`)."""

    queries: Mapping[str, str]
    read: float

    def of(self, reader: Reader) -> str | None:
        """The reader's own choice counts first."""
        return self.queries.get(reader.account, self.queries.get(""))


_openings: dict[tuple[str, str], Openings] = {}


def known_openings(cluster: str, kind: str) -> Openings | None:
    """Those that were read a moment ago, if they were. Never waits: it may be called on the loop."""
    found = _openings.get((cluster, kind))
    return found if found and time.monotonic() - found.read < FRESH else None


def openings(cluster: str, kind: str) -> Openings:
    """Those of a list now."""
    views = SavedView.objects.filter(cluster=cluster, kind=kind, opens=True)
    read = time.monotonic()
    queries = {
        view.holder: view.query
        for view in views.filter(sharing__in=(Sharing.OWN, Sharing.PLATFORM))
    }
    _openings[cluster, kind] = found = Openings(queries, read)
    return found


@transaction.atomic
def save(
    reader: Reader, sharing: Sharing, cluster: str, kind: str, name: str, query: str
) -> SavedView:
    """Makes a view, or gives the one of this name the query. Raises `Full`; `sharing` is own, or the
    platform's for those who manage it."""
    holder = reader.account if sharing is Sharing.OWN else ""
    owned = SavedView.objects.filter(sharing=sharing, holder=holder)
    known = owned.filter(cluster=cluster, kind=kind, name=name).first()
    if known is None and owned.count() >= MOST:
        raise Full
    view = known or SavedView(sharing=sharing, holder=holder, cluster=cluster, kind=kind, name=name)
    view.query, view.saved = query, timezone.now()
    view.save()
    transaction.on_commit(_openings.clear)
    return view


def _found(reader: Reader, number: int) -> QuerySet[SavedView]:
    return SavedView.objects.filter(reader.managed, pk=number)


def rename(reader: Reader, number: int, name: str) -> bool:
    """False if there is no such view. Raises `NameTaken`."""
    try:
        with transaction.atomic():
            return _found(reader, number).update(name=name) == 1
    except IntegrityError as error:
        raise NameTaken from error


def forget(reader: Reader, number: int) -> bool:
    """False if there is no such view."""
    gone = _found(reader, number).delete()[0] == 1
    _openings.clear()
    return gone


def forget_own(account: str) -> None:
    """Those of somebody who is there no more, before the name is free for somebody else."""
    SavedView.objects.filter(Reader(account).own).delete()
    _openings.clear()


@transaction.atomic
def choose(reader: Reader, number: int, *, opens: bool) -> bool:
    """Makes it the one that its list opens with, or not. False if there is no such view."""
    view = _found(reader, number).first()
    if view is None:
        return False
    same = SavedView.objects.filter(
        sharing=view.sharing, holder=view.holder, cluster=view.cluster, kind=view.kind
    )
    same.update(opens=False)
    if opens:
        same.filter(pk=number).update(opens=True)
    transaction.on_commit(_openings.clear)
    return True
