"""Websocket for followed logs: `/ws/clusters/{cluster}/projects/{namespace}/{resource}/{name}/log`.

It accepts the query of the log page. Without resource and name, a label selector chooses the
pods. If several pods are selected, new pods are followed from their first line.

The socket stops reading from the cluster while more than `MAX_UNACKNOWLEDGED` characters are
unacknowledged. A paused browser loses no lines, and a slow browser doesn't use memory. The close
codes are those of the live socket.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, ClassVar

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from console.audit.trail import socket_action
from console.kube.errors import ApiError
from console.kube.gvr import PODS, Key
from console.live.limits import SocketCap
from console.logs.access import ContainerLog, LogViewer, log_error_text
from console.logs.containers import NoContainer
from console.logs.filtering import LogSearch
from console.logs.following import Follower, LogPosition
from console.logs.merged_feed import Feed, feeding
from console.logs.messages import batch_text, read_ack, read_first, sources_text
from console.logs.query import BadQuery, LogQuery, read_query
from console.logs.targets import find_target
from console.streams.socket import StreamSocket, await_or_fail
from console.streams.stream import SingleWaiterEvent
from console.ui.core.access import require_access
from console.ui.core.kind import ResourceKind

#: Maximum characters that are sent but not acknowledged.
MAX_UNACKNOWLEDGED = 256 * 1024
#: Seconds between two checks for new pods.
NEW_PODS_INTERVAL = 1.0


class LogConsumer(StreamSocket):
    cap = SocketCap(20)
    #: The browser acknowledges each batch.
    per_second: ClassVar[float] = 50.0
    full: ClassVar[str | Promise] = gettext_lazy("Too many logs are open. Close some of them.")
    bad_requests: ClassVar[tuple[type[Exception], ...]] = (BadQuery, NoContainer)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Number and size of each unacknowledged message.
        self._unread: list[tuple[int, int]] = []
        self._answered = SingleWaiterEvent()

    def hear(self, text: str, data: bytes) -> None:
        if self._task is None:
            lang, positions = read_first(text)
            self.begin(lang, self._follow(positions))
        else:
            number = read_ack(text)
            while self._unread and self._unread[0][0] <= number:
                self._unread.pop(0)
            self._answered.set()

    def why(self, error: ApiError) -> str:
        return log_error_text(error)

    # Sending

    async def _follow(self, positions: Mapping[str, LogPosition]) -> None:
        kind, key, viewer = self._named()
        given = QueryDict(self.scope.get("query_string", b""))
        query = read_query(given, selects=not key.name)
        access = require_access(viewer.presence.access_for(viewer.cluster))
        target = await find_target(kind, access, key, query)
        # Release the rest of the target: only pages use it, and it would stay in memory as long as
        # the socket.
        now, grows = target.current, target.group
        del target
        names: list[str] = []
        uids: dict[str, str] = {}
        async with feeding(query) as feed:

            async def follow(wanted: Sequence[ContainerLog], asked: LogQuery) -> None:
                fresh = [one for one in wanted if is_new(one)]
                names.extend(one.mark for one in fresh if one.mark not in names)
                await self.send(sources_text(names))
                for one in fresh:
                    at = positions.get(one.mark) if one.mark not in uids else None
                    uids[one.mark] = one.uid
                    follower = Follower(viewer, one, asked, at, feed.fail)
                    feed.follow(names.index(one.mark), follower)

            def is_new(one: ContainerLog) -> bool:
                """Return True for a new pod, including one that reuses the name of a deleted pod."""
                if one.mark not in names:
                    return True
                return uids[one.mark] != one.uid and not feed.follows(names.index(one.mark))

            async def join() -> None:
                try:
                    while True:
                        await asyncio.sleep(NEW_PODS_INTERVAL)
                        wanted = now().found
                        if any(map(is_new, wanted)):
                            await follow(wanted, replace(query, tail=None, since=""))
                except Exception as error:  # noqa: BLE001  told by the feed
                    feed.fail(error)

            await follow(now().found, query)
            joining = asyncio.create_task(join()) if grows else None
            try:
                await self._pass_on(feed, names, LogSearch(query.search))
            finally:
                if joining is not None:
                    joining.cancel()

    def _named(self) -> tuple[ResourceKind, Key, LogViewer]:
        cluster, kind, presence = self.named_cluster()
        as_user = presence.access_for(cluster).identity.name
        recorded = socket_action(
            self.scope, "get", PODS, as_user=as_user, cluster=cluster.name, subresource="log"
        )
        given = self.scope["url_route"]["kwargs"]
        viewer = LogViewer(cluster, self.scope["account"], presence, recorded)
        return kind, Key(given["namespace"], given.get("name", "")), viewer

    async def _pass_on(self, feed: Feed, names: list[str], search: LogSearch) -> None:
        for number in count(1):
            text = batch_text(number, await feed.next(), names, search)
            self._unread.append((number, len(text)))
            await self.send(text)
            await await_or_fail(feed.failed, self._room())

    async def _room(self) -> None:
        await self._flow.wait_clear()
        while sum(size for _number, size in self._unread) > MAX_UNACKNOWLEDGED:
            await self._answered.wait()
