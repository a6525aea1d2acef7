"""`POST /oauth/authenticate`: TokenReview webhook for kube-apiserver.

https://kubernetes.io/docs/reference/access-authn-authz/authentication/#webhook-token-authentication

The caller authenticates with HTTP Basic as a client with `reviewTokens: true`. An invalid token
is a normal result. If the token can't be checked, the response is 503, and kube-apiserver
rejects the request.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse

from accounts.oauth.bearer import Bearer, examine_token
from accounts.oauth.endpoint import body_of, client_of, endpoint
from accounts.oauth.errors import OAuthError, invalid_client, invalid_request, json_response

GROUP = "authentication.k8s.io"
VERSIONS = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
#: Reviews per second in one process: sustained rate and burst. kube-apiserver caches results, so
#: there are few reviews per user.
RATE, BURST = 200.0, 400.0


class _Spec(msgspec.Struct):
    token: str
    audiences: Sequence[str] | None = None


class _TokenReview(msgspec.Struct):
    apiVersion: str
    kind: str
    spec: _Spec


@dataclass(slots=True)
class RateLimiter:
    """Token bucket that allows `RATE` requests per second and bursts of `BURST`."""

    left: float = BURST
    last: float = field(default_factory=time.monotonic)

    def take(self, now: float) -> bool:
        self.left = min(BURST, self.left + (now - self.last) * RATE)
        self.last = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


_bucket = RateLimiter()


# No Retry-After: kube-apiserver would wait and retry for up to 30 seconds, while its client gets no
# response.
@endpoint("POST", again=False)
async def review(request: HttpRequest) -> HttpResponse:
    if not client_of(request, {}).reviews:
        raise invalid_client()
    if not _bucket.take(time.monotonic()):
        raise OAuthError("slow_down", "Too many token reviews.", status=429, Retry_After=1)
    asked = _read(request)
    bearer = await examine_token(asked.spec.token)
    # The response contains no audiences: the token is for kube-apiserver, which compares the
    # missing audiences with those it requested. A read-only token is rejected, because
    # kube-apiserver would allow everything that the user may do.
    vouched = bearer is not None and bearer.grants_access and not bearer.read_only
    return json_response(_reviewed(asked, bearer if vouched else None))


def _read(request: HttpRequest) -> _TokenReview:
    if request.content_type != "application/json":
        raise invalid_request("The body must be application/json.")
    try:
        value = json.loads(body_of(request), object_pairs_hook=_once)
        asked = msgspec.convert(value, _TokenReview)
    except (ValueError, RecursionError) as error:
        raise invalid_request("The body is not a TokenReview.") from error
    if asked.apiVersion not in VERSIONS or asked.kind != "TokenReview":
        raise invalid_request("The body is not a TokenReview of v1 or v1beta1.")
    return asked


def _reviewed(asked: _TokenReview, bearer: Bearer | None) -> dict[str, Any]:
    status: dict[str, Any] = {"authenticated": False}
    if bearer is not None:
        user = bearer.holder.user
        groups = list(bearer.holder.identity.groups)
        status = {"authenticated": True, "user": {"username": user.name, "uid": user.uid}}
        if groups:
            status["user"]["groups"] = groups
    return {"apiVersion": asked.apiVersion, "kind": asked.kind, "status": status}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("duplicate object member")
    return dict(pairs)
