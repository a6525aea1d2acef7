"""Users, as the shared cache knows them."""

from datetime import timedelta

from django.utils.translation import gettext_lazy

from console.kube.cachewait import wait_for_cache
from console.kube.clock import SystemClock
from console.kube.current import get_runtime
from console.kube.gvr import USERS, Key
from console.kube.informer import Informer
from console.kube.projections import User
from console.kube.store import Entry
from console.ui.decisions import NotArrived

#: How long the cache's word is taken for who may sign in while kube-apiserver is away.
STALE_USERS = timedelta(minutes=5)

_clock = SystemClock()


class UsersUnknown(NotArrived):
    """The users have not arrived from the cluster yet, or too long ago to be relied on."""

    text = gettext_lazy("The users have not arrived from the cluster.")


def users() -> Informer[User]:
    """Raises `UsersUnknown` while nobody can say who exists."""
    informer: Informer[User] = get_runtime().informer(USERS)
    if not informer.freshness.synced:
        raise UsersUnknown
    return informer


def trusted_users() -> Informer[User]:
    """As `users`, but also raises when the cache is too old to let anybody in."""
    informer = users()
    stale_since = informer.freshness.stale_since
    if stale_since is not None and _clock.now() - stale_since >= STALE_USERS:
        raise UsersUnknown
    return informer


def find_user(informer: Informer[User], text: str) -> Entry[User] | None:
    """The user with this name or, if it has an @, with this e-mail address. Compared exactly, because
    case folding and Unicode make different names look alike; an address that two users have is
    nobody's."""
    if not text.isascii():
        return None
    if "@" not in text:
        return informer.store.get(Key("", text))
    entries = informer.store.snapshot().entries.values()
    found = [entry for entry in entries if entry.projection.email == text]
    return found[0] if len(found) == 1 else None


def has_address(informer: Informer[User], email: str, *, but: str = "") -> bool:
    """True if a user other than `but` has this e-mail address, however it is written."""
    folded = email.casefold()
    entries = informer.store.snapshot().entries.values()
    found = (entry.projection for entry in entries)
    return any(user.email.casefold() == folded for user in found if user.name != but)


async def wait_for_version(name: str, version: str) -> bool:
    """True as soon as the cache has the user in this version or a later one; False if it takes long."""
    return await wait_for_cache(users(), Key("", name), version)
