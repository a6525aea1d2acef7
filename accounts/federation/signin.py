"""Sign-in of a person whom an identity provider authenticated.

The result is a session, a page that asks for a name, or an error.
"""

import logging
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import wraps
from typing import Any

from asgiref.sync import sync_to_async
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import rotate_token
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.federation import onetime
from accounts.federation.linking import (
    AmbiguousUser,
    NameOrEmailTaken,
    UserNotCached,
    create_linked_user,
    is_plain,
    linked_user,
    wait_for_bindings,
)
from accounts.models import ProviderSession
from accounts.protection import attempts, records
from accounts.protection.records import LoginAttempt, origin_of
from accounts.providers.base import (
    PasswordProvider,
    Person,
    ProviderRefused,
    RedirectProvider,
    Unreachable,
)
from accounts.providers.options import LOOKUP, Entry, read_current_providers
from accounts.signin import sessions
from accounts.signin.authenticate import MAX_NAME, MAX_PASSWORD
from accounts.signin.language import set_user_language
from accounts.signin.login_page import LoginForm, locked_page, login_page
from accounts.signin.next_url import START
from accounts.signin.session_settings import ABSOLUTE_LIFETIME
from accounts.signin.sessions import next_page_url
from accounts.time import now
from accounts.users.directory import UsersNotCached
from console.audit.trail import AuditUnavailable, record_request, record_session
from console.kube.errors import ApiError
from console.kube.gvr import USERS
from console.kube.projections import User
from console.views.errors import error_page
from rbac.authorizer import is_usable

log = logging.getLogger(__name__)

#: Session keys for the provider's name and the ID token used for logout at the provider.
PROVIDER, ID_TOKEN = "provider", "id_token"
MAX_SUBJECT = 255
#: Kinds of `onetime` values: a sign-in waiting for a name, and a User being created.
PENDING, MAKING = "pending", "making"
#: Time after which every replica has cached a new User.
_ARRIVED = timedelta(seconds=30)
_TEXTS: dict[int, str | Promise] = {
    400: gettext_lazy("Could not sign in through %(provider)s. Try again."),
    401: gettext_lazy("Incorrect username or password."),
    403: gettext_lazy(
        "%(provider)s verified your identity, but you don't have permission to sign in to "
        "this console."
    ),
    503: gettext_lazy(
        "%(provider)s is not responding. Try again in a few seconds, or sign in another way."
    ),
}


async def sign_in_person(
    request: HttpRequest, entry: Entry, person: Person, next_url: str
) -> HttpResponse:
    """Sign the person in or create a User.

    Raise `UsersNotCached`, `AuditUnavailable`, `ApiError` or DatabaseError.
    """
    if not 0 < len(person.subject) <= MAX_SUBJECT or not person.subject.isprintable():
        return await reject_sign_in(request, entry, 403, "BadSubject", next_url=next_url)
    try:
        user = linked_user(entry.name, person.subject)
    except AmbiguousUser:
        return await reject_sign_in(request, entry, 403, "AmbiguousUser", next_url=next_url)
    if user is not None:
        return await start_user_session(request, entry, person, user, next_url)
    if entry.mapping == LOOKUP:
        return await reject_sign_in(request, entry, 403, "NoLinkedUser", next_url=next_url)
    if not entry.confirms and is_plain(person.username):
        try:
            user = await create_user(request, entry, person, person.username.lower(), person.email)
            return await start_user_session(request, entry, person, user, next_url)
        except NameOrEmailTaken as taken:
            log.info(
                "%s: new User requires a different name or email address: %s",
                entry.name,
                taken.field,
            )
        except UserNotCached:
            return user_not_cached_page(request, next_url)
    return await ask_for_name(entry, person, next_url)


async def ask_for_name(entry: Entry, person: Person, next_url: str) -> HttpResponse:
    """Redirect the browser to the page that asks for a name. A cookie binds the page to the
    browser.
    """
    moment = now()
    content = {"provider": entry.name, "person": asdict(person), "next": next_url}
    key = await sync_to_async(onetime.store)(PENDING, content, moment, moment + onetime.LIFETIME)
    response = HttpResponseRedirect(reverse("accounts:federation:confirm"))
    onetime.set_cookie(response, onetime.PENDING, {"key": key})
    return response


async def create_user(
    request: HttpRequest, entry: Entry, person: Person, name: str, email: str
) -> User:
    """Create a User for this person.

    Only one call per person runs at a time, because two linked Users would make the link
    ambiguous. Raise `NameOrEmailTaken`, `UserNotCached`, `UsersNotCached`, `AuditUnavailable`,
    `ApiError` or DatabaseError.
    """
    await wait_for_bindings()
    moment, who = now(), f"{entry.name}/{person.subject}"
    if not await sync_to_async(onetime.use)(MAKING, who, moment, moment + _ARRIVED):
        raise UserNotCached
    try:
        async with record_request(request, "create", USERS, name=name, actor=name):
            return await create_linked_user(entry.name, person, name, email)
    except (NameOrEmailTaken, ApiError):
        await sync_to_async(onetime.release)(MAKING, who)
        raise


