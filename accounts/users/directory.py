"""Access to users in the shared cache."""

from datetime import timedelta

from django.utils.translation import gettext_lazy

from accounts.time import now
from console.kube.cachewait import wait_for_cache
from console.kube.gvr import USERS, Key
from console.kube.host_runtime import get_runtime
from console.kube.informer import Informer
from console.kube.projections import User
from console.kube.store import Entry
from console.ui.core.permissions import NotLoaded

#: Maximum age of the cache for authentication while kube-apiserver is unreachable.
STALE_USERS = timedelta(minutes=5)


class UsersNotCached(NotLoaded):
    """The users are not cached yet, or the cache is too old to be trusted."""

    text = gettext_lazy("The users are not loaded yet. Try again later.")


def users() -> Informer[User]:
    """Return the informer for users. Raise `UsersNotCached` until the users are cached."""
    informer: Informer[User] = get_runtime().informer(USERS)
    if not informer.freshness.synced:
        raise UsersNotCached
    return informer


def trusted_users() -> Informer[User]:
    """Return the informer for users. Also raise `UsersNotCached` if the cache is too old for
    authentication.
    """
    informer = users()
    stale_since = informer.freshness.stale_since
    if stale_since is not None and now() - stale_since >= STALE_USERS:
        raise UsersNotCached
    return informer


def find_user(informer: Informer[User], text: str) -> Entry[User] | None:
    """Return the user with this name or, if the text contains an @, with this email address.

    The comparison is exact, because case folding and Unicode normalization can map different
    names to the same text. Return None for an email address shared by several users.
    """
    if not text.isascii():
        return None
    if "@" not in text:
        return informer.store.get(Key("", text))
    entries = informer.store.snapshot().entries.values()
    found = [entry for entry in entries if entry.projection.email == text]
    return found[0] if len(found) == 1 else None


def has_email(informer: Informer[User], email: str, *, but: str = "") -> bool:
    """Return True if a user other than `but` has this email address, ignoring case."""
    folded = email.casefold()
    entries = informer.store.snapshot().entries.values()
    found = (entry.projection for entry in entries)
    return any(user.email.casefold() == folded for user in found if user.name != but)


async def wait_for_version(name: str, version: str) -> bool:
    """Wait until the cache contains this version of the user or a later one. Return False on
    timeout.
    """
    return await wait_for_cache(users(), Key("", name), version)
