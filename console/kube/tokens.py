"""Tokens of the console's service accounts: asked for when needed, good for an hour, kept nowhere.

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
from console.kube.sentences import Sentence

log = logging.getLogger(__name__)

#: Seconds that a token is asked for. Servers may give it less, and none less than ten minutes.
LIFETIME = 3600
#: The share of its lifetime after which another is asked for.
RENEWED_AT = 0.8
#: Seconds for the question, and between two of them after one that failed.
_TIMEOUT, _AGAIN = 4.0, 2.0


class Claims(msgspec.Struct, frozen=True):
    """What a token says of itself, unchecked: for planning, never for deciding whom to trust.

    `issued` and `expires` are seconds since 1970; 0 and "" for what it does not say.
    """

    subject: str = msgspec.field(name="sub", default="")
    issued: float = msgspec.field(name="iat", default=0.0)
    expires: float = msgspec.field(name="exp", default=0.0)

    @property
    def lifetime(self) -> float:
        """Seconds; 0 where it does not say."""
        return max(0.0, self.expires - self.issued) if self.issued and self.expires else 0.0


def claims_of(token: str) -> Claims:
    """Those of what is no JSON Web Token are empty."""
    try:
        return msgspec.json.decode(jws.extract_compact(token.encode()).payload, type=Claims)
    except (JoseError, ValueError, msgspec.DecodeError):
        return Claims()


def is_of_issuer(token: str) -> bool:
    name = service_account(ISSUER)
    return claims_of(token).subject == f"system:serviceaccount:{NAMESPACE}:{name}"


def request_token(configuration: official.Configuration, role: str, seconds: int = LIFETIME) -> str:
    """A token of the role's service account, for so many seconds or what the server allows.

    Raises `Unauthorized` where the credential that asks counts no more, and `Unavailable` for everything
    else: it says nothing of what whoever is served may do.
    """
    name = service_account(role)
    # Everybody waits for it: urllib3 would ask three times more.
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
                401, Sentence("The credential of the console counts no more")
            ) from error
        raise _no_token(str(error.status), name) from error
    except (urllib3.exceptions.HTTPError, OSError, ValueError, TypeError, KeyError) as error:
        raise _no_token(type(error).__name__, name) from error
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise _no_token("", name)
    return token


def _no_token(why: str, name: str) -> Unavailable:
    log.info("No token of %s: %s", name, why or "the answer has none")
    return Unavailable(Sentence("The Kubernetes API gives the console no token"))


@dataclass(frozen=True, slots=True)
class _Token:
    """`renew` and `ends`: of the monotonic clock, for the server's may be another; `renew` is 0 for one
    that is in doubt."""

    text: str = ""
    renew: float = 0.0
    ends: float = 0.0


class Requested:
    """A token that is asked for anew before it ends. `ask` raises `ApiError`."""

    def __init__(self, ask: Callable[[], str]) -> None:
        self._ask = ask
        self._lock = Lock()
        self._token = _Token()
        self._failure: ApiError | None = None
        self._again_at = 0.0

    def doubt(self) -> None:
        """The server did not take it, or something else that it was sent with: the next who wants it asks
        for another. Where there is none it may still count."""
        with self._lock:
            self._token = replace(self._token, renew=0.0)

    def text(self) -> str:
        """Waits while one is asked for, unless the last one still counts. Raises `ApiError`."""
        now, token = time.monotonic(), self._token
        if now < token.renew:
            return token.text
        if not self._lock.acquire(blocking=now >= token.ends or not token.renew):
            return token.text
        try:
            # Somebody else may have asked while this one waited.
            if time.monotonic() >= self._token.renew:
                self._renew()
            return self._token.text
        finally:
            self._lock.release()

    def _renew(self) -> None:
        """Leaves a token that counts, or raises `ApiError`."""
        now = time.monotonic()
        if now >= self._again_at:
            try:
                self._token, self._failure = _made(self._ask(), now), None
                return
            except ApiError as error:
                self._failure, self._again_at = error, time.monotonic() + _AGAIN
                log.warning("The console's token is not renewed: %s", error.message)
        if now >= self._token.ends and self._failure is not None:
            raise self._failure


def _made(text: str, now: float) -> _Token:
    lifetime = claims_of(text).lifetime or LIFETIME
    return _Token(text, now + lifetime * RENEWED_AT, now + lifetime)
