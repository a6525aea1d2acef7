"""Lets programs in with a bearer token, in the place of a session.

A request is somebody by a session or by a token, never by both. A token that does not count is 401, also
where nobody needs to be anybody: who shows one wants to know.
"""

import re
from typing import Any

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import Resolver404, resolve

from accounts.oauth.bearer import bearer_in, examine_token
from accounts.oauth.errors import OAuthError, invalid_request, invalid_token, unavailable
from accounts.signin.presence import token_presence
from accounts.users.directory import UsersUnknown
from console.inline import AsyncMiddleware, InlineCsrfMiddleware
from console.ui.statuses import status_response

Response = HttpResponseBase

_IN_ADDRESS = re.compile(r"(?:^|&)access_token=")
#: Where clients expect the errors of RFC 6749; elsewhere they are Kubernetes' `Status`. Nothing else
#: depends on the path.
_OWN_ERRORS = "/oauth/"
#: What a token that only reads may be shown with.
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
#: Views, by name, whose bearer tokens are none of ours.
OTHER_TOKENS = frozenset({"metrics"})


class BearerMiddleware(AsyncMiddleware):
    """Sets `request.bearer`, and `account`, `identity` and `presence` if the token may act for its user.

    Comes after `AccountMiddleware`, whose word it replaces, and before the one that sets `access`.
    """

    async def __call__(self, request: HttpRequest) -> Response:
        return await _identify(request) or await self.get_response(request)


class CsrfMiddleware(InlineCsrfMiddleware):
    """Django's, for whoever comes with cookies. A page of another site cannot make a browser send a
    bearer token, so nothing is to be shown beside it."""

    async def process_view(  # type: ignore[override]
        self, request: HttpRequest, callback: Any, args: Any, kwargs: Any
    ) -> Response | None:
        if getattr(request, "bearer", None) is not None:
            return None
        return await super().process_view(request, callback, args, kwargs)


async def _identify(request: HttpRequest) -> HttpResponse | None:
    request.bearer = None  # type: ignore[attr-defined]
    try:
        if _IN_ADDRESS.search(request.META.get("QUERY_STRING", "")):
            raise invalid_request("An access token belongs into the Authorization header.")
        # Most come with a cookie, and need not be resolved twice.
        others = "Authorization" in request.headers and _has_other_tokens(request)
        token = None if others else bearer_in(request)
        if token is None:
            return None
        if settings.SESSION_COOKIE_NAME in request.COOKIES:
            raise invalid_request("Either a session or a token, not both.")
        await _become(request, token)
    except OAuthError as error:
        return _refused(request, error)
    except UsersUnknown:
        return _refused(request, unavailable("The users have not arrived from the cluster."))
    except DatabaseError:
        return _refused(request, unavailable("The database cannot be used."))
    return None


def _has_other_tokens(request: HttpRequest) -> bool:
    try:
        return resolve(request.path_info).view_name in OTHER_TOKENS
    except Resolver404:
        return False


async def _become(request: HttpRequest, token: str) -> None:
    bearer = await examine_token(token)
    if bearer is None:
        raise invalid_token()
    if bearer.read_only and request.method not in SAFE_METHODS:
        raise OAuthError("insufficient_scope", "This token can only read.", status=403)
    request.bearer = bearer  # type: ignore[attr-defined]
    if bearer.acts:
        request.identity = bearer.holder.identity  # type: ignore[attr-defined]
        request.account = bearer.holder.user.name  # type: ignore[attr-defined]
        request.presence = token_presence(token, bearer.holder.user.name)  # type: ignore[attr-defined]


def _refused(request: HttpRequest, error: OAuthError) -> HttpResponse:
    if request.path.startswith(_OWN_ERRORS):
        return error.response()
    response = status_response(error.status, error.description)
    for name, value in error.headers.items():
        response[name] = value
    return response
