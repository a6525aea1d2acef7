"""Which User a person is, and making a User of a person.

The labels are KubeSphere's, so people that it knows are known here. A subject that cannot be the value
of a label is its hash.
"""

import asyncio
import hashlib
import re
from typing import Any

from accounts.directory import trusted_users
from accounts.federation.names import email_problem, name_problem
from accounts.providers.base import Person
from console.kube.current import get_runtime
from console.kube.errors import Conflict
from console.kube.gvr import USERS, Key
from console.kube.informer import ChangeSignal, Informer
from console.kube.projections import User

PROVIDER_LABEL = "iam.kubesphere.io/identify-provider"
SUBJECT_LABEL = "iam.kubesphere.io/origin-uid"
#: Seconds for a new User to arrive in the cache.
ARRIVES = 5.0

_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_HASHED = "sha256."


class Ambiguous(Exception):
    """Two Users are linked with one person: nobody can say which it is."""


class UserNotCached(Exception):
    """The User is made, or is being made, and the cache does not know it yet."""


class Taken(Exception):
    """`field` (`name` or `email`) cannot be used; `text` says why."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field, self.text = field, text


def subject_label(subject: str) -> str:
    if _LABEL.fullmatch(subject) and not subject.startswith(_HASHED):
        return subject
    # As many digits of the hash as a label has room for: 224 bits.
    return _HASHED + hashlib.sha256(subject.encode()).hexdigest()[:56]


def linked_user(provider: str, subject: str) -> User | None:
    """Raises `Ambiguous` and `UsersUnknown`."""
    label = subject_label(subject)
    entries = trusted_users().store.snapshot().entries.values()
    found = [
        entry.projection
        for entry in entries
        if entry.projection.labels.get(PROVIDER_LABEL) == provider
        and entry.projection.labels.get(SUBJECT_LABEL) == label
    ]
    if len(found) > 1:
        raise Ambiguous
    return found[0] if found else None


async def make_user(provider: str, person: Person, name: str, email: str) -> User:
    """A User of this person's own. Without an address only if the provider tells none.

    Raises `Taken`, `UserNotCached`, `UsersUnknown` and `ApiError`.
    """
    unknown = not email and not person.email
    mail_problem = "" if unknown else email_problem(email)
    for field, problem in (("name", name_problem(name)), ("email", mail_problem)):
        if problem:
            raise Taken(field, problem)
    manifest = {
        "apiVersion": USERS.group_version,
        "kind": "User",
        "metadata": {
            "name": name,
            "labels": {PROVIDER_LABEL: provider, SUBJECT_LABEL: subject_label(person.subject)},
        },
        "spec": {"email": email},
    }
    try:
        made = await get_runtime().console.create(USERS, manifest)
    except Conflict as error:
        raise Taken("name", name_problem(name, taken=True)) from error
    return await _arrival(trusted_users(), name, str(made["metadata"]["uid"]))


async def _arrival(informer: Informer[User], name: str, uid: str) -> User:
    """Sessions are of users that the cache knows."""

    def arrived() -> Any:
        entry = informer.store.get(Key("", name))
        return entry.projection if entry is not None and entry.projection.uid == uid else None

    with ChangeSignal(informer, asyncio.get_running_loop()) as changed:
        try:
            async with asyncio.timeout(ARRIVES):
                while (found := arrived()) is None:
                    changed.clear()
                    if (found := arrived()) is not None:
                        break
                    await changed.wait()
        except TimeoutError as error:
            raise UserNotCached from error
    user: User = found
    return user
