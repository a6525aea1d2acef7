"""`POST /oauth/authenticate`: tells kube-apiserver whose token it was shown.

https://kubernetes.io/docs/reference/access-authn-authz/authentication/#webhook-token-authentication
The caller is a client with `reviewTokens: true`, by HTTP Basic. That a token does not count is a normal
answer; that nobody can say is 503, and kube-apiserver then lets nobody in.
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
from accounts.oauth.errors import OAuthError, answer, invalid_client, invalid_request

GROUP = "authentication.k8s.io"
VERSIONS = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
#: Reviews a second in one process, for long and at once. kube-apiserver remembers answers, so there are
#: few for each user.
RATE, BURST = 200.0, 400.0


class _Spec(msgspec.Struct):
    token: str
    audiences: Sequence[str] | None = None


class _TokenReview(msgspec.Struct):
    apiVersion: str
    kind: str
    spec: _Spec


@dataclass(slots=True)
class Bucket:
    """Lets `RATE` requests a second through, and `BURST` after a pause."""

    left: float = BURST
    last: float = field(default_factory=time.monotonic)

    def take(self, now: float) -> bool:
        self.left = min(BURST, self.left + (now - self.last) * RATE)
        self.last = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


_bucket = Bucket()


# kube-apiserver does what Retry-After says for half a minute, in which whoever asked it hears nothing.
@endpoint("POST", again=False)
async def review(request: HttpRequest) -> HttpResponse:
    if not client_of(request, {}).reviews:
        raise invalid_client()
    if not _bucket.take(time.monotonic()):
        raise OAuthError("slow_down", "There are too many reviews.", status=429, Retry_After=1)
    asked = _read(request)
    bearer = await examine_token(asked.spec.token)
    # No audiences in the answer: such a token is for kube-apiserver, which compares that with what it
    # was asked for.
    # kube-apiserver lets whoever is vouched for do everything that the user may, so a token that only
    # reads is nobody's there.
    vouched = bearer is not None and bearer.acts and not bearer.read_only
    return answer(_reviewed(asked, bearer if vouched else None))


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
        raise ValueError("a member is there twice")
    return dict(pairs)
