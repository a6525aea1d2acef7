"""Sources of the displayed objects: the shared cache, or lists and single objects read as the
viewer.

`LiveState` describes the freshness of a source.
"""

from collections.abc import AsyncIterator, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from console.kube.errors import ApiError, Forbidden
from console.kube.gvr import Key
from console.kube.informer import Informer
from console.kube.livelist import LiveList
from console.kube.store import Entry
from console.kube.tables import TableReading, table_columns
from console.kube.transport import CALL_TIMEOUT
from console.ui.core.access import Access
from console.ui.core.custom_kinds import GenericKind, TableKind
from console.ui.core.kind import ResourceKind
from console.ui.core.permissions import Denied, NotLoaded, Readable, readable, whole_namespaces
from console.ui.fragments.empty_states import loading_block


@dataclass(frozen=True, slots=True)
class LiveState:
    """`state` is "live", "stale" since `since` (UTC), or "off" if no data was loaded yet.

    `problem` is the untranslated reason or "". Use `spoken` to display it.
    """

    state: str
    since: datetime | None = None
    problem: str = ""


LIVE = LiveState("live")


def live_state(informer: Informer[Any]) -> LiveState:
    freshness = informer.freshness
    if not freshness.synced:
        return LiveState("off", freshness.stale_since, freshness.problem)
    if freshness.stale_since is not None:
        return LiveState("stale", freshness.stale_since, freshness.problem)
    return LIVE


#: Maximum projects read as a viewer. Each needs one request, and one watch while the page is open.
MOST_PROJECTS = 30


class TooManyProjects(Exception):
    """The viewer has access to more projects than can be read, but not to all projects. `str()` is
    the message that asks the user to select some.
    """


def source_key(kind: ResourceKind, access: Access) -> Hashable:
    """Return a value that is equal for viewers who share an object source.

    Raise `UnknownKind` for a type that no longer exists.
    """
    # A restarted informer is a different source.
    return _shared(kind, access) or access.identity


def _shared(kind: ResourceKind, access: Access) -> Informer[Any] | None:
    """Return the cache's informer, or None if the kind is read as the viewer. Raise `UnknownKind`."""
    if kind.uncached:
        return None
    informer = access.cluster.runtime.informer(kind.gvr)
    refused = not informer.freshness.synced and informer.refusal is not None
    return None if refused and isinstance(kind, GenericKind) else informer


@contextmanager
def open_source(
    kind: ResourceKind,
    access: Access,
    namespaces: tuple[str, ...] = (),
    key: Key | None = None,
    allowed: Readable | None = None,
    *,
    alone: bool = False,
) -> Iterator[Informer[Any]]:
    """Open the object source of a kind for at least these namespaces. The objects may not be loaded
    yet.

    `key` is an object that the viewer can see (`check_visible`). It is the only object read if the
    viewer can't list the kind, or if `alone` is True. `allowed` contains the visible objects, if
    the caller already has them.

    Raise `UnknownKind` for a type that no longer exists. When reading as the viewer, raise
    `Denied` or `TooManyProjects`.
    """
    shared = _shared(kind, access)
    if shared is not None:
        yield shared
        return
    # Reading a table is not cheaper than its objects, so that a page reads only its own object.
    single = (alone or isinstance(kind, TableKind)) and kind.serves("get")
    if single and key is not None and access.can("get", kind.gvr, **key._asdict()):
        runtime = access.cluster.runtime
        table = _table_reading(kind, access, watched=False)
        found = runtime.live_object(kind.gvr, access.identity, key, **table)
    else:
        found = _as_viewer(kind, access, namespaces, key, allowed)
    with found:
        yield found


def _as_viewer(
    kind: ResourceKind,
    access: Access,
    namespaces: tuple[str, ...],
    key: Key | None,
    allowed: Readable | None,
) -> LiveList[Any]:
    runtime = access.cluster.runtime
    try:
        whole = whole_namespaces(kind, allowed or readable(kind, access), namespaces)
        wanted = namespaces or (("",) if whole is None else tuple(sorted(whole)))
        # Lists are watched while the page is open. Tables are listed again if that is not possible.
        unwatched = [one for one in wanted if not access.can("watch", kind.gvr, namespace=one)]
        if unwatched and not isinstance(kind, TableKind):
            raise Denied("watch", kind.gvr, unwatched[0])
    except Denied:
        if key is None:
            raise
        table = _table_reading(kind, access, watched=False)
        return runtime.live_object(kind.gvr, access.identity, key, **table)
    if len(wanted) > MOST_PROJECTS:
        text = _(
            "You can list these resources in at most %(count)s projects at a time. Select the "
            "projects to list."
        )
        raise TooManyProjects(text % {"count": MOST_PROJECTS})
    table = _table_reading(kind, access, watched=kind.serves("watch") and not unwatched)
    return runtime.live_list(kind.gvr, access.identity, wanted, **table)


