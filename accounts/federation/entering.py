"""What becomes of a person whom a provider vouches for: a session, a question, or nothing."""

import logging
from dataclasses import asdict
from datetime import datetime, timedelta

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import rotate_token
from django.urls import reverse

from accounts import sessions
from accounts.federation import cookies, once
from accounts.federation.linking import (
    Ambiguous,
    Taken,
    UserNotCached,
    linked_user,
    make_user,
)
from accounts.federation.models import ProviderSession
from accounts.federation.names import is_plain, wait_for_bindings
from accounts.federation.refusing import login_action, not_arrived, refuse
from accounts.language import speak_to
from accounts.protection import records
from accounts.protection.origins import origin_of
from accounts.protection.records import LoginAttempt
from accounts.providers import base
from accounts.providers.base import Person, RedirectProvider
from accounts.providers.options import LOOKUP, Entry
from accounts.session_settings import ABSOLUTE_LIFETIME
from accounts.steps import onward
from console.audit.trail import record, request_action
from console.kube.errors import ApiError
from console.kube.gvr import USERS
from console.kube.projections import User
from rbac.authorizer import is_usable

log = logging.getLogger(__name__)

#: In the session: the provider's name, and the id token that ends the session there.
PROVIDER, ID_TOKEN = "provider", "id_token"
MAX_SUBJECT = 255
#: A kind of `once`: who is waiting for a name, and whose User is being made.
PENDING, MAKING = "pending", "making"
#: By then every replica knows of a User that was made.
_ARRIVED = timedelta(seconds=30)


async def welcome(
    request: HttpRequest, entry: Entry, person: Person, next_url: str
) -> HttpResponse:
    """Raises `UsersUnknown`, `AuditUnavailable`, `ApiError` and DatabaseError."""
    if not 0 < len(person.subject) <= MAX_SUBJECT or not person.subject.isprintable():
        return await refuse(request, entry, 403, "BadSubject", next_url=next_url)
    try:
        user = linked_user(entry.name, person.subject)
    except Ambiguous:
        return await refuse(request, entry, 403, "AmbiguousUser", next_url=next_url)
    if user is not None:
        return await enter(request, entry, person, user, next_url)
    if entry.mapping == LOOKUP:
        return await refuse(request, entry, 403, "NoLinkedUser", next_url=next_url)
    if not entry.confirms and is_plain(person.username):
        try:
            user = await create(request, entry, person, person.username.lower(), person.email)
            return await enter(request, entry, person, user, next_url)
        except Taken as taken:
            log.info("%s: a new User needs another name or address: %s", entry.name, taken.field)
        except UserNotCached:
            return not_arrived(request, next_url)
    return await ask(entry, person, next_url)


async def ask(entry: Entry, person: Person, next_url: str) -> HttpResponse:
    """Sends the browser to the page that asks for a name, bound to it by a cookie."""
    now = base.clock.now()
    content = {"provider": entry.name, "person": asdict(person), "next": next_url}
    key = await sync_to_async(once.keep)(PENDING, content, now, now + cookies.LIFETIME)
    response = HttpResponseRedirect(reverse("accounts:federation:confirm"))
    cookies.put(response, cookies.PENDING, {"key": key})
    return response


async def create(request: HttpRequest, entry: Entry, person: Person, name: str, email: str) -> User:
    """A User for this person, who has none. One at a time: two would be nobody's.

    Raises `Taken`, `UserNotCached`, `UsersUnknown`, `AuditUnavailable`, `ApiError` and DatabaseError.
    """
    await wait_for_bindings()
    now, who = base.clock.now(), f"{entry.name}/{person.subject}"
    if not await sync_to_async(once.use)(MAKING, who, now, now + _ARRIVED):
        raise UserNotCached
    try:
        action = request_action(request, "create", USERS, name=name, actor=name)
        async with record(action):
            return await make_user(entry.name, person, name, email)
    except (Taken, ApiError):
        await sync_to_async(once.release)(MAKING, who)
        raise


async def enter(
    request: HttpRequest, entry: Entry, person: Person, user: User, next_url: str
) -> HttpResponse:
    """Gives the browser a session as `user`, who may still be one that may not be signed in."""
    if not is_usable(user):
        return await refuse(
            request, entry, 403, user.state or "Deleted", next_url=next_url, actor=user.name
        )
    now = base.clock.now()
    async with record(login_action(request, entry, user.name)):
        # Where the browser was sent away to sign in, that place decides what it takes.
        vouched = sessions.ELSEWHERE if isinstance(entry.provider, RedirectProvider) else ""
        origin = origin_of(request)
        await sessions.begin(request.session, user, now, origin=origin, factor=vouched)
        await request.session.aupdate({PROVIDER: entry.name, ID_TOKEN: person.id_token})
        await request.session.asave(must_create=True)
        await sync_to_async(_remember)(request, entry, person, user, now)
        rotate_token(request)
    if await request.session.aget(sessions.FACTOR) != sessions.OWED:
        records.note(LoginAttempt(user.name, origin, records.OAUTH, entry.name))
    response = HttpResponseRedirect(await onward(request.session, next_url))
    speak_to(response, user.name)
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
