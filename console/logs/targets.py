"""Resolve a log URL to containers of a pod, a workload, a service or a label selector."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from console.kube.errors import NotFound
from console.kube.gvr import PODS, Key
from console.kube.selectors import LabelSelector, parse_labels
from console.kube.store import Entry
from console.logs.containers import NoContainer, chosen
from console.logs.opening import Wanted
from console.logs.query import EVERY, LogQuery
from console.ui.access import Access
from console.ui.actions import Permission
from console.ui.decisions import Denied, check_seen
from console.ui.kind import ResourceKind
from console.ui.logs import READ_LOG, has_logs
from console.ui.podspecs import Container, containers_of
from console.ui.reading import find_entry
from console.ui.relations.selecting import pods_selected
from console.views.deciding import check_right

#: Seconds to wait for the object if the cache of its kind is not loaded yet.
FIND_WAIT = 2.0
#: Maximum number of logs that are merged. The newest pods are used.
MOST = 30
LIST = Permission("list")


@dataclass(frozen=True, slots=True)
class Wanteds:
    """Containers whose logs are shown. `left_out`: number of pods over the limit, which are not
    shown.
    """

    found: Sequence[Wanted]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Target:
    """The containers that a log page or socket shows.

    `containers`: choices for the user. `now`: returns the containers to read at this moment,
    which can change if several pods are selected (`group`). `label`: the label selector of a
    workload or service, "" if the user isn't allowed to list pods.
    """

    containers: Sequence[Container]
    current: Callable[[], Wanteds]
    group: bool = False
    label: str = ""


async def find_target(kind: ResourceKind, access: Access, key: Key, query: LogQuery) -> Target:
    """Resolve `key` to its containers, or the pods that `query.label` selects if `key` has no name.

    Raise `Denied`, `NotFound` or `NoContainer`.
    """
    if not key.name:
        return await _of_labels(access, key.namespace, query)
    if kind.gvr == PODS:
        return await _of_pod(kind, access, key, query)
    if not has_logs(kind):
        raise NotFound(404, "")
    check_seen(kind, access, key)
    _check_any(access, key.namespace)
    entry = await find_entry(kind, access, key, seconds=FIND_WAIT)
    if entry is None:
        raise NotFound(404, "")
    selector = kind.pod_selector(entry)

    def now() -> Wanteds:
        return _selected(access, key.namespace, selector, query) if selector else Wanteds(())

    lists = selector is not None and LIST.granted(access, PODS, Key(key.namespace, ""))
    label = entry.projection.selector if lists else ""
    return Target(containers_of(entry.original()), now, group=True, label=label)


def _check_any(access: Access, namespace: str) -> None:
    """Raise `Denied` if the user can't read any pod log in `namespace`."""
    single = access.names_where("get", PODS, "log")
    if not any(one.namespace in ("", namespace) for one in single):
        check_right(READ_LOG, access, PODS, Key(namespace, ""))


async def _of_labels(access: Access, namespace: str, query: LogQuery) -> Target:
    check_right(LIST, access, PODS, Key(namespace, ""))
    _check_any(access, namespace)
    selector = parse_labels(query.label)
    await access.cluster.runtime.wait_synced(PODS, timeout=FIND_WAIT)
    pods = pods_selected(selector, namespace, access.cluster.runtime.informer(PODS))
    found = (
        one for entry in sorted(pods, key=_age)[:MOST] for one in containers_of(entry.original())
    )
    containers = {one.name: one for one in found}
    now = partial(_selected, access, namespace, selector, query)
    return Target([*containers.values()], now, group=True)


async def _of_pod(kind: ResourceKind, access: Access, key: Key, query: LogQuery) -> Target:
    check_right(READ_LOG, access, PODS, key)
    try:
        entry = await find_entry(kind, access, key, seconds=FIND_WAIT)
    except Denied:
        # The user may be allowed to read the pod's log without being allowed to get the pod.
        return Target((), lambda: Wanteds([Wanted(key, query.container, query.container)]))
    if entry is None:
        raise NotFound(404, "")
    pod = entry.original()
    found = Wanteds([Wanted(key, one.name, one.name) for one in chosen(pod, query)])
    return Target(containers_of(pod), lambda: found)


def _selected(access: Access, namespace: str, selector: LabelSelector, query: LogQuery) -> Wanteds:
    pods = access.cluster.runtime.informer(PODS)
    found = [
        entry
        for entry in pods_selected(selector, namespace, pods)
        if READ_LOG.granted(access, PODS, entry.key)
    ]
    newest = sorted(found, key=_age)[:MOST]
    wanted = [one for entry in newest for one in _of(entry, query)][:MOST]
    return Wanteds(sorted(wanted, key=lambda one: one.mark), len(found) - len(newest))


def _age(entry: Entry[Any]) -> float:
    created = entry.projection.created
    return -created.timestamp() if created is not None else 0.0


def _of(entry: Entry[Any], query: LogQuery) -> list[Wanted]:
    pod: Mapping[str, Any] = entry.original()
    try:
        containers = chosen(pod, query)
    except NoContainer:
        return []
    key, uid, several = entry.key, entry.projection.uid, query.container == EVERY
    return [
        Wanted(key, one.name, f"{key.name}/{one.name}" if several else key.name, uid)
        for one in containers
    ]
