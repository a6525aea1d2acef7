"""Open a long-running kube-apiserver response as a user, and read it in chunks.

Guarantees, also for bidirectional connections (`console.terminals.command`):

- The request is made as the viewer, so kube-apiserver authorizes it. It is recorded in the audit
  log
  before it is sent, and the outcome when it ends.
- A slow reader slows down the sender: at most `HELD` bytes are buffered here.
- It stops within two seconds after the viewer's session or permission ends. Buffered data is
  then
  discarded.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.utils.translation import gettext as _

from console.audit.trail import Action as Recorded
from console.audit.trail import Recording, record
from console.kube.client import UserClient
from console.kube.gvr import GVR, Key
from console.live.sessionmonitor import get_session_monitor
from console.streams.places import places
from console.streams.signal import Signal
from console.ui.actions import Permission
from console.ui.clusters import Cluster, clusters
from console.ui.decisions import Denied
from console.ui.presence import Presence
from console.ui.states import denied_text
from console.views.deciding import InDoubt, check_right

log = logging.getLogger(__name__)

#: Maximum bytes that are buffered, and bytes per read: a log line takes five times as much memory
#: as an object. `SIZE` is the quota for one stream: buffers, connection, and processed data.
HELD, PIECE, SIZE = 32 * 1024, 8 * 1024, 1024 * 1024
#: Seconds between two permission checks.
EVERY = 1.0


class Over(Exception):
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
            return str(InDoubt.text)
        text = _("You no longer have permission to view this page.")
        return text if self.denied is None else f"{text} {denied_text(self.denied, _('pods'))}"


@dataclass(frozen=True, slots=True)
class Order:
    """A request for a stream.

    `rights`: permissions that are all required on object `key` of type `gvr`. `account`: the
    account of the session. `recorded`: the audit event.
    """

    cluster: Cluster
    account: str
    presence: Presence
    rights: Sequence[Permission]
    gvr: GVR
    key: Key
    recorded: Recorded
    path: str
    params: Sequence[tuple[str, str]] = ()

    def check(self) -> None:
        """Check all permissions. Raise `Denied` or `InDoubt`."""
        access = self.presence.access_for(self.cluster)
        for right in self.rights:
            check_right(right, access, self.gvr, self.key)


class Vigil:
    """Periodically checks that a user may continue a long-running operation.

    `account`: the account of the session. `right` raises `Denied` or `InDoubt`. `on_over` is
    called once, within two seconds after the session or permission ended.
    """

    def __init__(
        self,
        account: str,
        presence: Presence,
        right: Callable[[], None],
        on_over: Callable[[Over], None],
    ) -> None:
        self.account = account
        self.over: Over | None = None
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
            self._on_over = _nothing

    async def check(self) -> None:
        """Check that the session is still valid."""
        try:
            lasts = await self._presence.is_valid()
        except Exception:
            log.exception("The session of a stream could not be checked")
            lasts = False
        if not lasts:
            self._end(Over(401))

    def _end(self, over: Over) -> None:
        """Call `on_over` with the first reason. Later reasons are ignored."""
        if self.over is None:
            self.over = over
            self._on_over(over)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(EVERY)
            try:
                self._right()
            except InDoubt:
                self._end(Over(503))
            except Denied as denied:
                self._end(Over(403, denied))
            except Exception:
                log.exception("The permission for a stream could not be checked")
                self._end(Over(403))


def _nothing(_over: Over) -> None:
    pass


class Lasting(ABC):
    """Base class for a long-running connection of a user: `open`, then `close`, on one event loop.

    `on_over` is called when the connection must stop.
    """

    def __init__(self, order: Order, on_over: Callable[[Over], None] | None = None) -> None:
        self._order, self._on_over = order, on_over
        self._error: Exception | None = None
        self._vigil = Vigil(order.account, order.presence, order.check, self._end)
        #: Set when data arrives or the connection ends.
        self._news = Signal()
        self._began: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None
        self._pouring = self._closing = False

    @property
    def closing(self) -> bool:
        """True if `close` was called. The connection can also end without it."""
        return self._closing

    @property
    def _over(self) -> Over | None:
        return self._vigil.over

    async def open(self) -> None:
        """Return when kube-apiserver starts its response.

        Raise `Denied`, `InDoubt`, `TooMany`, `ApiError` or `AuditUnavailable`; `close` isn't
        needed then.
        """
        self._order.check()
        self._task = asyncio.create_task(self._run())
        try:
            await asyncio.shield(self._began)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close the connection, and return when the audit log has the outcome."""
        self.close_soon()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    def close_soon(self) -> None:
        """Close the connection without waiting."""
        if not self._closing:
            self._closing = True
            # Outside `_pour`, the task writes to the audit log and must not be interrupted.
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

    def _record_outcome(self, recording: Recording) -> None:
        """Record how the connection ended, unless it ended with an error."""
        if self._over is not None:
            recording.set_outcome(self._over.code, "Ended", str(self._over))
        elif not self._began.done():
            recording.set_outcome(0, "Closed", "Closed before the response started")

    def _end(self, over: Over) -> None:
        self.close_soon()
        self._news.set()
        if self._on_over is not None:
            self._on_over(over)

    async def _run(self) -> None:
        order = self._order
        try:
            with places.reserve(order.account, SIZE), self._vigil.watching():
                async with record(order.recorded) as recording:
                    await self._as_viewer(recording)
        except Exception as error:  # noqa: BLE001  whoever reads is told
            self._error = error
        finally:
            if not self._began.done():
                self._fail()
            self._news.set()

    async def _as_viewer(self, recording: Recording) -> None:
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


class Stream(Lasting):
    """A response that is read in chunks: `open`, `read` until the end, `close`."""

    def __init__(self, order: Order, on_over: Callable[[Over], None] | None = None) -> None:
        super().__init__(order, on_over)
        self._kept: list[bytes] = []
        self._size = 0
        self._room = Signal()

    async def read(self) -> bytes:
        """Return the next chunk as soon as it is available, or b"" at the end.

        Raise `Over`, or `ApiError` if the response was interrupted.
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
            async for piece in content.iter_chunked(PIECE):
                await self._keep(piece)

    async def _keep(self, piece: bytes) -> None:
        self._kept.append(piece)
        self._size += len(piece)
        self._news.set()
        while self._size >= HELD:
            await self._room.wait()
