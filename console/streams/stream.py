"""Open a long-running kube-apiserver response as a user, and read it in chunks.

Guarantees, also for bidirectional connections (`console.terminals.command`):

- The request is made as the viewer, so kube-apiserver authorizes it. It is recorded in the audit
  log before it is sent, and the outcome when it ends.
- A slow reader slows down the sender: at most `MAX_BUFFERED` bytes are buffered here.
- It stops within two seconds after the viewer's session or permission ends. Buffered data is
  then discarded.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.utils.translation import gettext as _

from console.audit.trail import AuditAction as Recorded
from console.audit.trail import AuditEntry, record
from console.kube.clients import UserClient
from console.kube.gvr import GVR, Key
from console.live.sessionmonitor import get_session_monitor
from console.streams.memory_quota import memory_quota
from console.ui.core.actions import Permission
from console.ui.core.clusters import Cluster, clusters
from console.ui.core.permissions import Denied
from console.ui.core.requests import UserSession
from console.ui.fragments.empty_states import denied_text
from console.views.authorization import PermissionsUnconfirmed, check_permission


class SingleWaiterEvent:
    """A lightweight `asyncio.Event` for one waiter. It needs a tenth of the memory, and each open
    log has several. Use it on one event loop only.
    """

    __slots__ = ("_came", "_waiting")

    def __init__(self) -> None:
        self._came = False
        self._waiting: asyncio.Future[None] | None = None

    def set(self) -> None:
        self._came = True
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def wait(self) -> None:
        """Wait until it is set, and clear it."""
        if not self._came:
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        self._came = False


log = logging.getLogger(__name__)

#: Maximum bytes that are buffered, and bytes per read: a log line takes five times as much memory
#: as an object. `STREAM_QUOTA` is the quota for one stream: buffers, connection, and processed data.
MAX_BUFFERED, READ_SIZE, STREAM_QUOTA = 32 * 1024, 8 * 1024, 1024 * 1024
#: Seconds between two permission checks.
CHECK_INTERVAL = 1.0


class StreamEnded(Exception):
    """Raised if a stream must stop.

    `code`: 401 if the session ended, 403 if the permission is lost, 503 if permissions can't be
    confirmed. `denied`: the missing permission, if it is known.
    """

    def __init__(self, code: int, denied: Denied | None = None) -> None:
        super().__init__(code)
        self.code, self.denied = code, denied

    def __str__(self) -> str:
        if self.code == 401:
            return _("Your session has ended.")
        if self.code == 503:
            return str(PermissionsUnconfirmed.text)
        text = _("You no longer have permission to view this page.")
        return text if self.denied is None else f"{text} {denied_text(self.denied, _('pods'))}"


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """A request for a stream.

    `rights`: permissions that are all required on object `key` of type `gvr`. `account`: the
    account of the session. `recorded`: the audit event.
    """

    cluster: Cluster
    account: str
    presence: UserSession
    rights: Sequence[Permission]
    gvr: GVR
    key: Key
    recorded: Recorded
    path: str
    params: Sequence[tuple[str, str]] = ()

    def check(self) -> None:
        """Check all permissions. Raise `Denied` or `PermissionsUnconfirmed`."""
        access = self.presence.access_for(self.cluster)
        for right in self.rights:
            check_permission(right, access, self.gvr, self.key)


class SessionGuard:
    """Periodically checks that a user may continue a long-running operation.

    `account`: the account of the session. `right` raises `Denied` or `PermissionsUnconfirmed`.
    `on_over` is called once, within two seconds after the session or permission ended.
    """

    def __init__(
        self,
        account: str,
        presence: UserSession,
        right: Callable[[], None],
        on_over: Callable[[StreamEnded], None],
    ) -> None:
        self.account = account
        self.over: StreamEnded | None = None
        self._presence, self._right, self._on_over = presence, right, on_over

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Run the checks for the duration of the block. The caller has just checked session and
        permission.
        """
        monitor = get_session_monitor()
        watching = asyncio.create_task(self._watch())
        monitor.enter(self)
        try:
            monitor.watch_permissions(clusters.host)
            yield
        finally:
            monitor.leave(self)
            watching.cancel()
            # Break the reference cycle with the callback's owner. Otherwise both wait for the
            # garbage collector.
            self._on_over = lambda _over: None

    async def check(self) -> None:
        """Check that the session is still valid."""
        try:
            lasts = await self._presence.is_valid()
        except Exception:
            log.exception("The session of a stream could not be checked")
            lasts = False
        if not lasts:
            self._end(StreamEnded(401))

    def _end(self, over: StreamEnded) -> None:
        """Call `on_over` with the first reason. Later reasons are ignored."""
        if self.over is None:
            self.over = over
            self._on_over(over)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(CHECK_INTERVAL)
            try:
                self._right()
            except PermissionsUnconfirmed:
                self._end(StreamEnded(503))
            except Denied as denied:
                self._end(StreamEnded(403, denied))
            except Exception:
                log.exception("The permission for a stream could not be checked")
                self._end(StreamEnded(403))


