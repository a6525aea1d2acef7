"""Websocket consumer of live pages: `/ws/live`.

Requires a signed-in account with permissions; otherwise the handshake is refused. A connection
subscribes to one page at a time, or to none while the page is hidden. The shared view computes
the frames and sends them to all its connections (`console.live.sharedview`). The session is
looked up when the connection opens (by middleware) and periodically after that
(`console.live.sessionmonitor`), never while frames are computed.

Close codes: 4401 session expired, 4403 permission lost, 1008 too many messages or connections,
1009 message too long, 1013 internal error. Browsers reconnect automatically only after 1013.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from channels.consumer import get_handler_name
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from console.kube.factory import UnknownKind
from console.kube.tokenbucket import TokenBucket
from console.live import frames
from console.live.counters import counters
from console.live.flow import flow_of
from console.live.limits import BURST, MAX_MESSAGE, PER_SECOND, SocketCap, sockets
from console.live.sessionmonitor import get_session_monitor
from console.live.sharedview import SharedView
from console.live.sharedviews import get_shared_views
from console.live.subscribe import BadMessage, Subscription, read_message
from console.ui.core.access import Access, require_access
from console.ui.core.clusters import Cluster, clusters
from console.ui.core.object_source import TooManyProjects
from console.ui.core.permissions import Denied, may_know_kind
from console.ui.fragments.empty_states import denied_text

log = logging.getLogger(__name__)

SESSION_OVER, NO_RIGHT, POLICY, TOO_BIG, BROKEN = 4401, 4403, 1008, 1009, 1013


class BaseWebsocketConsumer(AsyncWebsocketConsumer):
    """Websocket consumer without channel layers and without database cleanup.

    Channel layers would run two more tasks per connection. Channels also checks database
    connections around every message, which the session lookup does itself.
    """

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        self.scope = scope
        self.base_send = send
        with suppress(StopConsumer):
            while True:
                await self.dispatch(await receive())

    async def dispatch(self, message: dict[str, Any]) -> None:
        await getattr(self, get_handler_name(message))(message)

    async def websocket_disconnect(self, message: dict[str, Any]) -> None:
        raise StopConsumer


class LiveConsumer(BaseWebsocketConsumer):
    cap: SocketCap = sockets

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.shared_view: SharedView | None = None
        self._account = ""
        self._access: Access | None = None
        self._ended = False
        self._bucket = TokenBucket(burst=BURST, per_second=PER_SECOND)
        self._lang = settings.LANGUAGE_CODE

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        self._flow = flow_of(scope)
        self._flow.on_clear = self._on_clear
        try:
            await super().__call__(scope, receive, send)
        finally:
            # Also runs if the server cancels the connection, in which case no disconnect message
            # arrives.
            self._leave()

    async def connect(self) -> None:
        account = self.scope.get("account")
        alive = self.scope.get("session_alive")
        decide = self.scope.get("access_in")
        if not account or alive is None or decide is None:
            await self.close()
            return
        self._alive: Callable[[], Awaitable[bool]] = alive
        self._decide: Callable[[Cluster], Access] = decide
        self._lang = self.scope.get("language", self._lang)
        await self.accept()
        if not self.cap.enter(account):
            await self._end(429, _("Too many pages are open. Close some of them."), POLICY)
            return
        self._account = account
        counters.sockets += 1
        get_session_monitor().enter(self)
        get_session_monitor().watch_permissions(clusters.host)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if len(text_data or bytes_data or "") > MAX_MESSAGE:
            await self.close(TOO_BIG)
        elif not self._bucket.take(asyncio.get_running_loop().time()):
            await self.close(POLICY)
        elif self._account and not self._ended:
            await self._read(text_data or "")

    async def _read(self, text: str) -> None:
        """Process a message. An invalid message leaves the current subscription unchanged."""
        try:
            with translation.override(self._lang):
                subscription = read_message(text)
            if subscription is None:
                get_shared_views().leave(self)
            else:
                await self._show(subscription)
        except UnknownKind:
            await self._refuse(404, _("No list found at this address."))
        except TooManyProjects as error:
            await self._refuse(400, str(error))
        except BadMessage as error:
            await self._refuse(error.code, str(error))
        except Exception as error:  # noqa: BLE001  logged there
            await self._fault(error)

    async def _refuse(self, code: int, text: str | Promise) -> None:
        with translation.override(self._lang):
            frame = frames.error_frame(code, str(text))
        await self.send(frame)

    async def _show(self, subscription: Subscription) -> None:
        self._lang = subscription.lang
        place = subscription.place
        with translation.override(self._lang):
            if not may_know_kind(self.access_in(place.cluster), place.kind):
                raise BadMessage(404, str(_("The page at this address has no live updates.")))
            get_session_monitor().watch_permissions(place.cluster)
            shared_view = get_shared_views().join_view(
                self, place, subscription.lang, subscription.known
            )
        if not self.clogged:
            await self.send(shared_view.freshness())

    # Used by shared views and the session monitor.

    @property
    def account(self) -> str:
        return self._account

    def access_in(self, cluster: Cluster) -> Access:
        """Return the account's access in the cluster. Raise `NoAccess` if it has none.

        The last result is cached, because a connection shows one page at a time.
        """
        if self._access is None or self._access.cluster is not cluster:
            self._access = require_access(self._decide(cluster))
        return self._access

    @property
    def clogged(self) -> bool:
        return self._flow.clogged

    async def send_message(self, message: dict[str, Any]) -> None:
        try:
            await self.base_send(message)
        except Exception:
            log.exception("Failed to send a frame")

    async def check(self) -> None:
        try:
            if not await self._alive():
                await self._end(401, _("Your session has ended."), SESSION_OVER)
        except Exception as error:  # noqa: BLE001  logged there
            await self._fault(error)

    async def fail(self, error: Exception) -> None:
        """Send the error and close the connection, because the viewer lost access or the
        permissions can't be determined.
        """
        if isinstance(error, Denied):
            kind = self._access.cluster.kinds.of(error.gvr) if self._access is not None else None
            with translation.override(self._lang):
                text = denied_text(error, kind.nouns if kind else error.gvr.resource)
            await self._end(403, text, NO_RIGHT)
            return
        await self._end(500, _("An internal error occurred in the console."), BROKEN)

    async def _fault(self, error: Exception) -> None:
        if not isinstance(error, Denied):
            log.error("Live websocket failed", exc_info=error)
        await self.fail(error)

    def _on_clear(self) -> None:
        if self.shared_view is not None:
            self.shared_view.schedule_update()

    async def _end(self, code: int, message: str | Promise, close_code: int) -> None:
        self._ended = True
        get_shared_views().leave(self)
        with translation.override(self._lang):
            frame = frames.error_frame(code, str(message))
        await self.send_message({"type": "websocket.send", "text": frame})
        await self.send_message({"type": "websocket.close", "code": close_code})

    def _leave(self) -> None:
        get_shared_views().leave(self)
        if self._account:
            self.cap.leave(self._account)
            counters.sockets -= 1
            get_session_monitor().leave(self)
            self._account = ""


class RefuseConsumer(BaseWebsocketConsumer):
    """Refuses unknown websocket URLs: closing before accepting returns 403."""

    async def connect(self) -> None:
        await self.close()
