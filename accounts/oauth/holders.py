"""Users of tokens, checked in the shared cache at every use.

A token is bound to a User object, by uid, and to the password at the time of issue. It becomes
invalid if the user is deleted and recreated, disabled, or changes the password. Tokens of a user
who is locked after failed attempts remain valid.
"""

from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from django.utils.crypto import salted_hmac

from accounts.oauth.options import options
from accounts.users.directory import trusted_users
from console.kube.gvr import Key
from console.kube.host_runtime import get_runtime
from console.kube.identity import Identity, InvalidIdentity
from console.kube.projections import User
from console.kube.store import Entry
from rbac.authorizer import is_usable
from rbac.memberships import identity_of

#: Set on a user whose password was set by an administrator. KubeSphere's console writes "true".
UNINITIALIZED = "iam.kubesphere.io/uninitialized"


@dataclass(frozen=True, slots=True)
class Holder:
    """User of a token. `credential` identifies the current password without revealing it."""

    user: User
    credential: str

    @property
    def identity(self) -> Identity:
        """Identity with the current groups. Raises `InvalidIdentity`."""
        return identity_of(get_runtime(), self.user.name)

    @property
    def must_choose_password(self) -> bool:
        """True if the user must choose a password before doing anything else."""
        return has_first_password(self.user) and not options().may_postpone


def has_first_password(user: User) -> bool:
    """Return True if the password was set by an administrator and the user has not changed or kept
    it.

    Any annotation value except "" and KubeSphere's "false" counts as True, so that an unknown
    value doesn't weaken security.
    """
    return user.annotations.get(UNINITIALIZED, "") not in ("", "false")


def holder_of(entry: Entry[User]) -> Holder:
    user = entry.projection
    return Holder(user, _credential(str(settings.SECRET_KEY), entry))


def find_holder(name: str, uid: str, credential: str) -> Holder | None:
    """Return the user of a token, or None if the token is no longer valid. Raise `UsersNotCached`."""
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
    """Return a keyed hash of the password hash, so that the password hash isn't stored a second
    time.

    Calculated once per version of a User, because cache entries compare by identity.
    """
    stored = str((entry.original().get("spec") or {}).get("password") or "")
    return salted_hmac(
        "accounts.oauth.credential", stored, secret=secret, algorithm="sha256"
    ).hexdigest()
