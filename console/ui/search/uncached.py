"""Search in types that the cache doesn't follow, read as the viewer.

Only the metadata of the objects is read, and only their names and labels are searched: annotations
of a Secret may repeat its values. The number of types, requests and objects and the time are
limited. Types that are not or not completely searched are returned with the reason.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from console.kube.errors import ApiError
from console.kube.gvr import Key
from console.kube.projections.common import as_utc
from console.kube.store import UNREADABLE
from console.ui.core.access import Access
from console.ui.core.kind import KindView, ResourceKind
from console.ui.core.permissions import Denied, whole_namespaces
from console.ui.core.text import SplitName
from console.ui.lists.columns import LinkTarget, target_url
from console.ui.search.matches import matched_texts, metadata_fields
from console.ui.search.query import SearchQuery
from console.ui.search.search import Hit, HitGroup, Searchable, rank_of

#: Maximum types of a search, requests of a type and of a search, objects of a request, requests at
#: the same time, and seconds.
MOST_TYPES, MOST_PLACES, MOST_REQUESTS, MOST_OBJECTS, AT_ONCE, SECONDS = 60, 10, 120, 500, 8, 3.0


@dataclass(frozen=True, slots=True)
class NotSearched:
    """A kind that was not searched, or not completely, and the reason."""

    kind: KindView
    reason: str | Promise


class _Meta(msgspec.Struct):
    name: str
    namespace: str = ""
    labels: dict[str, str] | None = None
    creationTimestamp: datetime | None = None


class _Object(msgspec.Struct):
    metadata: _Meta


class _ListMeta(msgspec.Struct):
    token: str = msgspec.field(name="continue", default="")


class _List(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    items: list[msgspec.Raw] | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """The objects of a type, and True in `cut` if there are more."""

    objects: Sequence[_Meta]
    cut: bool = False


async def search_uncached(
    query: SearchQuery, kinds: Sequence[Searchable], access: Access, *, first: int
) -> tuple[list[tuple[int, HitGroup]], list[NotSearched]]:
    """Return the rank and the results of each kind with results, and the kinds that were not
    searched completely.
    """
    skipped = [
        NotSearched(one.kind.view, _("too many types to search")) for one in kinds[MOST_TYPES:]
    ]
    groups: list[tuple[int, HitGroup]] = []
    running, requests = asyncio.Semaphore(AT_ONCE), MOST_REQUESTS
    tasks: dict[asyncio.Task[_Found], Searchable] = {}
    for one in kinds[:MOST_TYPES]:
        places = _places(one)
        if len(places) > MOST_PLACES or len(places) > requests:
            skipped.append(NotSearched(one.kind.view, _("too many projects to search")))
            continue
        requests -= len(places)
        tasks[asyncio.create_task(_read(one.kind, places, access, running))] = one
    if not tasks:
        return groups, skipped
    done, late = await asyncio.wait(tasks, timeout=SECONDS)
    for task in late:
        task.cancel()
        skipped.append(NotSearched(tasks[task].kind.view, _("the cluster did not respond in time")))
    for task, one in tasks.items():
        if task not in done:
            continue
        try:
            found = task.result()
        except ApiError:
            skipped.append(NotSearched(one.kind.view, _("the cluster rejected the request")))
            continue
        groups += _group(query, one, found.objects, access, first)
        if found.cut:
            text = _("too many objects to search all of them")
            skipped.append(NotSearched(one.kind.view, text))
    return groups, skipped


def _places(one: Searchable) -> tuple[str, ...]:
    """Return the namespaces to list, "" for all. Objects that are visible by name are left out."""
    try:
        whole = whole_namespaces(one.kind, one.readable)
    except Denied:
        return ()
    return ("",) if whole is None else tuple(sorted(whole))


async def _read(
    kind: ResourceKind, places: Sequence[str], access: Access, running: asyncio.Semaphore
) -> _Found:
    """Return the metadata of the objects. Raise `ApiError`."""
    client = access.cluster.runtime.as_user(access.identity)
    objects: list[_Meta] = []
    cut = False
    for namespace in places:
        async with running:
            body = await client.list_metadata(kind.gvr, namespace, MOST_OBJECTS)
        try:
            page = msgspec.json.decode(body, type=_List)
        except UNREADABLE:
            continue
        items = page.items or []
        cut = cut or bool(page.metadata.token) or len(items) > MOST_OBJECTS
        objects += _readable(items[:MOST_OBJECTS])
    return _Found(objects, cut)


def _readable(raws: Sequence[msgspec.Raw]) -> Iterator[_Meta]:
    for raw in raws:
        try:
            meta = msgspec.json.decode(raw, type=_Object).metadata
        except UNREADABLE:
            continue
        # Only such objects have a page.
        if meta.name and "/" not in meta.name:
            yield meta


def _group(
    query: SearchQuery, one: Searchable, objects: Sequence[_Meta], access: Access, first: int
) -> Iterator[tuple[int, HitGroup]]:
    kind, words = one.kind, query.words_for(one.kind)
    found = sorted(
        (rank_of(meta.name.casefold(), words), len(meta.name), meta.name, meta.namespace, meta)
        for meta in {(meta.namespace, meta.name): meta for meta in objects}.values()
        if one.readable.includes(Key(meta.namespace, meta.name))
        and kind.view.namespaced is bool(meta.namespace)
        and _fits(meta, words, query)
    )
    if found:
        hits = tuple(_hit(kind, row[-1], words, query, access) for row in found[:first])
        url = query.list_of(kind, access.cluster.name).url
        yield found[0][0], HitGroup(kind.view, hits, len(found), url)


def _fits(meta: _Meta, words: Sequence[str], query: SearchQuery) -> bool:
    labels = meta.labels or {}
    texts = [meta.name.casefold(), *(f"{key}={value}".casefold() for key, value in labels.items())]
    if not all(any(word in text for text in texts) for word in words):
        return False
    requirements = (one for selector in query.selectors for one in selector.requirements)
    return all(one.matches(labels) for one in requirements)


def _hit(
    kind: ResourceKind, meta: _Meta, words: Sequence[str], query: SearchQuery, access: Access
) -> Hit:
    fields = metadata_fields(meta.name, meta.labels)
    return Hit(
        name=SplitName(meta.name, ""),
        namespace=meta.namespace,
        status=None,
        created=as_utc(meta.creationTimestamp),
        url=target_url(access.cluster.name, LinkTarget(kind.segment, meta.namespace, meta.name)),
        matches=matched_texts(fields, words, query),
    )
