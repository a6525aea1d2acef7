"""Whose token it is, and whether that user may still use it: asked of the shared cache at every use.

A token belongs to one object, by uid, and to the password that this object had. A user who was deleted
and made again, disabled, or given another password has no tokens. A user who is locked for failed
attempts keeps those that there are.
"""

from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from django.utils.crypto import salted_hmac

from accounts.oauth.options import options
from accounts.users.directory import trusted_users
from console.kube.current import get_runtime
from console.kube.gvr import Key
from console.kube.identity import Identity, InvalidIdentity
from console.kube.projections import User
from console.kube.store import Entry
from rbac.authorizer import is_usable
from rbac.memberships import identity_of

#: On a user whose password somebody else chose. KubeSphere's console writes "true".
UNINITIALIZED = "iam.kubesphere.io/uninitialized"


@dataclass(frozen=True, slots=True)
class Holder:
    """`credential` tells the user's password from every other one, and says nothing about it."""

    user: User
    credential: str

    @property
    def identity(self) -> Identity:
        """With the groups of this moment. Raises `InvalidIdentity`."""
        return identity_of(get_runtime(), self.user.name)

    @property
    def must_choose(self) -> bool:
        """A password must be chosen before anything else can be done."""
        return has_first_password(self.user) and not options().may_postpone


def has_first_password(user: User) -> bool:
    """True while the password is the one that somebody else chose, and the user has not decided about it.
    Any word but KubeSphere's "false" says so: it was not written to weaken anything."""
    return user.annotations.get(UNINITIALIZED, "") not in ("", "false")


def holder_of(entry: Entry[User]) -> Holder:
    user = entry.projection
    return Holder(user, _credential(str(settings.SECRET_KEY), entry))


def find_holder(name: str, uid: str, credential: str) -> Holder | None:
    """The user to whom this was given, or None if there is no such user any more.

    Raises `UsersUnknown` while nobody can say.
    """
    entry = trusted_users().store.get(Key("", name))
    if entry is None or entry.projection.uid != uid or not _keeps_tokens(entry.projection):
        return None
    holder = holder_of(entry)
    return holder if holder.credential == credential else None


def _keeps_tokens(user: User) -> bool:
    try:
        Identity(user.name)
    except InvalidIdentity:
        return False
    return is_usable(user)


@lru_cache(maxsize=2048)
def _credential(secret: str, entry: Entry[User]) -> str:
    """Worked out once for each version of a user: an entry is equal to itself alone.

    Not of the password hash itself, which would then be kept in a second place.
    """
    stored = str((entry.original().get("spec") or {}).get("password") or "")
    return salted_hmac(
        "accounts.oauth.credential", stored, secret=secret, algorithm="sha256"
    ).hexdigest()
