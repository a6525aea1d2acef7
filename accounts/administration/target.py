"""The account that an address names, and writing to it as the administrator."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from django.utils.translation import gettext_noop

from accounts.directory import trusted_users, wait_for_version
from accounts.writing import Manifest
from console.audit.trail import Recording, record, request_action
from console.kube.client import UserClient
from console.kube.current import get_runtime
from console.kube.errors import Conflict
from console.kube.gvr import USERS, Key
from console.kube.projections import User
from console.kube.sentences import Sentence
from console.kube.store import Entry
from console.ui.access import Access
from console.ui.decisions import Denied
from console.ui.http import ConsoleRequest
from console.views.guard import access_of

Write = Callable[[UserClient, Manifest, Recording], Awaitable[Manifest]]


@dataclass(frozen=True, slots=True)
class Target:
    """`entry` is None if there is no such user, which only those learn who have the right."""

    name: str
    access: Access
    entry: Entry[User] | None

    @property
    def is_self(self) -> bool:
        return self.name == self.access.identity.name


def require(request: ConsoleRequest, verb: str, name: str = "") -> Access:
    """Raises `Denied`, whether or not there is a user of this name."""
    access = access_of(request)
    if not access.can(verb, USERS, name=name):
        raise Denied(verb, USERS)
    return access


def find_target(request: ConsoleRequest, verb: str, name: str) -> Target:
    """Raises `Denied` and `UsersUnknown`."""
    access = require(request, verb, name)
    return Target(name, access, trusted_users().store.get(Key("", name)))


async def write_target(
    request: ConsoleRequest, target: Target, verb: str, what: str, uid: str, write: Write
) -> Manifest:
    """Lets `write` change the user as it is now, if it still is the one that was shown (`uid`). `verb`
    and `what` are for the audit trail. Raises `ApiError`, `AuditUnavailable` and what `write` raises."""
    client = get_runtime().as_user(target.access.identity)
    action = request_action(request, verb, USERS, name=target.name, subresource=what)
    async with record(action) as recording:
        user = await client.get(USERS, name=target.name)
        if user["metadata"]["uid"] != uid:
            raise Conflict(409, Sentence(gettext_noop("another user has taken the name since")))
        written = await write(client, user, recording)
    await wait_for_version(target.name, written["metadata"]["resourceVersion"])
    return written
