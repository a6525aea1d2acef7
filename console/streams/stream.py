"""One long answer of kube-apiserver, opened as a person and read bit by bit.

Promises, also of what goes both ways (`console.terminals.command`):
- It is opened as the viewer, so that kube-apiserver decides, and not before the audit trail has a record
  of it, which gets the outcome when it ends.
- Whoever does not read holds back the other side: no more than `HELD` bytes wait here.
- It ends within two seconds after the session or the right of its viewer; then nothing more is handed on,
  not even what waits already.
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

#: Bytes that wait for whoever reads, and that are read at once: a line of a log takes five times as much
#: as an object. What is counted for one stream: these, what the connection holds before them, and what
#: becomes of them.
HELD, PIECE, SIZE = 32 * 1024, 8 * 1024, 1024 * 1024
#: Seconds between two looks at the right.
EVERY = 1.0


class Over(Exception):
    """It may not go on. `code` as in HTTP: 401 the session has ended, 403 the right is lost, 503 nobody
    can confirm it now. `denied`: which right, where that is known."""

    def __init__(self, code: int, denied: Denied | None = None) -> None:
        super().__init__(code)
        self.code, self.denied = code, denied

    def __str__(self) -> str:
        if self.code == 401:
            return _("Your session is over.")
        if self.code == 503:
            return str(InDoubt.text)
        text = _("You may not see this any more.")
        return text if self.denied is None else f"{text} {denied_text(self.denied, _('pods'))}"


@dataclass(frozen=True, slots=True)
class Order:
    """What is opened, for whom. `rights`: on the object `key` of type `gvr`, all of them. `account`:
    whose session it is. `recorded`: what the audit trail says."""

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
        """Raises `Denied` and `InDoubt`."""
        access = self.presence.access_in(self.cluster)
        for right in self.rights:
            check_right(right, access, self.gvr, self.key)


class Vigil:
    """Looks, for as long as something goes on, whether its viewer still may. `account`: whose session it
    is. `right` raises `Denied` and `InDoubt`. `on_over` is called once, within two seconds."""

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
    def kept(self) -> Iterator[None]:
        """For as long as the block lasts. Session and right have just been looked up."""
        monitor = get_session_monitor()
        watching = asyncio.create_task(self._watch())
        monitor.enter(self)
        try:
            monitor.follow_rights(clusters.host)
            yield
        finally:
            monitor.leave(self)
            watching.cancel()
            # Whoever was told has it: without this both would wait for the collector.
            self._on_over = _nothing

    async def check(self) -> None:
        """Looks up the session."""
        try:
            lasts = await self._presence.lasts()
        except Exception:
            log.exception("The session of a stream cannot be looked up")
            lasts = False
        if not lasts:
            self._end(Over(401))

    def _end(self, over: Over) -> None:
        """The first word counts."""
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
                log.exception("The right to a stream cannot be looked up")
                self._end(Over(403))


def _nothing(_over: Over) -> None:
    pass


class Lasting(ABC):
    """Something that is open for a person, for as long as it lasts: `open`, then `close`, on one event
    loop. `on_over` is called when it may not go on."""

    def __init__(self, order: Order, on_over: Callable[[Over], None] | None = None) -> None:
        self._order, self._on_over = order, on_over
        self._error: Exception | None = None
        self._vigil = Vigil(order.account, order.presence, order.check, self._end)
        #: Set when something has come, or nothing more will.
        self._news = Signal()
        self._began: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None
        self._pouring = self._closing = False

    @property
    def closing(self) -> bool:
        """Whether it was told to end, which what comes of it need not have done by itself."""
        return self._closing

    @property
    def _over(self) -> Over | None:
        return self._vigil.over

    async def open(self) -> None:
        """Returns when kube-apiserver has begun its answer. Raises `Denied`, `InDoubt`, `TooMany`,
        `ApiError` and `AuditUnavailable`; then there is nothing to be closed."""
        self._order.check()
        self._task = asyncio.create_task(self._run())
        try:
            await asyncio.shield(self._began)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Returns when the audit trail has the outcome."""
        self.close_soon()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    def close_soon(self) -> None:
        """The same for whoever cannot wait."""
        if not self._closing:
            self._closing = True
            # Before and after that it writes to the audit trail, in which nothing may interrupt it.
            if self._pouring and self._task is not None:
                self._task.cancel()

    @abstractmethod
    async def _pour(self, client: UserClient, audit_id: str) -> None:
        """Opens it, calls `_begin`, and hands on what comes. Cancelled when it shall end."""

    def _begin(self) -> None:
        if not self._began.done():
            self._began.set_result(None)

    def _conclude(self, recording: Recording) -> None:
        """Tells the audit trail how it ended, where that is no error."""
        if self._over is not None:
            recording.answered(self._over.code, "Ended", str(self._over))
        elif not self._began.done():
            recording.answered(0, "Closed", "Ended before an answer came")

    def _end(self, over: Over) -> None:
        self.close_soon()
        self._news.set()
        if self._on_over is not None:
            self._on_over(over)

    async def _run(self) -> None:
        order = self._order
        try:
            with places.take(order.account, SIZE), self._vigil.kept():
                async with record(order.recorded) as recording:
                    await self._as_viewer(recording)
        except Exception as error:  # noqa: BLE001  whoever reads is told
            self._error = error
        finally:
            if not self._began.done():
                self._fail()
            self._news.set()

    async def _as_viewer(self, recording: Recording) -> None:
        access = self._order.presence.access_in(self._order.cluster)
        client = self._order.cluster.runtime.as_user(access.identity)
        self._pouring = True
        try:
            if self._closing:
                raise asyncio.CancelledError
            await self._pour(client, recording.audit_id)
        except asyncio.CancelledError:
            pass
        finally:
            self._pouring = False
        self._conclude(recording)

    def _fail(self) -> None:
        """It never began."""
        error = self._over or self._error
        if error is None:
            self._began.cancel()
            return
        self._began.set_exception(error)
        # It may be that nobody waits any more.
        self._began.add_done_callback(lambda began: began.cancelled() or began.exception())


class Stream(Lasting):
    """`open`, then `read` to the end, then `close`."""

    def __init__(self, order: Order, on_over: Callable[[Over], None] | None = None) -> None:
        super().__init__(order, on_over)
        self._kept: list[bytes] = []
        self._size = 0
        self._room = Signal()

    async def read(self) -> bytes:
        """What comes next, as soon as there is anything; nothing at the end. Raises `Over`, and
        `ApiError` where the answer broke off."""
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
            await self._news.next()

    async def _pour(self, client: UserClient, audit_id: str) -> None:
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
            await self._room.next()
