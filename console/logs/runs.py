"""Track the runs of a container through the status of its pod."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from console.kube.gvr import PODS, Key
from console.live.hub import get_hub
from console.streams.stream import SingleWaiterEvent
from console.ui.core.clusters import Cluster
from console.ui.core.manifests import mapping, mappings_at, number, text
from console.ui.core.podspecs import termination_of

_STATUSES = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")


@dataclass(frozen=True, slots=True)
class ContainerRun:
    """The last run of a container.

    `id`: the container ID, "" before the first run. `number`: restart count. `before`: ID of the
    run whose log the kubelet returns for `previous=true`; while a container waits to restart,
    this is the last run itself. `ends`: messages about the termination of these runs, by ID.
    `pod`: the pod's UID.
    """

    id: str = ""
    number: int = -1
    running: bool = False
    before: str = ""
    ends: Mapping[str, str] = field(default_factory=dict)
    pod: str = ""

    def after(self, other: "ContainerRun") -> bool:
        return self.pod != other.pod or self.number > other.number


class ContainerRuns:
    """Reports the last run of a container. While `watched`, it is a subscriber of the hub.

    Use it on one event loop only.
    """

    def __init__(self, cluster: Cluster, key: Key, container: str) -> None:
        self._pods, self._key, self._container = cluster.runtime.informer(PODS), key, container
        self._news = SingleWaiterEvent()

    def last(self) -> ContainerRun | None:
        """Return the last run, or None if the pod doesn't exist."""
        entry = self._pods.store.get(self._key)
        if entry is None:
            return None
        pod = entry.original()
        uid = text(mapping(pod, "metadata").get("uid"))
        for status in (one for group in _STATUSES for one in mappings_at(pod, "status", group)):
            if status.get("name") == self._container:
                return _run_of(status, uid)
        return ContainerRun(pod=uid)

    @contextmanager
    def watched(self) -> Iterator[None]:
        end = get_hub().subscribe(self._pods, self)
        try:
            yield
        finally:
            end()

    async def changed(self, seconds: float | None = None) -> None:
        """Return after the next change of the pod, or after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return

    def mark(self, keys: Iterable[Key]) -> None:
        if self._key in keys:
            self._news.set()

    def mark_state(self) -> None:
        """Ignore changes of the connection state: they don't change any run."""

    def overflow(self) -> None:
        self._news.set()


def _run_of(status: Mapping[str, Any], pod: str) -> ContainerRun:
    restarts = number(status.get("restartCount")) or 0
    state, last = mapping(status, "state"), mapping(status, "lastState", "terminated")
    running, ended = isinstance(state.get("running"), dict), mapping(state, "terminated")
    before = _id(last, restarts - 1) if running or ended else _id(last, restarts)
    own = text(status.get("containerID")) or str(restarts) if running else _id(ended, restarts)
    now = own or before
    ends = {before: _end_message(last)} if last else {}
    if ended:
        ends[now] = _end_message(ended)
    return ContainerRun(now, restarts if now else -1, running, before, ends, pod)


def _id(terminated: Mapping[str, Any], number: int) -> str:
    """Return the container ID of a terminated run. The restart count is used if the ID is missing."""
    return text(terminated.get("containerID")) or str(number) if terminated else ""


def _end_message(terminated: Mapping[str, Any]) -> str:
    ended = termination_of(terminated)
    if ended is None:
        return ""
    words = {"how": ended.how, "reason": ended.reason}
    return _("The container has terminated: %(how)s (%(reason)s).") % words
