"""The User that is signed in, and writing to it."""

from collections.abc import Awaitable, Callable
from typing import Any

from django.middleware.csrf import rotate_token
from django.utils.translation import gettext_noop

from accounts.protection.endings import end_everything
from accounts.protection.records import origin_of
from accounts.signin import sessions
from accounts.time import now
from accounts.users.directory import trusted_users, wait_for_version
from accounts.users.states import Manifest
from console.audit.trail import record, request_action
from console.kube.client import ConsoleClient
from console.kube.current import get_runtime
from console.kube.errors import Conflict, NotFound, Overtaken
from console.kube.gvr import USERS, Key
from console.kube.projections import User
from console.kube.sentences import Sentence
from console.kube.store import Entry
from console.ui.http import ConsoleRequest

#: How often a write is tried that something else overtakes.
_TRIES = 3

#: Gets the client, the user as it is now and `audit_id`; returns what the user is then.
Write = Callable[..., Awaitable[Manifest]]


def own_name(request: ConsoleRequest) -> str:
    """Of the session: also of one who has to choose a password."""
    return request.account or request.pending or ""


def own_user(request: ConsoleRequest) -> Entry[User]:
    """Raises `UsersUnknown`, and `NotFound` if the user has gone since the request began."""
    entry: Entry[User] | None = trusted_users().store.get(Key("", own_name(request)))
    if entry is None:
        raise NotFound(404, Sentence(gettext_noop("there is no such user any more")))
    return entry


async def write_own(request: ConsoleRequest, what: str, write: Write) -> None:
    """Lets `write` change the user as it is now; waits until this process sees the result, so that the
    next page does. Raises `ApiError`, `AuditUnavailable` and what `write` raises."""
    entry = own_user(request)
    name = entry.key.name
    client = get_runtime().console
    action = request_action(request, "patch", USERS, name=name, subresource=what, actor=name)
    async with record(action) as recording:
        user = await _read(client, entry)
        for _try in range(_TRIES):
            try:
                written = await write(client, user, audit_id=recording.audit_id)
                break
            except Conflict:
                # The login that they come from is noted in their status about now.
                before, user = user, await _read(client, entry)
                if user.get("spec") != before.get("spec"):
                    raise
        else:
            raise Overtaken
    await wait_for_version(name, written["metadata"]["resourceVersion"])


async def _read(client: ConsoleClient, entry: Entry[User]) -> Manifest:
    user = await client.get(USERS, name=entry.key.name)
    if user["metadata"]["uid"] != entry.projection.uid:
        raise NotFound(404, Sentence(gettext_noop("there is no such user any more")))
    return user


async def start_anew(request: ConsoleRequest, user: User) -> None:
    """After the password changed: ends all that the user had, and gives this browser a new session."""
    moment = now()
    factor = str(await request.session.aget(sessions.FACTOR, ""))
    await end_everything(user.name, "PasswordChanged", moment)
    await sessions.begin(request.session, user, moment, origin=origin_of(request), factor=factor)
    await request.session.asave(must_create=True)
    rotate_token(request)


def spec_of(entry: Entry[User]) -> dict[str, Any]:
    return dict(entry.original().get("spec") or {})
