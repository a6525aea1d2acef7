"""Variants of Django's synchronous middleware that run on the event loop.

Under ASGI, Django runs each hook of synchronous middleware in another thread. These hooks don't
block, except when a session is saved, and switching threads several times per request costs more
than the hooks themselves.
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

from console.ui.core.threads import in_thread
from console.views.errors import error_page

log = logging.getLogger(__name__)

Response = HttpResponseBase


class AsyncMiddleware:
    """Base class of middleware that only runs on an event loop."""

    async_capable, sync_capable = True, False

    def __init__(self, get_response: Callable[[Any], Awaitable[Response]]) -> None:
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: Any) -> Response:
        return await self.get_response(request)


class _Inline:
    """Calls both hooks on the event loop. Must precede Django's class, whose `__acall__` it
    overrides.
    """

    get_response: Callable[[HttpRequest], Awaitable[Response]]
    process_request: Callable[[HttpRequest], Response | None]
    process_response: Callable[[HttpRequest, Response], Response]

    async def __acall__(self, request: HttpRequest) -> Response:
        response = self.process_request(request)
        if response is None:
            response = await self.get_response(request)
        return self.process_response(request, response)


class InlineLocaleMiddleware(_Inline, LocaleMiddleware):  # type: ignore[misc]
    """Activates the language from the cookie or the Accept-Language header."""


class InlineMessageMiddleware(_Inline, MessageMiddleware):  # type: ignore[misc]
    """Loads and stores messages in a cookie (`MESSAGE_STORAGE`)."""


#: Maximum size in bytes of a form that is parsed on the event loop. Parsing a megabyte takes 25 ms.
_SMALL = 64 * 1024


class InlineCsrfMiddleware(_Inline, CsrfViewMiddleware):  # type: ignore[misc]
    """Checks the CSRF token. The body of a POST request is already in memory."""

    async def process_view(  # type: ignore[override]
        self, request: HttpRequest, callback: Any, args: Any, kwargs: Any
    ) -> Response | None:
        looks = request.method == "POST" and not getattr(callback, "csrf_exempt", False)
        length = request.META.get("CONTENT_LENGTH", "")
        if looks and not (length.isdigit() and int(length) <= _SMALL):
            # Parses the form in a thread; the request caches the result.
            await in_thread(getattr, request, "POST")
        return super().process_view(request, callback, args, kwargs)


class InlineSessionMiddleware(SessionMiddleware):
    """Uses the database thread only to save a session.

    Return 503 if a modified session can't be saved. Errors while saving the time of last use are
    ignored.
    """

    async def __acall__(self, request: HttpRequest) -> Response:
        self.process_request(request)
        response: Any = await self.get_response(request)  # type: ignore[misc]
        session: Any = request.session
        if session.modified or settings.SESSION_SAVE_EVERY_REQUEST:
            try:
                return await sync_to_async(self.process_response)(request, response)
            except DatabaseError as error:
                log.error("Cannot save the session: %s", error)
                return error_page(request, 503, _("The database is not available."))
        if getattr(session, "used", False):
            await sync_to_async(session.save_last_used)()
        return self.process_response(request, response)
