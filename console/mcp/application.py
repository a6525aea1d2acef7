"""ASGI application for `/mcp`. It runs before Django, with the gateway's authentication and limits."""

import logging
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from accounts.oauth.errors import no_token
from accounts.signin.asgi import has_our_origin
from console.gateway.application import check_host
from console.gateway.authentication import authenticate
from console.gateway.errors import NOT_STORED, SECURITY_HEADERS, Refusal, send_refusal
from console.gateway.headers import check_request_headers
from console.gateway.limits import FairSlots
from console.live.perloop import PerLoop
from console.mcp.pages import Application, Pages
from console.mcp.protocol import respond
from console.proxying.request import ProxyRequest, Scope

log = logging.getLogger(__name__)

PATH = "/mcp"
#: Requests at the same time, in total and per user, and how many of a user wait.
AT_ONCE, USER_AT_ONCE, USER_WAITING = 64, 8, 32

_slots = PerLoop(lambda: FairSlots(AT_ONCE, USER_AT_ONCE, USER_WAITING))


class McpApplication:
    """Answers requests for `PATH`, and passes all other requests to `inner`. `pages` is Django's
    application.
    """

    def __init__(self, inner: Application, pages: Application) -> None:
        self._inner, self._pages = inner, pages

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> Any:
        if scope["type"] != "http" or scope["path"] != PATH:
            return await self._inner(scope, receive, send)
        asked = ProxyRequest.of(scope)
        with translation.override(asked.lang):
            return await self._answer(asked, receive, send)

    async def _answer(self, asked: ProxyRequest, receive: Any, send: Any) -> None:
        answer = _Answer(send)
        try:
            await self._filter(asked, receive, answer)
        except Refusal as refusal:
            await send_refusal(send, refusal)
        except Exception:
            log.exception("A request of an assistant failed")
            if not answer.began:
                text = _("An internal error occurred in the console.")
                await send_refusal(send, Refusal(500, text))

    async def _filter(self, asked: ProxyRequest, receive: Any, answer: "_Answer") -> None:
        check_host(asked)
        check_request_headers(asked.raw_headers)
        if "origin" in asked.headers and not has_our_origin(asked.scope):
            raise Refusal(403, _("The request came from another site and was rejected."))
        if not asked.headers.get("authorization"):
            # Sessions and certificates don't count here.
            error = no_token()
            raise Refusal(error.status, error.description, **error.headers)
        caller = await authenticate(asked, upgrades=False)
        if asked.method != "POST":
            # There are no streams of the server's own messages, and no sessions to end.
            raise Refusal(405, _("This HTTP method is not supported."), allow="POST")
        async with _slots().slot(caller.account):
            await respond(asked.scope, receive, answer.send, Pages(self._pages, asked.scope))


class _Answer:
    """Adds the security headers to a response. `began` is True after its start."""

    def __init__(self, send: Any) -> None:
        self.began, self._send = False, send

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.began = True
            headers = [*message["headers"], NOT_STORED, *SECURITY_HEADERS]
            message = {**message, "headers": headers}
        await self._send(message)
