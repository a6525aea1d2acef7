"""The live socket: `/ws/live`.

A socket belongs to a signed-in account with rights; without either the handshake is refused. It follows
one list at a time. Every quarter of a second at most it looks at what changed, decides the viewer's
rights anew and sends what differs. The session is looked up when the socket opens (by middleware), every
`check_seconds` and when rights changed, never while frames are made.

Codes it closes with: 4401 the session is over, 4403 the right is gone, 1008 too many messages or
sockets, 1009 a message is too long, 1013 the console made a mistake; after this one alone browsers come
back by themselves.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from channels.consumer import get_handler_name
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from console.kube.gvr import GLOBAL_ROLE_BINDINGS, GLOBAL_ROLES, USERS
from console.kube.runtime import get_runtime
from console.live import frames
from console.live.hub import get_hub
from console.live.limits import MAX_MESSAGE, SocketCap, TokenBucket, sockets
from console.live.mailbox import Mail, Mailbox
from console.live.subscribe import BadMessage, Subscription, read_message
from console.live.view import LiveView
from console.ui.access import Access, NoAccess, require_access
from console.ui.decisions import Denied, readable_namespaces
from console.ui.registry import kinds
from console.ui.states import denied_text

log = logging.getLogger(__name__)

#: Types whose objects say who may do what: a change of one asks for a new decision.
RIGHTS = (USERS, GLOBAL_ROLES, GLOBAL_ROLE_BINDINGS)
SESSION_OVER, NO_RIGHT, POLICY, TOO_BIG, BROKEN = 4401, 4403, 1008, 1009, 1013


class _Socket(AsyncWebsocketConsumer):
    """Channels looks after the database's connections around every message, on another thread. Nothing
    here uses them: whoever asks for the session looks after its own."""

    async def dispatch(self, message: dict[str, Any]) -> None:
        await getattr(self, get_handler_name(message))(message)

    async def websocket_disconnect(self, message: dict[str, Any]) -> None:
        raise StopConsumer


class LiveConsumer(_Socket):
    #: Seconds between two flushes, between two looks at the session, and at least between two of them
    #: however often rights change.
    flush_seconds = 0.25
    check_seconds = 15.0
    check_gap = 2.0
    cap: SocketCap = sockets

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._account = ""
        self._bucket = TokenBucket()
        self._mailbox = Mailbox()
        self._view: LiveView | None = None
        self._lang = settings.LANGUAGE_CODE
        self._end_feed: Callable[[], None] = lambda: None
        self._end_rights: list[Callable[[], None]] = []
        self._task: asyncio.Task[None] | None = None
        # Frames of an old subscription must not follow those of a new one.
        self._sending = asyncio.Lock()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            # Also when the server cancels the socket, in which case nobody says "disconnect".
            await self._leave()

    async def connect(self) -> None:
        account = self.scope.get("account")
        alive = self.scope.get("session_alive")
        try:
            self._access: Access = require_access(self.scope.get("access"))
        except NoAccess:
            account = None
        if not account or alive is None:
            await self.close()
            return
        self._alive: Callable[[], Awaitable[bool]] = alive
        await self.accept()
        if not self.cap.enter(account):
            await self._fail(429, _("Too many pages are open."), POLICY)
            return
        self._account = account
        self._follow_rights()
        self._task = asyncio.create_task(self._follow())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if len(text_data or bytes_data or "") > MAX_MESSAGE:
            await self.close(TOO_BIG)
        elif not self._bucket.take(asyncio.get_running_loop().time()):
            await self.close(POLICY)
        elif self._account:
            await self._subscribe(text_data or "")

    async def _subscribe(self, text: str) -> None:
        """A message that means nothing leaves the socket and what it follows as they are."""
        async with self._sending, self._ending_on_faults():
            try:
                with translation.override(self._lang):
                    subscription = read_message(text)
                await self._open(subscription)
            except BadMessage as error:
                await self.send(frames.error_frame(error.code, str(error)))

    async def _open(self, subscription: Subscription) -> None:
        self._end_feed()
        self._view = None
        self._lang = subscription.lang
        place = subscription.place
        # Before the informer: nobody makes the console watch what they may not see.
        readable_namespaces(place.kind, self._access, place.spec.namespaces)
        informer = get_runtime().informer(place.kind.gvr)
        # Listening comes before reading, or a change in between would be lost.
        self._end_feed = get_hub().subscribe(informer, self._mailbox)
        self._view = LiveView(subscription, self._access, informer)
        await self._send_all(self._view.start())

    def _follow_rights(self) -> None:
        running = get_runtime().informers()
        hub = get_hub()
        self._end_rights = [
            hub.subscribe(running[gvr], self._mailbox, rights=True)
            for gvr in RIGHTS
            if gvr in running
        ]

    async def _follow(self) -> None:
        """Flushes and checks until the socket ends."""
        async with self._ending_on_faults():
            await self._flush_and_check()

    async def _flush_and_check(self) -> None:
        clock = asyncio.get_running_loop().time
        checked = clock()
        check_at = checked + self.check_seconds
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(check_at):
                    await self._mailbox.wait()
            mail = self._mailbox.take()
            if mail.state:
                check_at = min(check_at, checked + self.check_gap)
            if clock() >= check_at:
                if not await self._alive():
                    await self._fail(401, _("Your session is over."), SESSION_OVER)
                    return
                checked = clock()
                check_at = checked + self.check_seconds
            await self._flush(mail)
            await asyncio.sleep(self.flush_seconds)

    async def _flush(self, mail: Mail) -> None:
        async with self._sending:
            if self._view is not None:
                await self._send_all(self._view.flush(mail))

    async def _send_all(self, found: list[str]) -> None:
        for frame in found:
            await self.send(frame)

    @asynccontextmanager
    async def _ending_on_faults(self) -> AsyncIterator[None]:
        """Nothing more is shown once the viewer may not see it, or nobody knows whether they may."""
        try:
            yield
        except Denied as denied:
            kind = kinds.find(denied.gvr.qualified)
            with translation.override(self._lang):
                text = denied_text(denied, kind.nouns if kind else denied.gvr.resource)
            await self._fail(403, text, NO_RIGHT)
        except Exception:
            log.exception("A live socket failed")
            await self._fail(500, _("The console made a mistake."), BROKEN)

    async def _fail(self, code: int, message: str | Promise, close_code: int) -> None:
        self._view = None
        with translation.override(self._lang):
            frame = frames.error_frame(code, str(message))
        await self.send(frame)
        await self.close(close_code)

    async def _leave(self) -> None:
        self._end_feed()
        for end in self._end_rights:
            end()
        if self._account:
            self.cap.leave(self._account)
            self._account = ""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


class RefuseConsumer(_Socket):
    """Of addresses where there is no socket: closing before accepting answers 403."""

    async def connect(self) -> None:
        await self.close()
