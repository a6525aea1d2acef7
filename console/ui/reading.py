"""Where the objects of a kind come from: the shared cache, or what is read as one viewer alone.

As a viewer is read what the cache must never hold, and custom resources that its own identity may not
list. Whoever shows a kind asks here and need not know which. What is read as a viewer lasts as long as
the `with` block that asked for it, and nobody else is shown any of it.
"""

from collections.abc import AsyncIterator, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from django.utils.translation import gettext as _

from console.kube.client import CALL_TIMEOUT
from console.kube.errors import Forbidden
from console.kube.gvr import Key
from console.kube.informer import Informer
from console.kube.livelist import LiveList
from console.kube.store import Entry
from console.ui.access import Access
from console.ui.decisions import Denied, NotArrived, Readable, readable, whole_namespaces
from console.ui.freshness import live_state
from console.ui.generic import GenericKind
from console.ui.kind import ResourceKind
from console.ui.states import loading_block

#: Projects that are read as a viewer at a time: each is a request, and a watch while the page is open.
MOST_PROJECTS = 30


class TooManyProjects(Exception):
    """The viewer sees so many projects, though not all, that some must be chosen. `str()` says so."""


def source_of(kind: ResourceKind, access: Access) -> Hashable:
    """Equal for viewers who read the kind together. Raises `UnknownKind` for a type that is gone."""
    # An informer that begins anew is another source.
    return _shared(kind, access) or access.identity


def _shared(kind: ResourceKind, access: Access) -> Informer[Any] | None:
    """The cache's informer, None for what is read as the viewer. Raises `UnknownKind`."""
    if kind.private:
        return None
    informer = access.cluster.runtime.informer(kind.gvr)
    refused = not informer.freshness.synced and informer.refusal is not None
    return None if refused and isinstance(kind, GenericKind) else informer


@contextmanager
def objects_of(
    kind: ResourceKind,
    access: Access,
    namespaces: tuple[str, ...] = (),
    key: Key | None = None,
    allowed: Readable | None = None,
    *,
    alone: bool = False,
) -> Iterator[Informer[Any]]:
    """What holds the kind's objects, of these namespaces at least, whether or not they are there yet.

    `key`: one that the viewer may see (`check_seen`) is enough, for whoever may not list the others, and
    `alone` for everybody. `allowed`: what they may list, where that is decided already.

    Raises `UnknownKind` for a type that is gone and, for what is read as the viewer, `Denied` and
    `TooManyProjects`.
    """
    shared = _shared(kind, access)
    if shared is not None:
        yield shared
        return
    if alone and key is not None and access.can("get", kind.gvr, **key._asdict()):
        found = access.cluster.runtime.live_object(kind.gvr, access.identity, key)
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
        # What is listed is followed while somebody looks.
        for namespace in wanted:
            if not access.can("watch", kind.gvr, namespace=namespace):
                raise Denied("watch", kind.gvr, namespace)
    except Denied:
        if key is None:
            raise
        return runtime.live_object(kind.gvr, access.identity, key)
    if len(wanted) > MOST_PROJECTS:
        text = _("These are read in at most %(count)s projects at a time. Choose some.")
        raise TooManyProjects(text % {"count": MOST_PROJECTS})
    return runtime.live_list(kind.gvr, access.identity, wanted)


@asynccontextmanager
async def listed(
    kind: ResourceKind,
    access: Access,
    namespaces: tuple[str, ...] = (),
    key: Key | None = None,
    allowed: Readable | None = None,
    *,
    seconds: float,
    alone: bool = False,
) -> AsyncIterator[Informer[Any]]:
    """As `objects_of`, and so long at most it waits for the objects to be there; what is read `alone` is
    a request as any other, and given the time of one.

    Raises as `objects_of`, and `Denied` if kube-apiserver does not let the viewer see them.
    """
    if not kind.private:
        await access.cluster.runtime.wait_synced(kind.gvr, timeout=seconds)
    with objects_of(kind, access, namespaces, key, allowed, alone=alone) as informer:
        if isinstance(informer, LiveList):
            try:
                await informer.wait(timeout=CALL_TIMEOUT if alone else seconds)
            except Forbidden as error:
                raise Denied(informer.refused_verb, kind.gvr) from error
        yield informer


def cut_of(informer: Informer[Any]) -> int | None:
    """How many objects were read of a list that may have more; None for one that was read whole."""
    cut = isinstance(informer, LiveList) and informer.truncated
    return len(informer.store) if cut else None


def check_not_refused(kind: ResourceKind, informer: Informer[Any]) -> None:
    """Raises `Denied` if kube-apiserver has last said that the viewer may not see these objects."""
    if isinstance(informer, LiveList) and informer.refusal is not None:
        raise Denied(informer.refused_verb, kind.gvr)


class NotListed(NotArrived):
    """Nobody knows yet whether there is such an object."""

    def __init__(self, kind: ResourceKind, informer: Informer[Any]) -> None:
        super().__init__()
        refused, problem = informer.refusal is not None, live_state(informer).problem
        block = loading_block(kind, problem, refused=refused)
        self._text = f"{block.text} {block.reason}".strip()

    def __str__(self) -> str:
        return self._text


def cached_entry(kind: ResourceKind, access: Access, key: Key, uid: str) -> Entry[Any] | None:
    """The object that was shown, as the cache has it now; None for one that it does not have. Whether the
    viewer may see it is decided before."""
    informer = access.cluster.runtime.informers().get(kind.gvr)
    entry = informer.store.get(key) if informer is not None else None
    return entry if entry is not None and entry.projection.uid == uid else None


async def find_entry(
    kind: ResourceKind, access: Access, key: Key, *, seconds: float
) -> Entry[Any] | None:
    """One object, None if there is none. Whether the viewer may see it is decided before.

    Raises as `listed`, and `NotListed`.
    """
    namespaces = (key.namespace,) if key.namespace else ()
    async with listed(kind, access, namespaces, key, seconds=seconds, alone=True) as informer:
        entry = informer.store.get(key)
        if entry is None and not informer.freshness.synced:
            raise NotListed(kind, informer)
        return entry
