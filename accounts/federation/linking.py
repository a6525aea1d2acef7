"""Mapping from an identity provider's person to a User, and creation of new Users.

The labels are KubeSphere's, so users created by KubeSphere are found. A subject that is not a
valid label value is replaced by its hash.
"""

import hashlib
import re
from collections.abc import Sequence

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext as _

from accounts.providers.base import Person
from accounts.users.directory import UsersNotCached, has_email, trusted_users, wait_for_version
from accounts.users.states import PROVIDER_LABEL
from console.kube.errors import Conflict
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    GLOBAL_ROLE_BINDINGS,
    GROUP_BINDINGS,
    GVR,
    ROLE_BINDINGS,
    USERS,
    WORKSPACE_ROLE_BINDINGS,
    Key,
)
from console.kube.host_runtime import get_runtime
from console.kube.indexes import indexes_of
from console.kube.names import is_dotted_name, is_label_name
from console.kube.projections import User
from rbac.levels import subjects_in
from rbac.memberships import bindings_of

SUBJECT_LABEL = "iam.kubesphere.io/origin-uid"

_HASHED = "sha256."
MAX_NAME, MAX_EMAIL = 63, 254
_SURE = (CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS, GLOBAL_ROLE_BINDINGS)
#: KubeSphere types that may not be installed.
_PERHAPS = (WORKSPACE_ROLE_BINDINGS, GROUP_BINDINGS)
#: Timeout in seconds for caching the bindings.
ARRIVE = 10.0

_OTHERS = re.compile(r"[^a-z0-9.-]+")


class AmbiguousUser(Exception):
    """Two Users are linked to the same person."""


class UserNotCached(Exception):
    """The User is being created or is not cached yet."""


class NameOrEmailTaken(Exception):
    """`field` (`name` or `email`) can't be used; `text` is the translated reason."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field, self.text = field, text


def subject_label(subject: str) -> str:
    if is_label_name(subject) and not subject.startswith(_HASHED):
        return subject
    # Truncate the hash to the maximum label length, which leaves 224 bits.
    return _HASHED + hashlib.sha256(subject.encode()).hexdigest()[:56]


def linked_user(provider: str, subject: str) -> User | None:
    """Return the User linked to the subject, or None. Raise `AmbiguousUser` or `UsersNotCached`."""
    label = subject_label(subject)
    entries = trusted_users().store.snapshot().entries.values()
    found = [
        entry.projection
        for entry in entries
        if entry.projection.labels.get(PROVIDER_LABEL) == provider
        and entry.projection.labels.get(SUBJECT_LABEL) == label
    ]
    if len(found) > 1:
        raise AmbiguousUser
    return found[0] if found else None


async def create_linked_user(provider: str, person: Person, name: str, email: str) -> User:
    """Create a User linked to this person. The email address may be empty only if the provider
    sends none.

    Raise `NameOrEmailTaken`, `UserNotCached`, `UsersNotCached` or `ApiError`.
    """
    unknown = not email and not person.email
    mail_problem = "" if unknown else email_problem(email)
    for field, problem in (("name", name_problem(name)), ("email", mail_problem)):
        if problem:
            raise NameOrEmailTaken(field, problem)
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
        raise NameOrEmailTaken("name", name_problem(name, taken=True)) from error
    # Sessions require a cached User.
    meta = made["metadata"]
    there = await wait_for_version(name, meta["resourceVersion"])
    entry = trusted_users().store.get(Key("", name))
    if not there or entry is None or entry.projection.uid != meta["uid"]:
        raise UserNotCached
    return entry.projection


# Validation of names and email addresses of new Users.


def suggested_name(username: str) -> str:
    """Return a valid User name derived from the provider's name, or "" if no valid characters are
    left.
    """
    text = _OTHERS.sub("-", username.partition("@")[0].lower())[:MAX_NAME].strip("-.")
    return text if _is_name(text) else ""


def is_plain(username: str) -> bool:
    """Return True if the provider's name, converted to lower case, is a valid User name."""
    return _is_name(username.lower()) and username.isascii()


def name_problem(name: str, *, taken: bool = False) -> str:
    """Return a translated reason why a User can't be created with this name, or "".

    A name used in a binding is rejected even if no such User exists. The new user would
    otherwise get the permissions of a deleted user or of an administrator who uses a client
    certificate. Raise `UsersNotCached`.
    """
    if not _is_name(name):
        return _(
            "A name can have up to 63 lowercase letters, digits, hyphens and dots. It must start "
            "and end with a letter or digit."
        )
    if taken or trusted_users().store.get(Key("", name)) is not None or _has_rights(name):
        return _("This name is not available. Choose another name.")
    return ""


def email_problem(email: str) -> str:
    """Return a translated reason why a User can't be created with this email address, or ""."""
    try:
        if len(email) > MAX_EMAIL or not email.isascii():
            raise ValidationError("")
        validate_email(email)
    except ValidationError:
        return _("Enter a valid email address.")
    if has_email(trusted_users(), email):
        return _("This email address is not available. Use another email address.")
    return ""


async def wait_for_bindings() -> None:
    """Wait until all bindings are cached. Raise `UsersNotCached` on timeout."""
    for gvr in _bindings():
        if not await get_runtime().wait_synced(gvr, timeout=ARRIVE):
            raise UsersNotCached


def _bindings() -> list[GVR]:
    """Return the binding types that the cluster serves."""
    types = get_runtime().types
    return [*_SURE, *(gvr for gvr in _PERHAPS if types.get(gvr) is not None)]


def _has_rights(name: str) -> bool:
    for gvr in _bindings():
        informer = get_runtime().informer(gvr)
        if not informer.freshness.synced:
            raise UsersNotCached
        if gvr == GROUP_BINDINGS:
            found: Sequence[object] = bindings_of(informer.store, name)
        else:
            found = indexes_of(informer.store).by(subjects_in).get(f"User {name}")
        if found:
            return True
    return False


def _is_name(text: str) -> bool:
    return is_dotted_name(text, MAX_NAME) and ".." not in text
