"""Read and write access to the signed-in user's User object."""

from collections.abc import Awaitable, Callable
from typing import Any

from django.middleware.csrf import rotate_token
from django.utils.translation import gettext_noop

from accounts.protection.records import origin_of
from accounts.protection.revocation import revoke_all
from accounts.signin import sessions
from accounts.time import now
from accounts.users.directory import trusted_users, wait_for_version
from console.audit.trail import record_request
from console.kube.apply import Manifest
from console.kube.clients import ConsoleClient
from console.kube.errors import ChangedConcurrently, Conflict, NotFound
from console.kube.gvr import USERS, Key
from console.kube.host_runtime import get_runtime
from console.kube.messages import Message
from console.kube.projections import User
from console.kube.store import Entry
from console.ui.core.requests import ConsoleRequest

#: Number of attempts if a write conflicts with another change.
_TRIES = 3

#: Callback that gets the client, the current user and `audit_id`, and returns the updated user.
Write = Callable[..., Awaitable[Manifest]]


def own_name(request: ConsoleRequest) -> str:
    """Return the session's username, also if the user still has to choose a password."""
    return request.account or request.pending or ""


def own_user(request: ConsoleRequest) -> Entry[User]:
    """Return the session's user. Raise `UsersNotCached`, or `NotFound` if the user was deleted."""
    entry: Entry[User] | None = trusted_users().store.get(Key("", own_name(request)))
    if entry is None:
        raise NotFound(404, Message(gettext_noop("the user no longer exists")))
    return entry


async def update_own_user(request: ConsoleRequest, what: str, write: Write) -> None:
    """Read the user, call `write` and wait until the result is cached, so that the next page
    displays it.

    Raise `ApiError`, `AuditUnavailable` and the exceptions of `write`.
    """
    entry = own_user(request)
    name = entry.key.name
    client = get_runtime().console
    where = {"name": name, "subresource": what, "actor": name}
    async with record_request(request, "patch", USERS, **where) as recording:
        user = await _read(client, entry)
        for _try in range(_TRIES):
            try:
                written = await write(client, user, audit_id=recording.audit_id)
                break
            except Conflict:
                # Usually caused by the controller that stores the time of the last sign-in in the
                # status.
                before, user = user, await _read(client, entry)
                if user.get("spec") != before.get("spec"):
                    raise
        else:
            raise ChangedConcurrently
        recording.uid = entry.projection.uid
    await wait_for_version(name, written["metadata"]["resourceVersion"])


async def _read(client: ConsoleClient, entry: Entry[User]) -> Manifest:
    user = await client.get(USERS, name=entry.key.name)
    if user["metadata"]["uid"] != entry.projection.uid:
        raise NotFound(404, Message(gettext_noop("the user no longer exists")))
    return user


async def restart_session(request: ConsoleRequest, user: User) -> None:
    """Revoke everything after a password change and create a new session for this browser."""
    moment = now()
    factor = str(await request.session.aget(sessions.FACTOR, ""))
    await revoke_all(user.name, "PasswordChanged", moment)
    await sessions.start_session(
        request.session, user, moment, origin=origin_of(request), factor=factor
    )
    await request.session.asave(must_create=True)
    rotate_token(request)


def spec_of(entry: Entry[User]) -> dict[str, Any]:
    return dict(entry.original().get("spec") or {})
