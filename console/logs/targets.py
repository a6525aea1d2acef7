"""Resolve a log URL to containers of a pod, a workload, a service or a label selector."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from console.kube.errors import NotFound
from console.kube.gvr import PODS, Key
from console.kube.selectors import LabelSelector, parse_labels
from console.kube.store import Entry
from console.logs.access import ContainerLog
from console.logs.containers import NoContainer, select_containers
from console.logs.query import ALL_CONTAINERS, LogQuery
from console.ui.core.access import Access
from console.ui.core.actions import Permission
from console.ui.core.container_actions import READ_LOG, has_logs
from console.ui.core.kind import ResourceKind
from console.ui.core.object_source import find_entry
from console.ui.core.permissions import Denied, check_visible
from console.ui.core.podspecs import ContainerView, containers_of
from console.ui.details.relations.owners import pods_selected
from console.views.actions import FIND_WAIT
from console.views.authorization import check_permission

#: Maximum number of logs that are merged. The newest pods are used.
MAX_LOGS = 30
LIST = Permission("list")


@dataclass(frozen=True, slots=True)
class SelectedLogs:
    """Containers whose logs are shown. `left_out`: number of pods over the limit, which are not
    shown.
    """

    found: Sequence[ContainerLog]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class LogTarget:
    """The containers that a log page or socket shows.

    `containers`: choices for the user. `current`: returns the containers to read at this moment,
    which can change if several pods are selected (`group`). `label`: the label selector of a
    workload or service, "" if the user isn't allowed to list pods.
    """

    containers: Sequence[ContainerView]
    current: Callable[[], SelectedLogs]
    group: bool = False
    label: str = ""


async def find_target(kind: ResourceKind, access: Access, key: Key, query: LogQuery) -> LogTarget:
    """Resolve `key` to its containers, or the pods that `query.label` selects if `key` has no name.

    Raise `Denied`, `NotFound` or `NoContainer`.
    """
    if not key.name:
        return await _of_labels(access, key.namespace, query)
    if kind.gvr == PODS:
        return await _of_pod(kind, access, key, query)
    if not has_logs(kind):
        raise NotFound(404, "")
    check_visible(kind, access, key)
    _check_any_log_readable(access, key.namespace)
    entry = await find_entry(kind, access, key, seconds=FIND_WAIT)
    if entry is None:
        raise NotFound(404, "")
    selector = kind.pod_selector(entry)

    def now() -> SelectedLogs:
        return _selected(access, key.namespace, selector, query) if selector else SelectedLogs(())

    lists = selector is not None and LIST.granted(access, PODS, Key(key.namespace, ""))
    label = entry.projection.selector if lists else ""
    return LogTarget(containers_of(entry.original()), now, group=True, label=label)


def _check_any_log_readable(access: Access, namespace: str) -> None:
    """Raise `Denied` if the user can't read any pod log in `namespace`."""
    single = access.names_where("get", PODS, "log")
    if not any(one.namespace in ("", namespace) for one in single):
        check_permission(READ_LOG, access, PODS, Key(namespace, ""))


async def _of_labels(access: Access, namespace: str, query: LogQuery) -> LogTarget:
    check_permission(LIST, access, PODS, Key(namespace, ""))
    _check_any_log_readable(access, namespace)
    selector = parse_labels(query.label)
    await access.cluster.runtime.wait_synced(PODS, timeout=FIND_WAIT)
    pods = pods_selected(selector, namespace, access.cluster.runtime.informer(PODS))
    found = (
        one
        for entry in sorted(pods, key=_age)[:MAX_LOGS]
        for one in containers_of(entry.original())
    )
    containers = {one.name: one for one in found}
    now = partial(_selected, access, namespace, selector, query)
    return LogTarget([*containers.values()], now, group=True)


async def _of_pod(kind: ResourceKind, access: Access, key: Key, query: LogQuery) -> LogTarget:
    check_permission(READ_LOG, access, PODS, key)
    try:
        entry = await find_entry(kind, access, key, seconds=FIND_WAIT)
    except Denied:
        # The user may be allowed to read the pod's log without being allowed to get the pod.
        return LogTarget(
            (), lambda: SelectedLogs([ContainerLog(key, query.container, query.container)])
        )
    if entry is None:
        raise NotFound(404, "")
    pod = entry.original()
    found = SelectedLogs(
        [ContainerLog(key, one.name, one.name) for one in select_containers(pod, query)]
    )
    return LogTarget(containers_of(pod), lambda: found)


def _selected(
    access: Access, namespace: str, selector: LabelSelector, query: LogQuery
) -> SelectedLogs:
    pods = access.cluster.runtime.informer(PODS)
    found = [
        entry
        for entry in pods_selected(selector, namespace, pods)
        if READ_LOG.granted(access, PODS, entry.key)
    ]
    newest = sorted(found, key=_age)[:MAX_LOGS]
    wanted = [one for entry in newest for one in _of(entry, query)][:MAX_LOGS]
    return SelectedLogs(sorted(wanted, key=lambda one: one.mark), len(found) - len(newest))


def _age(entry: Entry[Any]) -> float:
    created = entry.projection.created
    return -created.timestamp() if created is not None else 0.0


def _of(entry: Entry[Any], query: LogQuery) -> list[ContainerLog]:
    pod: Mapping[str, Any] = entry.original()
    try:
        containers = select_containers(pod, query)
    except NoContainer:
        return []
    key, uid, several = entry.key, entry.projection.uid, query.container == ALL_CONTAINERS
    return [
        ContainerLog(key, one.name, f"{key.name}/{one.name}" if several else key.name, uid)
        for one in containers
    ]