async def start_user_session(
    request: HttpRequest, entry: Entry, person: Person, user: User, next_url: str
) -> HttpResponse:
    """Create a session for `user`. A user who may not sign in is rejected."""
    if not is_usable(user):
        return await reject_sign_in(
            request, entry, 403, user.state or "Deleted", next_url=next_url, actor=user.name
        )
    moment = now()
    async with record_session(request, "login", entry.name, actor=user.name):
        # A provider that authenticates by redirect is responsible for the second factor.
        vouched = sessions.ELSEWHERE if isinstance(entry.provider, RedirectProvider) else ""
        origin = origin_of(request)
        await sessions.start_session(request.session, user, moment, origin=origin, factor=vouched)
        await request.session.aupdate({PROVIDER: entry.name, ID_TOKEN: person.id_token})
        await request.session.asave(must_create=True)
        await sync_to_async(_remember)(request, entry, person, user, moment)
        rotate_token(request)
    if await request.session.aget(sessions.FACTOR) != sessions.OWED:
        records.write_record(LoginAttempt(user.name, origin, records.OAUTH, entry.name))
    response = HttpResponseRedirect(await next_page_url(request.session, next_url))
    set_user_language(response, user.name)
    return response


def _remember(
    request: HttpRequest, entry: Entry, person: Person, user: User, now: datetime
) -> None:
    ProviderSession.objects.filter(expires__lte=now).delete()
    ProviderSession.objects.create(
        session_key=str(request.session.session_key),
        provider=entry.name,
        subject=person.subject,
        sid=person.sid[:MAX_SUBJECT],
        user=user.name,
        expires=now + ABSOLUTE_LIFETIME,
    )


# Responses for errors of the console, as opposed to errors of the provider.

View = Callable[..., Coroutine[Any, Any, HttpResponse]]


def handle_errors(view: View) -> View:
    """Decorate a view to return error pages for failures of the console or the cluster."""

    @wraps(view)
    async def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return await view(request, *args, **kwargs)
        except UsersNotCached:
            text = _("Signing in is not possible yet: the users are not loaded.")
            return error_page(request, 503, text)
        except (AuditUnavailable, DatabaseError) as error:
            log.error("Sign-in failed because the database is unavailable: %s", error)
            return error_page(
                request, 503, _("Signing in is not possible: the database is not available.")
            )
        except ApiError as error:
            log.error("Sign-in failed because the User could not be created: %s", error)
            return error_page(request, 503, _("Could not create your account. Try again later."))

    return answered


# Rejected sign-ins display the sign-in page with an error message. The reason is recorded only in
# the audit trail.


async def reject_sign_in(
    request: HttpRequest,
    entry: Entry,
    status: int,
    reason: str,
    *,
    next_url: str = START,
    actor: str = "",
    username: str = "",
) -> HttpResponse:
    """Audit a rejected sign-in and render the sign-in page. Raise `AuditUnavailable`."""
    async with record_session(request, "login", entry.name, actor=actor) as recording:
        recording.set_outcome(status, reason)
    text = str(_TEXTS[status]) % {"provider": entry.name}
    provider = entry.name if username else ""
    return login_page(request, LoginForm(username, text, next_url, provider), status)


def user_not_cached_page(request: HttpRequest, next_url: str) -> HttpResponse:
    """Render the sign-in page for a User that was just created and is not cached yet."""
    text = _("Your account is being created. Sign in again in a moment.")
    return login_page(request, LoginForm(error=text, next=next_url), 503)


# Sign-in with a name and password that a provider checks, from the sign-in form.


async def sign_in_through(
    request: HttpRequest, name: str, username: str, password: str, next_url: str
) -> HttpResponse:
    """Check the password with a provider and sign the user in. Raise like `sign_in_person`.

    `next_url` must be validated. An unknown provider is handled like a wrong password.
    """
    entry = (await read_current_providers()).entries.get(name)
    shown = username if username.isprintable() and len(username) <= MAX_NAME else ""
    if entry is None or not isinstance(entry.provider, PasswordProvider):
        return login_page(
            request, LoginForm(shown, _("Incorrect username or password."), next_url), 401
        )
    ticket = await attempts.begin_attempt(request, f"{entry.name}/{username}")
    if ticket.wait is not None:
        return locked_page(request, LoginForm(shown, next=next_url, provider=name), ticket.wait)
    try:
        person = await entry.provider.check(username, password[: MAX_PASSWORD + 1])
    except Unreachable as error:
        await sync_to_async(attempts.cancel_attempt)(ticket)
        log.error("Identity provider %s: %s", entry.name, error)
        return await reject_sign_in(
            request, entry, 503, error.reason, next_url=next_url, username=shown
        )
    except ProviderRefused as error:
        return await reject_sign_in(
            request, entry, 401, error.reason, next_url=next_url, username=shown
        )
    await sync_to_async(attempts.record_success)(ticket)
    return await sign_in_person(request, entry, person, next_url)
