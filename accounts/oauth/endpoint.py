"""What the endpoints of the token service share.

They are for programs: no cookie decides anything, so there is no CSRF token, and whatever goes wrong is
JSON in the shape of RFC 6749. What cannot be decided because the database or the users are away is 503
and never a guess.
"""

import logging
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from accounts.directory import UsersUnknown
from accounts.line import TooBusy
from accounts.oauth.errors import OAuthError, unavailable
from console.audit.trail import AuditUnavailable
from console.kube.clock import Clock, SystemClock

log = logging.getLogger(__name__)

#: Time as the whole token service sees it.
clock: Clock = SystemClock()

View = Callable[..., Coroutine[Any, Any, HttpResponse]]


def endpoint(*methods: str) -> Callable[[View], View]:
    """Answers other methods with 405, and every `OAuthError` that the view raises."""

    def decorate(view: View) -> View:
        @csrf_exempt
        @wraps(view)
        async def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            try:
                if request.method not in methods:
                    raise _wrong_method(methods)
                return await view(request, *args, **kwargs)
            except OAuthError as error:
                return error.response()
            except TooBusy:
                return unavailable("Too many passwords are being checked.").response()
            except UsersUnknown:
                return unavailable("The users have not arrived from the cluster.").response()
            except (AuditUnavailable, DatabaseError) as error:
                log.error("The token service cannot use the database: %s", error)
                return unavailable("The database cannot be used.").response()

        return guarded

    return decorate


def _wrong_method(methods: tuple[str, ...]) -> OAuthError:
    allowed = ", ".join(methods)
    return OAuthError("invalid_request", f"This takes {allowed} alone.", status=405, Allow=allowed)
