"""What the endpoints of the token service share.

They are for programs: no cookie decides anything, so there is no CSRF token, and whatever goes wrong is
JSON in the shape of RFC 6749. What cannot be decided because the database or the users are away is 503
and never a guess.
"""

import base64
import binascii
import hmac
import logging
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

from django.core.exceptions import RequestDataTooBig
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.views.decorators.csrf import csrf_exempt

from accounts.oauth.clients import Client
from accounts.oauth.errors import OAuthError, invalid_client, invalid_request, unavailable
from accounts.oauth.options import options
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
_MAX_HEADER = 4096


def endpoint(*methods: str, again: bool = True) -> Callable[[View], View]:
    """Answers other methods with 405, and every `OAuthError` that the view raises. `again`: see
    `unavailable`."""

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
                text = "The users have not arrived from the cluster."
                return unavailable(text, again=again).response()
            except (AuditUnavailable, DatabaseError) as error:
                log.error("The token service cannot use the database: %s", error)
                return unavailable("The database cannot be used.", again=again).response()

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


# Which client asks (RFC 6749, section 2.3): by HTTP Basic or in the form, never by both.


def client_of(request: HttpRequest, fields: Mapping[str, str]) -> Client:
    """Raises `OAuthError`. A public client has no secret, so all that is known is what it says."""
    given = basic_of(request)
    if given is None:
        return _checked(fields.get("client_id", ""), fields.get("client_secret", ""))
    name, secret = (unquote_plus(part) for part in given)
    if "client_secret" in fields or fields.get("client_id", name) != name:
        raise invalid_request("The client shows itself in two ways.")
    return _checked(name, secret)


def basic_of(request: HttpRequest) -> tuple[str, str] | None:
    """Name and password of an `Authorization: Basic`, or None if there is no such header. Raises
    `OAuthError`."""
    header = request.headers.get("Authorization", "")
    scheme, _, value = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        if len(value) > _MAX_HEADER:
            raise ValueError
        name, colon, password = base64.b64decode(value, validate=True).decode().partition(":")
    except (ValueError, binascii.Error) as error:
        raise invalid_client() from error
    if not colon or "\0" in name or "\0" in password:
        raise invalid_client()
    return name, password


def _checked(name: str, secret: str) -> Client:
    """In the same time whether the client exists or not."""
    client = options().clients.get(name)
    expected = client.secret if client is not None else ""
    same = hmac.compare_digest(_hashed(secret), _hashed(expected))
    if client is None or not same:
        raise invalid_client()
    return client


def _hashed(text: str) -> bytes:
    return sha256(text.encode("utf-8", "replace")).digest()
