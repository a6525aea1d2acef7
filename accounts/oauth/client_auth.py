"""Which client asks (RFC 6749, section 2.3): by HTTP Basic or in the form, never by both."""

import base64
import binascii
import hmac
from collections.abc import Mapping
from hashlib import sha256
from urllib.parse import unquote_plus

from django.http import HttpRequest

from accounts.oauth.clients import Client
from accounts.oauth.errors import invalid_client, invalid_request
from accounts.oauth.options import options

_MAX_HEADER = 4096


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