def _table_reading(kind: ResourceKind, access: Access, *, watched: bool) -> dict[str, TableReading]:
    """Return the argument `table` for reading the kind, or nothing if it is not read as tables."""
    if not isinstance(kind, TableKind):
        return {}
    note = partial(access.cluster.kinds.customs.note_columns, kind.gvr)
    return {"table": TableReading(kind.view.namespaced, watched, note)}


async def with_columns(kind: ResourceKind, access: Access) -> ResourceKind:
    """Return the kind with the columns that the server shows for it.

    The columns are read as the viewer, on first use. Return the kind without columns if they can't
    be read: the list then reports the error.
    """
    if not isinstance(kind, TableKind) or kind.columns_known or not kind.serves("list"):
        return kind
    cluster = access.cluster
    try:
        whole = whole_namespaces(kind, readable(kind, access))
        namespace = "" if whole is None else min(whole)
        answer = await cluster.runtime.as_user(access.identity).get_columns(kind.gvr, namespace)
        cluster.kinds.customs.note_columns(kind.gvr, table_columns(answer))
    except (Denied, ApiError):
        return kind
    return cluster.kinds.find(kind.segment) or kind


@asynccontextmanager
async def open_loaded_source(
    kind: ResourceKind,
    access: Access,
    namespaces: tuple[str, ...] = (),
    key: Key | None = None,
    allowed: Readable | None = None,
    *,
    seconds: float,
    alone: bool = False,
) -> AsyncIterator[Informer[Any]]:
    """Open the object source like `open_source`, and wait up to `seconds` for the objects.

    A read with `alone` is a single request and uses the request timeout instead. Raise the
    exceptions of `open_source`, and `Denied` if kube-apiserver rejects the viewer's request.
    """
    if not kind.uncached:
        await access.cluster.runtime.wait_synced(kind.gvr, timeout=seconds)
    with open_source(kind, access, namespaces, key, allowed, alone=alone) as informer:
        if isinstance(informer, LiveList):
            try:
                await informer.wait(timeout=CALL_TIMEOUT if alone else seconds)
            except Forbidden as error:
                raise Denied(informer.refused_verb, kind.gvr) from error
        yield informer


def truncated_at(informer: Informer[Any]) -> int | None:
    """Return the number of objects read from a truncated list, or None if the list is complete."""
    cut = isinstance(informer, LiveList) and informer.truncated
    return len(informer.store) if cut else None


def check_access_not_denied(kind: ResourceKind, informer: Informer[Any]) -> None:
    """Raise `Denied` if kube-apiserver rejected the viewer's last request for these objects."""
    if isinstance(informer, LiveList) and informer.refusal is not None:
        raise Denied(informer.refused_verb, kind.gvr)


class ListNotLoaded(NotLoaded):
    """The kind's first list is not loaded, so it is unknown whether the object exists."""

    def __init__(self, kind: ResourceKind, informer: Informer[Any]) -> None:
        super().__init__()
        refused, problem = informer.refusal is not None, live_state(informer).problem
        block = loading_block(kind, problem, refused=refused)
        self._text = f"{block.text} {block.reason}".strip()

    def __str__(self) -> str:
        return self._text


def cached_entry(kind: ResourceKind, access: Access, key: Key, uid: str) -> Entry[Any] | None:
    """Return the current cache entry of a displayed object, or None if the cache does not contain
    the object with this UID. The caller must check access first.
    """
    informer = None if kind.uncached else access.cluster.runtime.informers().get(kind.gvr)
    entry = informer.store.get(key) if informer is not None else None
    return entry if entry is not None and entry.projection.uid == uid else None


async def find_entry(
    kind: ResourceKind, access: Access, key: Key, *, seconds: float
) -> Entry[Any] | None:
    """Return an object, or None if it does not exist. The caller must check access first.

    Raise the exceptions of `open_loaded_source`, and `ListNotLoaded`.
    """
    namespaces = (key.namespace,) if key.namespace else ()
    async with open_loaded_source(
        kind, access, namespaces, key, seconds=seconds, alone=True
    ) as informer:
        if informer.not_installed:
            return None
        entry = informer.store.get(key)
        if entry is None and not informer.freshness.synced:
            raise ListNotLoaded(kind, informer)
        return entry
