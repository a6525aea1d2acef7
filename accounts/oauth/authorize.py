"""`/oauth/authorize`: issue an authorization code for a signed-in user.

Signed-in clients and browsers are redirected immediately. Other browsers sign in and then open
`confirm`, a page that asks for consent if the client requires it, and otherwise continues
automatically. It is a page instead of a redirect because browsers may apply the CSP directive
`form-action` of the sign-in page, which allows only this origin, to redirects after a form post.
"""

from datetime import UTC, datetime
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.oauth import endpoint, grants
from accounts.oauth.authorization import (
    AuthorizationRequest,
    CodeRequest,
    read_authorization_request,
    read_code_request,
    redirect_location,
)
from accounts.oauth.clients import API, AUTO
from accounts.oauth.endpoint import MAX_QUERY, Fields, basic_of, body_of, parse, query_of
from accounts.oauth.errors import BASIC, OAuthError, invalid_request, too_many
from accounts.oauth.holders import Holder, holder_of
from accounts.protection.records import BASIC as BASIC_TYPE
from accounts.signin.authenticate import authenticate
from accounts.signin.sessions import SINCE
from accounts.time import now
from accounts.users.directory import UsersNotCached, trusted_users
from console.audit.trail import AuditUnavailable, record_session
from console.kube.gvr import Key
from console.ui.core.requests import ConsoleRequest
from console.views.errors import error_page


@endpoint.endpoint("GET", "POST")
async def authorize(request: HttpRequest) -> HttpResponse:
    fields = _fields(request)
    asked = read_authorization_request(fields)
    try:
        wanted = read_code_request(asked, fields)
        found = await _signed_in(request)
        if found is None:
            return _challenge(request, asked, wanted, fields)
        _check_age(wanted, found[1])
        if _needs_consent(asked, wanted):
            if wanted.silent:
                raise OAuthError("consent_required", "The user's consent is required.")
            return HttpResponseRedirect(_page(fields))
        return HttpResponseRedirect(await _grant(request, asked, wanted, *found))
    except OAuthError as error:
        if error.status in (401, 429):
            return error.response()
        return HttpResponseRedirect(_error_location(asked, error))


@require_http_methods(["GET", "POST"])
async def confirm(request: ConsoleRequest) -> HttpResponse:
    """Consent page. The middleware ensures that the user is signed in."""
    try:
        fields = query_of(request)
        asked = read_authorization_request(fields)
    except OAuthError as error:
        return error_page(
            request,
            400,
            _("Unknown client, or invalid authorization request.") + f" {error.description}",
        )
    try:
        return await _confirmed(request, asked, read_code_request(asked, fields))
    except OAuthError as error:
        return _leave(request, _error_location(asked, error))
    except (UsersNotCached, AuditUnavailable, DatabaseError):
        return error_page(
            request, 503, _("Signing in is not possible: the database is not available.")
        )


async def _confirmed(
    request: ConsoleRequest, asked: AuthorizationRequest, wanted: CodeRequest
) -> HttpResponse:
    """Check the user's decision. Raise `OAuthError`."""
    found = await _in_session(request)
    if found is None:
        raise OAuthError("login_required", "The user is not signed in.")
    _check_age(wanted, found[1])
    if _needs_consent(asked, wanted):
        if request.method != "POST":
            return _ask(request, asked, wanted)
        if request.POST.get("decision") != "allow":
            raise OAuthError("access_denied", "The user denied access.")
    return _leave(request, await _grant(request, asked, wanted, *found))


def _fields(request: HttpRequest) -> Fields:
    """Return the parameters. OpenID Connect Core, section 3.1.2.1, requires GET and POST. Raise
    `OAuthError`.
    """
    if request.method == "GET":
        return query_of(request)
    if request.META.get("QUERY_STRING") or len(body_of(request)) > MAX_QUERY:
        raise invalid_request("Send the parameters in the body. The body may be too long.")
    return parse(body_of(request))


async def _signed_in(request: HttpRequest) -> tuple[Holder, datetime] | None:
    """Return the user and the time of authentication, or None.

    Raise `OAuthError`, `UsersNotCached` or `TooBusy`.
    """
    basic = basic_of(request)
    if basic is None:
        return await _in_session(request)
    if settings.SESSION_COOKIE_NAME in request.COOKIES:
        raise invalid_request("Send either a session cookie or a password, not both.")
    entry = None
    attempt = await authenticate(request, *basic, kind=BASIC_TYPE)
    if attempt.user is not None:
        entry = trusted_users().store.get(Key("", attempt.user.name))
    if entry is None:
        async with record_session(request, "login", "code", actor=attempt.name) as recording:
            recording.set_outcome(401 if attempt.wait is None else 429, attempt.reason)
        raise _unauthorized() if attempt.wait is None else too_many(attempt.wait)
    return holder_of(entry), now()


async def _in_session(request: HttpRequest) -> tuple[Holder, datetime] | None:
    """Return the user of a browser session, or None. Bearer tokens can't be used to get more
    tokens.
    """
    account = getattr(request, "account", None)
    if account is None or getattr(request, "bearer", None) is not None:
        return None
    entry = trusted_users().store.get(Key("", account))
    since = await request.session.aget(SINCE)
    if entry is None or not isinstance(since, int | float):
        return None
    return holder_of(entry), datetime.fromtimestamp(since, UTC)


def _challenge(
    request: HttpRequest, asked: AuthorizationRequest, wanted: CodeRequest, fields: Fields
) -> HttpResponse:
    if wanted.silent:
        raise OAuthError("login_required", "The user is not signed in.")
    if asked.client.challenges or "text/html" not in request.headers.get("Accept", ""):
        raise _unauthorized()
    return HttpResponseRedirect(f"{reverse('accounts:login')}?{urlencode({'next': _page(fields)})}")


def _unauthorized() -> OAuthError:
    return OAuthError(
        "login_required", "The user is not signed in.", status=401, WWW_Authenticate=BASIC
    )


def _check_age(wanted: CodeRequest, since: datetime) -> None:
    if wanted.max_age is not None and (now() - since).total_seconds() > wanted.max_age:
        raise OAuthError("login_required", "The user signed in too long ago.")


def _needs_consent(asked: AuthorizationRequest, wanted: CodeRequest) -> bool:
    return asked.client.consent != AUTO or wanted.asks_consent


async def _grant(
    request: HttpRequest,
    asked: AuthorizationRequest,
    wanted: CodeRequest,
    holder: Holder,
    since: datetime,
) -> str:
    """Return the redirect URL with a new code."""
    who = holder.user.name
    async with record_session(request, "authorize", "code", name=asked.client.name, actor=who):
        code = await sync_to_async(grants.make_code)(
            holder, asked.client, wanted.terms, since, now()
        )
    return redirect_location(asked, code=code)


def _page(fields: Fields) -> str:
    return f"{reverse('accounts:oauth:confirm')}?{urlencode(dict(fields))}"


def _error_location(asked: AuthorizationRequest, error: OAuthError) -> str:
    return redirect_location(asked, error=error.error, error_description=error.description)


def _ask(request: ConsoleRequest, asked: AuthorizationRequest, wanted: CodeRequest) -> HttpResponse:
    context: dict[str, Any] = {
        "client": asked.client.name,
        "acts": API in wanted.terms.scope.split(" "),
        "account": request.account,
        "where": asked.redirect_uri.partition("?")[0],
    }
    return render(request, "accounts/oauth/consent.html", context)


def _leave(request: ConsoleRequest, where: str) -> HttpResponse:
    return render(request, "accounts/oauth/leave.html", {"where": where})
