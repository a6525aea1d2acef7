"""Logs that are followed: `/ws/clusters/{cluster}/projects/{namespace}/{resource}/{name}/log`, with the
query of the page. Of a workload or service a pod that comes meanwhile is followed from its first line.

While more than `UNREAD` characters are not answered, nothing more is read, so that the cluster holds the
place: a browser that pauses loses nothing, and one that is slow costs nothing. The codes that it closes
with are those of the live socket.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from django.conf import settings
from django.http import QueryDict
from django.utils import translation
from django.utils.translation import get_supported_language_variant
from django.utils.translation import gettext as _

from console.audit.trail import Action as Recorded
from console.audit.trail import AuditUnavailable, socket_action
from console.kube.errors import ApiError, NotFound
from console.kube.gvr import PODS, Key
from console.live.consumer import BROKEN, NO_RIGHT, POLICY, SESSION_OVER, TOO_BIG, BareSocket
from console.live.flow import flow_of
from console.live.limits import MAX_MESSAGE, SocketCap, TokenBucket
from console.logs.containers import NoContainer
from console.logs.feed import Feed, feeding
from console.logs.following import Follower, Position
from console.logs.messages import (
    BadMessage,
    error_text,
    read_ack,
    read_first,
    sent_text,
    sources_text,
)
from console.logs.opening import Viewer, Wanted, why
from console.logs.query import BadQuery, LogQuery, read_query
from console.logs.targets import find_target
from console.streams.stream import Over
from console.ui.access import require_access
from console.ui.clusters import clusters
from console.ui.decisions import Denied, NotArrived, Refused
from console.ui.kind import ResourceKind
from console.ui.places import find_kind
from console.ui.presence import Presence
from console.ui.states import denied_text

log = logging.getLogger(__name__)

T = TypeVar("T")

#: Characters that may be on their way, or be with a browser that is busy.
UNREAD = 256 * 1024
#: Sockets of one account that follow logs, and messages: an answer to each batch.
MOST, PER_SECOND = 20, 50.0
#: Seconds between two looks for pods that have come.
JOIN = 1.0


class LogConsumer(BareSocket):
    cap = SocketCap(MOST)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._task: asyncio.Task[None] | None = None
        self._entered = ""
        self._bucket = TokenBucket(burst=PER_SECOND, per_second=PER_SECOND)
        self._lang = settings.LANGUAGE_CODE
        # Numbers and sizes of what is not answered yet.
        self._unread: deque[tuple[int, int]] = deque()
        self._answered = asyncio.Event()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        self._flow = flow_of(scope)
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self._task is not None:
                self._task.cancel()
                await asyncio.gather(self._task, return_exceptions=True)
            if self._entered:
                self.cap.leave(self._entered)

    async def connect(self) -> None:
        account = self.scope.get("account")
        if not account or not self.scope.get("session_alive") or not self.scope.get("access_in"):
            await self.close()
            return
        await self.accept()
        if self.cap.enter(account):
            self._entered = account
        else:
            await self._end(429, _("Too many logs are open. Close some of them."), POLICY)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if len(text_data or bytes_data or "") > MAX_MESSAGE:
            await self.close(TOO_BIG)
        elif not self._bucket.take(asyncio.get_running_loop().time()):
            await self.close(POLICY)
        elif self._entered:
            await self._read(text_data or "")

    async def _read(self, text: str) -> None:
        try:
            if self._task is None:
                lang, positions = read_first(text)
                self._lang = _language(lang)
                self._task = asyncio.create_task(self._run(positions))
            else:
                self._answer(read_ack(text))
        except BadMessage:
            await self.close(POLICY)

    def _answer(self, number: int) -> None:
        while self._unread and self._unread[0][0] <= number:
            self._unread.popleft()
        self._answered.set()

    # What is sent.

    async def _run(self, positions: Mapping[str, Position]) -> None:
        with translation.override(self._lang):
            try:
                await self._follow(positions)
            except (BadQuery, NoContainer) as error:
                await self._end(400, str(error), POLICY)
            except Denied as error:
                await self._end(403, denied_text(error, _("pods")), NO_RIGHT)
            except Over as error:
                await self._end(error.code, str(error), _CODES[error.code])
            except NotArrived as error:
                await self._end(503, str(error), BROKEN)
            except Refused as error:
                await self._end(error.page_code, str(error), POLICY)
            except AuditUnavailable:
                await self._end(503, _("The database cannot be used."), BROKEN)
            except ApiError as error:
                over = NO_RIGHT if error.code in (403, 404) else BROKEN
                await self._end(error.page_code, why(error), over)
            except Exception:
                log.exception("A socket of logs failed")
                await self._end(500, _("The console made a mistake."), BROKEN)

    async def _follow(self, positions: Mapping[str, Position]) -> None:
        query = read_query(QueryDict(self.scope.get("query_string", b"")))
        kind, key, viewer = self._named()
        access = require_access(viewer.presence.access_in(viewer.cluster))
        target = await find_target(kind, access, key, query)
        names: list[str] = []
        async with feeding(query) as feed:

            async def follow(wanted: Sequence[Wanted], asked: LogQuery) -> None:
                fresh = [one for one in wanted if one.mark not in names]
                names.extend(one.mark for one in fresh)
                await self.send(sources_text(names))
                for one in fresh:
                    at = positions.get(one.mark)
                    follower = Follower(viewer, one, asked, at, feed.fail)
                    feed.follow(names.index(one.mark), follower)

            async def join() -> None:
                try:
                    while target.group:
                        await asyncio.sleep(JOIN)
                        wanted = target.now().found
                        if not {one.mark for one in wanted} <= {*names}:
                            await follow(wanted, replace(query, tail=None, since=""))
                except Exception as error:  # noqa: BLE001  told by the feed
                    feed.fail(error)

            await follow(target.now().found, query)
            joining = asyncio.create_task(join())
            try:
                await self._pass_on(feed, names)
            finally:
                joining.cancel()

    def _named(self) -> tuple[ResourceKind, Key, Viewer]:
        given = self.scope["url_route"]["kwargs"]
        cluster = clusters.get(given["cluster"])
        kind = find_kind(cluster, given["resource"])
        if cluster is None or kind is None:
            raise NotFound(404, "")
        presence = Presence(self.scope["session_alive"], self.scope["access_in"])
        as_user = presence.access_in(cluster).identity.name

        def recorded(key: Key) -> Recorded:
            return socket_action(
                self.scope,
                "get",
                PODS,
                as_user=as_user,
                cluster=cluster.name,
                namespace=key.namespace,
                name=key.name,
                subresource="log",
            )

        viewer = Viewer(cluster, self.scope["account"], presence, recorded)
        return kind, Key(given["namespace"], given["name"]), viewer

    async def _pass_on(self, feed: Feed, names: list[str]) -> None:
        number = 0
        while True:
            sent = await _first_of(feed.failed, feed.next())
            number += 1
            text = sent_text(number, sent, names)
            self._unread.append((number, len(text)))
            await self.send(text)
            await _first_of(feed.failed, self._room())

    async def _room(self) -> None:
        await self._flow.clear()
        while sum(size for _number, size in self._unread) > UNREAD:
            self._answered.clear()
            await self._answered.wait()

    async def _end(self, code: int, text: str, close_code: int) -> None:
        await self.send(error_text(code, text))
        await self.close(close_code)


_CODES = {401: SESSION_OVER, 403: NO_RIGHT, 503: BROKEN}


def _language(given: str) -> str:
    try:
        return get_supported_language_variant(given)
    except LookupError:
        return settings.LANGUAGE_CODE


async def _first_of(failed: "asyncio.Future[None]", wanted: Coroutine[Any, Any, T]) -> T:
    """What is wanted, unless that fails before."""
    task = asyncio.create_task(wanted)
    try:
        await asyncio.wait((failed, task), return_when=asyncio.FIRST_COMPLETED)
        if failed.done():
            failed.result()
        return await task
    finally:
        task.cancel()
