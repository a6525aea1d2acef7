"""Create, find, rename and delete saved views. Synchronous: don't call these functions on the event
loop.

Each function runs in one transaction. Views that the user may not manage are treated as missing.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from console.saved.models import SavedView, Sharing

#: Maximum number of views of one holder, over all kinds.
MAX_VIEWS = 100
#: Seconds that default views are cached, since every list page needs them. Changes in this process
#: clear the cache.
CACHE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ViewOwner:
    """Current user. `manages`: the user may change the platform's views."""

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


class TooManyViews(Exception):
    """The holder already has `MAX_VIEWS` views."""


class NameTaken(Exception):
    """Another view of this list already has the name."""


def views_of(reader: ViewOwner, cluster: str, kind: str) -> Sequence[SavedView]:
    """Return the user's own views, then the platform's, each sorted by name."""
    found = SavedView.objects.filter(reader.readable, cluster=cluster, kind=kind)
    return sorted(found, key=lambda view: view.sharing == Sharing.PLATFORM)


def all_views(reader: ViewOwner, cluster: str) -> Sequence[SavedView]:
    """Return the views of all lists, sorted by kind, own views first, and name."""
    found = SavedView.objects.filter(reader.readable, cluster=cluster)
    return sorted(found, key=lambda view: (view.kind, view.sharing == Sharing.PLATFORM))


@dataclass(frozen=True, slots=True)
class DefaultQueries:
    """Default queries of a list by account; "" is the platform's default. `read` is the time of the
    query (`time.monotonic()`).
    """

    queries: Mapping[str, str]
    read: float

    def for_user(self, reader: ViewOwner) -> str | None:
        """Return the user's own default query, or else the platform's."""
        return self.queries.get(reader.account, self.queries.get(""))


_openings: dict[tuple[str, str], DefaultQueries] = {}


def cached_default_queries(cluster: str, kind: str) -> DefaultQueries | None:
    """Return the cached default queries, or None if they are missing or expired. Never blocks, so
    it may be called on the event loop.
    """
    found = _openings.get((cluster, kind))
    return found if found and time.monotonic() - found.read < CACHE_SECONDS else None


def load_default_queries(cluster: str, kind: str) -> DefaultQueries:
    """Read the default queries of a list from the database and cache them."""
    views = SavedView.objects.filter(cluster=cluster, kind=kind, opens=True)
    read = time.monotonic()
    queries = {
        view.holder: view.query
        for view in views.filter(sharing__in=(Sharing.OWN, Sharing.PLATFORM))
    }
    _openings[cluster, kind] = found = DefaultQueries(queries, read)
    return found


@transaction.atomic
def save(
    reader: ViewOwner, sharing: Sharing, cluster: str, kind: str, name: str, query: str
) -> SavedView:
    """Create a view, or replace the query of the view with this name.

    `sharing` must be own, or platform if the user manages platform views. Raise `TooManyViews` if the
    holder has too many views.
    """
    holder = reader.account if sharing is Sharing.OWN else ""
    owned = SavedView.objects.filter(sharing=sharing, holder=holder)
    known = owned.filter(cluster=cluster, kind=kind, name=name).first()
    if known is None and owned.count() >= MAX_VIEWS:
        raise TooManyViews
    view = known or SavedView(sharing=sharing, holder=holder, cluster=cluster, kind=kind, name=name)
    view.query, view.saved = query, timezone.now()
    view.save()
    transaction.on_commit(_openings.clear)
    return view


def _found(reader: ViewOwner, number: int) -> QuerySet[SavedView]:
    return SavedView.objects.filter(reader.managed, pk=number)


def rename(reader: ViewOwner, number: int, name: str) -> bool:
    """Rename a view. Return False if it doesn't exist. Raise `NameTaken` if the name is in use."""
    try:
        with transaction.atomic():
            return _found(reader, number).update(name=name) == 1
    except IntegrityError as error:
        raise NameTaken from error


def delete_view(reader: ViewOwner, number: int) -> bool:
    """Delete a view. Return False if it doesn't exist."""
    gone = _found(reader, number).delete()[0] == 1
    _openings.clear()
    return gone


def delete_views_of(account: str) -> None:
    """Delete the views of a deleted account, before its name can be used again."""
    SavedView.objects.filter(ViewOwner(account).own).delete()
    _openings.clear()


@transaction.atomic
def set_default(reader: ViewOwner, number: int, *, opens: bool) -> bool:
    """Set or clear a view as the default of its list. Return False if the view doesn't exist."""
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
