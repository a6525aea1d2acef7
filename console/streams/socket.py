"""Base class for websockets of streams: one task per socket, translated errors and close codes.

The close codes are those of the live socket. The exception is too many open sockets, which also
makes the browser reconnect: after a page reload, the old sockets may still be open when the new
ones connect. Exceptions of streams, permissions and the cluster are converted to error messages.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, ClassVar, TypeVar

import msgspec
from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from console.audit.trail import AuditUnavailable
from console.kube.errors import ApiError, NotFound
from console.kube.gvr import PODS
from console.kube.tokenbucket import TokenBucket
from console.live.consumer import (
    BROKEN,
    NO_RIGHT,
    POLICY,
    SESSION_OVER,
    TOO_BIG,
    BaseWebsocketConsumer,
)
from console.live.flow import flow_of
from console.live.frames import error_frame
from console.live.limits import MAX_MESSAGE, SocketCap
from console.live.subscribe import language
from console.streams.memory_quota import QuotaExceeded
from console.streams.stream import StreamEnded
from console.ui.core.access import Access
from console.ui.core.clusters import Cluster, clusters
from console.ui.core.kind import ResourceKind
from console.ui.core.permissions import Denied, NotLoaded, Protected, Refused
from console.ui.core.requests import UserSession
from console.ui.fragments.empty_states import denied_text
from console.ui.navigation.page_routes import find_kind

log = logging.getLogger(__name__)

T = TypeVar("T")

_CODES = {401: SESSION_OVER, 403: NO_RIGHT, 503: BROKEN}


class BadMessage(ValueError):
    """Raised for an invalid message from the browser."""


class StreamSocket(BaseWebsocketConsumer):
    """Base class of stream sockets. `cap`: maximum sockets per account. `per_second`: message rate
    and burst limit.
    """

    cap: SocketCap
    per_second: ClassVar[float]
    #: Message if too many sockets are open.
    full: ClassVar[str | Promise]
    #: Exceptions that mean an invalid URL (error 400).
    bad_requests: ClassVar[tuple[type[Exception], ...]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._task: asyncio.Task[None] | None = None
        self._entered = ""
        self._bucket = TokenBucket(burst=self.per_second, per_second=self.per_second)
        self._lang = settings.LANGUAGE_CODE

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        self._flow = flow_of(scope)
        try:
            await super().__call__(scope, receive, send)
        finally:
            try:
                if self._task is not None:
                    self._task.cancel()
                    await asyncio.gather(self._task, return_exceptions=True)
                    self._task = None
            finally:
                # Leave even if the server doesn't wait for the task, which may wait for the
                # database.
                if self._entered:
                    self.cap.leave(self._entered)

    async def connect(self) -> None:
        account = self.scope.get("account")
        if not account or not self.scope.get("session_alive") or not self.scope.get("access_in"):
            await self.close()
            return
        self._lang = self.scope.get("language", self._lang)
        await self.accept()
        if self.cap.enter(account):
            self._entered = account
        else:
            with translation.override(self._lang):
                text = str(self.full)
            await self.end(429, text, BROKEN)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if len(text_data or bytes_data or "") > MAX_MESSAGE:
            await self.close(TOO_BIG)
        elif not self._bucket.take(asyncio.get_running_loop().time()):
            await self.close(POLICY)
        elif self._entered:
            try:
                self.hear(text_data or "", bytes_data or b"")
            except BadMessage:
                await self.close(POLICY)

    def hear(self, text: str, data: bytes) -> None:
        """Handle one text or binary message. Raise `BadMessage` for invalid input."""
        raise NotImplementedError

    def begin(self, lang: str, work: Coroutine[Any, Any, None]) -> None:
        """Start the task of this socket in the browser's language."""
        self._lang = language(lang)
        self._task = asyncio.create_task(self._run(work))

    def why(self, error: ApiError) -> str:
        """Return the translated reason for an error of the cluster."""
        raise NotImplementedError

    def named_cluster(self) -> tuple[Cluster, ResourceKind, UserSession]:
        """Return the cluster and the kind that the URL names (pods by default), and the session. Raise
        `NotFound` if the cluster or the kind doesn't exist.
        """
        given = self.scope["url_route"]["kwargs"]
        cluster = clusters.get(given["cluster"])
        kind = find_kind(cluster, given.get("resource", PODS.resource))
        if cluster is None or kind is None:
            raise NotFound(404, "")
        return cluster, kind, UserSession(self.scope["session_alive"], self.scope["access_in"])

    def require_user_of_page(self, page: str, access: Access) -> None:
        """Raise `Protected` unless the page was rendered for the user of `access`. `page` is the CSRF
        token of the page.

        In the meantime, the user may have started or stopped viewing the console as another user.
        """
        if self.scope["rendered_for"](page) != access.identity.name:
            raise Protected(_("You opened this page as another user. Reload the page."))

    async def end(self, code: int, text: str, close_code: int) -> None:
        await self.send(error_frame(code, text))
        await self.close(close_code)

    async def _run(self, work: Coroutine[Any, Any, None]) -> None:
        with translation.override(self._lang):
            try:
                await work
            except self.bad_requests as error:
                await self.end(400, str(error), POLICY)
            except SuspiciousOperation:
                await self.end(400, _("The address has too many parameters."), POLICY)
            except Denied as error:
                await self.end(403, denied_text(error, _("pods")), NO_RIGHT)
            except StreamEnded as error:
                await self.end(error.code, str(error), _CODES[error.code])
            except QuotaExceeded as error:
                await self.end(error.page_code, str(error), BROKEN)
            except NotLoaded as error:
                await self.end(503, str(error), BROKEN)
            except Refused as error:
                await self.end(error.page_code, str(error), POLICY)
            except AuditUnavailable:
                await self.end(503, _("The database is not available."), BROKEN)
            except ApiError as error:
                over = NO_RIGHT if error.code in (403, 404, 501) else BROKEN
                await self.end(error.page_code, self.why(error), over)
            except Exception:
                log.exception("A socket of a stream failed")
                await self.end(500, _("An internal error occurred in the console."), BROKEN)


def read_message(decoder: "msgspec.json.Decoder[T]", text: str) -> T:
    """Decode a message of the browser. Raise `BadMessage` for invalid input."""
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise BadMessage from error


async def await_or_fail(failed: "asyncio.Future[Any]", wanted: Coroutine[Any, Any, T]) -> T:
    """Await `wanted`, or raise the exception of `failed` if it fails first."""
    task = asyncio.create_task(wanted)
    try:
        await asyncio.wait((failed, task), return_when=asyncio.FIRST_COMPLETED)
        if failed.done():
            failed.result()
        return await task
    finally:
        task.cancel()