class LongRunningStream(ABC):
    """Base class for a long-running connection of a user: `open`, then `close`, on one event loop.

    `on_over` is called when the connection must stop.
    """

    def __init__(
        self, order: StreamRequest, on_over: Callable[[StreamEnded], None] | None = None
    ) -> None:
        self._order, self._on_over = order, on_over
        self._error: Exception | None = None
        self._vigil = SessionGuard(order.account, order.presence, order.check, self._end)
        #: Set when data arrives or the connection ends.
        self._news = SingleWaiterEvent()
        self._began: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None
        self._pouring = self._closing = False

    @property
    def closing(self) -> bool:
        """True if `close` was called. The connection can also end without it."""
        return self._closing

    @property
    def _over(self) -> StreamEnded | None:
        return self._vigil.over

    async def open(self) -> None:
        """Return when kube-apiserver starts its response.

        Raise `Denied`, `PermissionsUnconfirmed`, `TooMany`, `ApiError` or `AuditUnavailable`;
        `close` isn't needed then.
        """
        self._order.check()
        self._task = asyncio.create_task(self._run())
        try:
            await asyncio.shield(self._began)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close the connection, and return when the audit log has the outcome, even if this is
        cancelled meanwhile: the task must not be interrupted.
        """
        self.close_soon()
        cancelled = False
        while self._task is not None and not self._task.done():
            try:
                await asyncio.wait((self._task,))
            except asyncio.CancelledError:
                cancelled = True
        if cancelled:
            raise asyncio.CancelledError

    def close_soon(self) -> None:
        """Close the connection without waiting."""
        if not self._closing:
            self._closing = True
            # Outside `_run_connection`, the task writes to the audit log and must not be interrupted.
            if self._pouring and self._task is not None:
                self._task.cancel()

    @abstractmethod
    async def _run_connection(self, client: UserClient, audit_id: str) -> None:
        """Open the connection, call `_begin`, and forward data. It is cancelled to close the
        connection.
        """

    def _begin(self) -> None:
        if not self._began.done():
            self._began.set_result(None)

    def _record_outcome(self, recording: AuditEntry) -> None:
        """Record how the connection ended, unless it ended with an error."""
        if self._over is not None:
            recording.set_outcome(self._over.code, "Ended", str(self._over))
        elif not self._began.done():
            recording.set_outcome(0, "Closed", "Closed before the response started")

    def _end(self, over: StreamEnded) -> None:
        self.close_soon()
        self._news.set()
        if self._on_over is not None:
            self._on_over(over)

    async def _run(self) -> None:
        order = self._order
        try:
            with memory_quota.reserve(order.account, STREAM_QUOTA), self._vigil.watching():
                async with record(order.recorded) as recording:
                    await self._as_viewer(recording)
        except Exception as error:  # noqa: BLE001  whoever reads is told
            self._error = error
        finally:
            if not self._began.done():
                self._fail()
            self._news.set()

    async def _as_viewer(self, recording: AuditEntry) -> None:
        access = self._order.presence.access_for(self._order.cluster)
        client = self._order.cluster.runtime.as_user(access.identity)
        self._pouring = True
        try:
            if self._closing:
                raise asyncio.CancelledError
            await self._run_connection(client, recording.audit_id)
        except asyncio.CancelledError:
            pass
        finally:
            self._pouring = False
        self._record_outcome(recording)

    def _fail(self) -> None:
        """Pass the error to `open`, because the response never started."""
        error = self._over or self._error
        if error is None:
            self._began.cancel()
            return
        self._began.set_exception(error)
        # Retrieve the exception: asyncio warns if `open` is no longer waiting.
        self._began.add_done_callback(lambda began: began.cancelled() or began.exception())


class ResponseStream(LongRunningStream):
    """A response that is read in chunks: `open`, `read` until the end, `close`."""

    def __init__(
        self, order: StreamRequest, on_over: Callable[[StreamEnded], None] | None = None
    ) -> None:
        super().__init__(order, on_over)
        self._kept: list[bytes] = []
        self._size = 0
        self._room = SingleWaiterEvent()

    async def read(self) -> bytes:
        """Return the next chunk as soon as it is available, or b"" at the end.

        Raise `StreamEnded`, or `ApiError` if the response was interrupted.
        """
        while True:
            if self._over is not None:
                raise self._over
            if self._kept:
                found = self._kept.pop(0)
                self._size -= len(found)
                self._room.set()
                return found
            if self._error is not None:
                raise self._error
            if self._task is None or self._task.done():
                return b""
            await self._news.wait()

    async def _run_connection(self, client: UserClient, audit_id: str) -> None:
        opened = client.stream(self._order.path, self._order.params, audit_id=audit_id)
        async with opened as content:
            self._begin()
            async for piece in content.iter_chunked(READ_SIZE):
                await self._keep(piece)

    async def _keep(self, piece: bytes) -> None:
        self._kept.append(piece)
        self._size += len(piece)
        self._news.set()
        while self._size >= MAX_BUFFERED:
            await self._room.wait()
