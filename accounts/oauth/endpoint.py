"""Request parsing and error responses shared by the endpoints of the token service.

The endpoints are for API clients. They don't rely on cookies, so no CSRF token is required, and
errors are JSON as defined by RFC 6749. If the database or the users are unavailable, the
response is 503.
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
from accounts.users.directory import UsersNotCached
from console.audit.trail import AuditUnavailable

log = logging.getLogger(__name__)

View = Callable[..., Coroutine[Any, Any, HttpResponse]]
FORM = "application/x-www-form-urlencoded"
MAX_BODY = 32 * 1024
#: An authorization request is passed through the sign-in page as the return URL, whose length is
#: limited.
MAX_QUERY = 1700
_MAX_FIELDS = 32

Fields = Mapping[str, str]
_MAX_HEADER = 4096


def endpoint(*methods: str, again: bool = True) -> Callable[[View], View]:
    """Decorate a view: reject other methods with 405 and convert errors to responses.

    `again` is passed to `unavailable`.
    """
    allowed = ", ".join(methods)

    def decorate(view: View) -> View:
        @csrf_exempt
        @wraps(view)
        async def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            try:
                if request.method not in methods:
                    text = f"Allowed methods: {allowed}."
                    raise OAuthError("invalid_request", text, status=405, Allow=allowed)
                return await view(request, *args, **kwargs)
            except OAuthError as error:
                return error.response()
            except TooBusy:
                return unavailable("Too many sign-ins at the moment. Try again later.").response()
            except UsersNotCached:
                text = "The users are not loaded yet. Try again later."
                return unavailable(text, again=again).response()
            except (AuditUnavailable, DatabaseError) as error:
                log.error("The token service can't access the database: %s", error)
                return unavailable("The database cannot be used.", again=again).response()

        return guarded

    return decorate


# Strict parsing of request parameters. Ambiguous requests are rejected.
#
# RFC 6749, section 3.2: a parameter must not be repeated, and a parameter without a value is
# treated as omitted. Tokens, secrets and codes are never accepted in a URL.


def form_of(request: HttpRequest) -> Fields:
    """Return the parameters of a form post. Raise `OAuthError`, also if the URL has a query string."""
    if request.META.get("QUERY_STRING"):
        raise invalid_request("Send the parameters in the body, not in the URL.")
    if request.content_type != FORM:
        raise invalid_request(f"The body must be {FORM}.")
    return parse(body_of(request))


def body_of(request: HttpRequest) -> bytes:
    """Return the request body. Raise `OAuthError` if it is too large."""
    try:
        body = request.body
    except (RequestDataTooBig, UnreadablePostError) as error:
        raise too_large() from error
    if len(body) > MAX_BODY:
        raise too_large()
    return body


def query_of(request: HttpRequest) -> Fields:
    """Return the parameters of the query string. Raise `OAuthError`."""
    text = str(request.META.get("QUERY_STRING", ""))
    if len(text) > MAX_QUERY:
        raise invalid_request("The URL is too long.")
    return parse(text.encode("latin-1", "replace"))


def parse(text: bytes) -> Fields:
    """Parse form-encoded parameters. Raise `OAuthError`."""
    try:
        pairs = parse_qsl(
            text.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(text),
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError as error:
        raise invalid_request("The parameters are malformed.") from error
    if len({name for name, _ in pairs}) != len(pairs):
        raise invalid_request("A parameter is repeated.")
    if any("\0" in name or "\0" in value for name, value in pairs):
        raise invalid_request("A parameter contains a NUL character.")
    return {name: value for name, value in pairs if value}


def required(fields: Fields, name: str) -> str:
    """Return a parameter. Raise `OAuthError` if it is missing."""
    value = fields.get(name)
    if value is None:
        raise invalid_request(f"{name} is missing.")
    return value


def too_large() -> OAuthError:
    return OAuthError("invalid_request", "The request is too large.", status=413)


# Client authentication (RFC 6749, section 2.3): HTTP Basic or form parameters, never both.


def client_of(request: HttpRequest, fields: Mapping[str, str]) -> Client:
    """Return the authenticated client. Raise `OAuthError`.

    A public client has no secret and is identified only by its name.
    """
    given = basic_of(request)
    if given is None:
        return _checked(fields.get("client_id", ""), fields.get("client_secret", ""))
    name, secret = (unquote_plus(part) for part in given)
    if "client_secret" in fields or fields.get("client_id", name) != name:
        raise invalid_request(
            "Send the client's credentials in the header or in the body, not both."
        )
    return _checked(name, secret)


def basic_of(request: HttpRequest) -> tuple[str, str] | None:
    """Return username and password of the HTTP Basic header, or None without one. Raise
    `OAuthError`.
    """
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
    """Check the client's secret in constant time, whether or not the client exists."""
    client = options().clients.get(name)
    expected = client.secret if client is not None else ""
    same = hmac.compare_digest(_hashed(secret), _hashed(expected))
    if client is None or not same:
        raise invalid_client()
    return client


def _hashed(text: str) -> bytes:
    return sha256(text.encode("utf-8", "replace")).digest()
