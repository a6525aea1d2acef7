"""Tokens of the console's service accounts: requested when needed, valid for an hour, never stored.

https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/
"""

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import msgspec
import urllib3
from joserfc import jws
from joserfc.errors import JoseError
from kubernetes import client as official

from console.kube.errors import ApiError, Unauthorized, Unavailable
from console.kube.kubeconfig import ISSUER, NAMESPACE, service_account
from console.kube.messages import Message

log = logging.getLogger(__name__)

#: Requested lifetime in seconds. A server may grant less, but at least ten minutes.
LIFETIME = 3600
#: Fraction of the lifetime after which a token is renewed.
RENEWED_AT = 0.8
#: Timeout of the request, and minimum seconds between two requests after a failure.
_TIMEOUT, _AGAIN = 4.0, 2.0


class Claims(msgspec.Struct, frozen=True):
    """Unverified claims of a token. Use them for scheduling, never for authentication.

    `issued` and `expires` are Unix timestamps. Missing claims are 0 and "".
    """

    subject: str = msgspec.field(name="sub", default="")
    issued: float = msgspec.field(name="iat", default=0.0)
    expires: float = msgspec.field(name="exp", default=0.0)

    @property
    def lifetime(self) -> float:
        """Return the lifetime in seconds, 0 if unknown."""
        return max(0.0, self.expires - self.issued) if self.issued and self.expires else 0.0


def claims_of(token: str) -> Claims:
    """Return the claims of a token. They are empty if it is not a JSON Web Token."""
    try:
        return msgspec.json.decode(jws.extract_compact(token.encode()).payload, type=Claims)
    except (JoseError, ValueError, msgspec.DecodeError):
        return Claims()


def is_issuer_token(token: str) -> bool:
    name = service_account(ISSUER)
    return claims_of(token).subject == f"system:serviceaccount:{NAMESPACE}:{name}"


def request_token(configuration: official.Configuration, role: str, seconds: int = LIFETIME) -> str:
    """Request a token for the role's service account, valid for `seconds` or what the server
    allows.

    Raise `Unauthorized` if the console's credential is not valid anymore, and `Unavailable` for
    all other failures: they say nothing about the permissions of the user.
    """
    name = service_account(role)
    # Callers wait for this request, and urllib3 would retry three times.
    configuration.retries = False
    spec = official.V1TokenRequestSpec(audiences=[], expiration_seconds=seconds)
    body = official.AuthenticationV1TokenRequest(spec=spec)
    try:
        with official.ApiClient(configuration) as api:
            made: Any = official.CoreV1Api(api).create_namespaced_service_account_token(
                name, NAMESPACE, body, _request_timeout=_TIMEOUT, _preload_content=False
            )
        token = json.loads(made.data)["status"]["token"]
    except official.ApiException as error:
        if error.status == 401:
            raise Unauthorized(
                401, Message("The console's credentials have expired or were revoked")
            ) from error
        raise _no_token(str(error.status), name) from error
    except (urllib3.exceptions.HTTPError, OSError, ValueError, TypeError, KeyError) as error:
        raise _no_token("no valid response", name) from error
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise _no_token("", name)
    return token


def _no_token(why: str, name: str) -> Unavailable:
    log.info("Cannot get a token of %s: %s", name, why or "the response has none")
    return Unavailable(Message("The Kubernetes API did not issue a token to the console"))


@dataclass(frozen=True, slots=True)
class _Token:
    """A token. `renew` and `ends` are monotonic times, because the server's clock may differ.

    `renew` is 0 for a token that the server may have rejected.
    """

    text: str = ""
    renew: float = 0.0
    ends: float = 0.0


class RenewedToken:
    """A token that is renewed before it expires. `ask` raises `ApiError`."""

    def __init__(self, ask: Callable[[], str]) -> None:
        self._ask = ask
        self._lock = Lock()
        self._token = _Token()
        self._failure: ApiError | None = None
        self._again_at = 0.0

    def invalidate(self) -> None:
        """Request a new token on next use because the server may have rejected this one.

        If the request fails, the old token is still used.
        """
        with self._lock:
            self._token = replace(self._token, renew=0.0)

    @property
    def is_current(self) -> bool:
        """True if `get` returns without a request."""
        return time.monotonic() < self._token.renew

    def get(self) -> str:
        """Return the token. Wait for a new one unless the old one is still valid. Raise `ApiError`."""
        now, token = time.monotonic(), self._token
        if now < token.renew:
            return token.text
        if not self._lock.acquire(blocking=now >= token.ends or not token.renew):
            return token.text
        try:
            # Another thread may have renewed it while this one waited.
            if time.monotonic() >= self._token.renew:
                self._renew()
            return self._token.text
        finally:
            self._lock.release()

    def _renew(self) -> None:
        """Request a new token. Raise `ApiError` if that fails and the old one has expired."""
        now = time.monotonic()
        if now >= self._again_at:
            try:
                self._token, self._failure = _made(self._ask(), now), None
                return
            except ApiError as error:
                self._failure, self._again_at = error, time.monotonic() + _AGAIN
                log.warning("Cannot renew the console's token: %s", error.message)
        if now >= self._token.ends and self._failure is not None:
            raise self._failure


def _made(text: str, now: float) -> _Token:
    lifetime = claims_of(text).lifetime or LIFETIME
    return _Token(text, now + lifetime * RENEWED_AT, now + lifetime)
