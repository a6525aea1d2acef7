"""What the endpoints of the token service share.

They are for programs: no cookie decides anything, so there is no CSRF token, and whatever goes wrong is
JSON in the shape of RFC 6749. What cannot be decided because the database or the users are away is 503
and never a guess.
"""

import logging
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from typing import Any
from urllib.parse import parse_qsl

from django.core.exceptions import RequestDataTooBig
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.views.decorators.csrf import csrf_exempt

from accounts.oauth.errors import OAuthError, invalid_request, unavailable
from accounts.signin.passwords import TooBusy
from accounts.users.directory import UsersUnknown
from console.audit.trail import AuditUnavailable
from console.kube.clock import Clock, SystemClock

log = logging.getLogger(__name__)

#: Time as the whole token service sees it.
clock: Clock = SystemClock()

View = Callable[..., Coroutine[Any, Any, HttpResponse]]
FORM = "application/x-www-form-urlencoded"
MAX_BODY = 32 * 1024
#: An authorization request travels through the login page as its return address, which is limited too.
MAX_QUERY = 1700
_MAX_FIELDS = 32

Fields = Mapping[str, str]


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


# The parameters of a request, read strictly: what could be understood in two ways is refused.
#
# RFC 6749, section 3.2: a parameter comes once; one without a value counts as not sent; tokens, secrets
# and codes never come in an address.


def form_of(request: HttpRequest) -> Fields:
    """What was posted as a form. Raises `OAuthError`, also if there is anything in the address."""
    if request.META.get("QUERY_STRING"):
        raise invalid_request("The parameters belong into the body, not into the address.")
    if request.content_type != FORM:
        raise invalid_request(f"The body must be {FORM}.")
    return parse(body_of(request))


def body_of(request: HttpRequest) -> bytes:
    """Raises `OAuthError`."""
    try:
        body = request.body
    except (RequestDataTooBig, UnreadablePostError) as error:
        raise too_large() from error
    if len(body) > MAX_BODY:
        raise too_large()
    return body


def query_of(request: HttpRequest) -> Fields:
    """Raises `OAuthError`."""
    text = str(request.META.get("QUERY_STRING", ""))
    if len(text) > MAX_QUERY:
        raise invalid_request("The address is too long.")
    return parse(text.encode("latin-1", "replace"))


def parse(text: bytes) -> Fields:
    """Raises `OAuthError`."""
    try:
        pairs = parse_qsl(
            text.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(text),
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError as error:
        raise invalid_request("The parameters cannot be read.") from error
    if len({name for name, _ in pairs}) != len(pairs):
        raise invalid_request("A parameter is there twice.")
    if any("\0" in name or "\0" in value for name, value in pairs):
        raise invalid_request("A parameter has a NUL character.")
    return {name: value for name, value in pairs if value}


def required(fields: Fields, name: str) -> str:
    """Raises `OAuthError` if it is not there."""
    value = fields.get(name)
    if value is None:
        raise invalid_request(f"{name} is missing.")
    return value


def too_large() -> OAuthError:
    return OAuthError("invalid_request", "The request is too large.", status=413)
