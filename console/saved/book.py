"""Keeping views: saving, finding, renaming, forgetting. Synchronous: call it off the loop.

Each function is one transaction. What somebody may not manage is not found.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from console.saved.models import SavedView, Sharing

#: Views of one holder, over all kinds.
MOST = 100


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


def opening(reader: Reader, cluster: str, kind: str) -> str | None:
    """The query that the list opens with, if somebody chose one; the reader's own choice counts first."""
    found = SavedView.objects.filter(reader.readable, cluster=cluster, kind=kind, opens=True)
    queries = {view.sharing: view.query for view in found}
    return queries.get(Sharing.OWN, queries.get(Sharing.PLATFORM))


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
    return _found(reader, number).delete()[0] == 1


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
    return True
