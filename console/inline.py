"""Django's own middleware where it runs, without trips to other threads.

Under ASGI Django calls each hook of its synchronous middleware in another thread, in case it waits for
something. These wait for nothing but for the database when a session has to be saved, and a trip costs
more than what they do: several on each request, each of them a fight for the interpreter.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import markcoroutinefunction, sync_to_async
from django.conf import settings
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.db import DatabaseError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.locale import LocaleMiddleware
from django.utils.translation import gettext as _

from console.ui.threads import in_thread
from console.views.errors import error_page

log = logging.getLogger(__name__)

Response = HttpResponseBase


class AsyncMiddleware:
    """Ours, which never runs but on a loop."""

    async_capable, sync_capable = True, False

    def __init__(self, get_response: Callable[[Any], Awaitable[Response]]) -> None:
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: Any) -> Response:
        return await self.get_response(request)


class _Inline:
    """Calls both hooks on the loop. Comes before Django's class, whose asynchronous half it replaces."""

    get_response: Callable[[HttpRequest], Awaitable[Response]]
    process_request: Callable[[HttpRequest], Response | None]
    process_response: Callable[[HttpRequest, Response], Response]

    async def __acall__(self, request: HttpRequest) -> Response:
        response = self.process_request(request)
        if response is None:
            response = await self.get_response(request)
        return self.process_response(request, response)


class InlineLocaleMiddleware(_Inline, LocaleMiddleware):  # type: ignore[misc]
    """Reads a cookie and a header."""


class InlineMessageMiddleware(_Inline, MessageMiddleware):  # type: ignore[misc]
    """Messages are in a cookie (`MESSAGE_STORAGE`)."""


#: Bytes of a form that is parsed where it takes the loop no time; of a megabyte it is 25 ms.
_SMALL = 64 * 1024


class InlineCsrfMiddleware(_Inline, CsrfViewMiddleware):  # type: ignore[misc]
    """Compares texts. Reads the body of a POST, which has arrived and is in memory."""

    async def process_view(  # type: ignore[override]
        self, request: HttpRequest, callback: Any, args: Any, kwargs: Any
    ) -> Response | None:
        looks = request.method == "POST" and not getattr(callback, "csrf_exempt", False)
        length = request.META.get("CONTENT_LENGTH", "")
        if looks and not (length.isdigit() and int(length) <= _SMALL):
            # The request keeps it.
            await in_thread(getattr, request, "POST")
        return super().process_view(request, callback, args, kwargs)


class InlineSessionMiddleware(SessionMiddleware):
    """Goes to the database's thread to save a session, and only then. What cannot be saved is said (503),
    but not that a session is in use, which is no more than good to know."""

    async def __acall__(self, request: HttpRequest) -> Response:
        self.process_request(request)
        response: Any = await self.get_response(request)  # type: ignore[misc]
        session: Any = request.session
        if session.modified or settings.SESSION_SAVE_EVERY_REQUEST:
            try:
                return await sync_to_async(self.process_response)(request, response)
            except DatabaseError as error:
                log.error("A session cannot be saved: %s", error)
                return error_page(request, 503, _("The database cannot be used."))
        if getattr(session, "used", False):
            await sync_to_async(session.save_use)()
        return self.process_response(request, response)
