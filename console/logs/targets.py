"""What an address names, as containers of pods."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from console.kube.errors import NotFound
from console.kube.gvr import PODS, Key
from console.logs.containers import chosen
from console.logs.opening import Wanted
from console.logs.query import LogQuery
from console.ui.access import Access
from console.ui.decisions import Denied, lacking
from console.ui.kind import ResourceKind
from console.ui.logs import READ_LOG
from console.ui.podspecs import Container, containers_of
from console.ui.reading import find_entry

#: Seconds that an object is waited for whose kind nobody has looked at yet.
FIND_WAIT = 2.0


@dataclass(frozen=True, slots=True)
class Target:
    """`containers`: those that there are to choose from. `wanted`: those whose logs are meant."""

    containers: Sequence[Container]
    wanted: Sequence[Wanted]


async def find_target(kind: ResourceKind, access: Access, key: Key, query: LogQuery) -> Target:
    """Raises `Denied`, `NotFound` for a pod that is not there, and `NoContainer`."""
    if not READ_LOG.granted(access, PODS, key):
        raise lacking(READ_LOG, PODS, key.namespace)
    pod = await _pod(kind, access, key)
    if not pod:
        return Target((), [Wanted(key, query.container, query.container)])
    found = [Wanted(key, one.name, one.name) for one in chosen(pod, query)]
    return Target(containers_of(pod), found)


async def _pod(kind: ResourceKind, access: Access, key: Key) -> Mapping[str, Any]:
    """The pod as the viewer may see it; nothing, if they may read its log alone."""
    try:
        entry = await find_entry(kind, access, key, seconds=FIND_WAIT)
    except Denied:
        return {}
    if entry is None:
        raise NotFound(404, "")
    return entry.original()
