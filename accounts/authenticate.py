"""The one place where a password is compared."""

from dataclasses import dataclass

from accounts.directory import find_user, trusted_users
from accounts.passwords import is_hash, matches
from console.kube.projections import User
from console.kube.store import Entry
from rbac.authorizer import is_usable

MAX_NAME, MAX_PASSWORD = 253, 1024


@dataclass(frozen=True, slots=True)
class Attempt:
    """`user`: who signed in, or None. `name`: of the user that was meant, "" if there is none; what was
    typed is not kept, it may be a password. `reason`: for the audit trail, never for the visitor."""

    user: User | None
    name: str
    reason: str


async def authenticate(username: str, password: str) -> Attempt:
    """Checks a name or e-mail address with a password.

    Unknown, disabled, locked and password-less users take as long as a wrong password. Raises
    `UsersUnknown` and `TooBusy`.
    """
    informer = trusted_users()
    entry = find_user(informer, username) if len(username) <= MAX_NAME else None
    reason, hashed = ("UnknownUser", None) if entry is None else _credential(entry)
    right = await matches(password[: MAX_PASSWORD + 1], hashed)
    if entry is None or hashed is None:
        return Attempt(None, entry.key.name if entry else "", reason)
    if not right:
        return Attempt(None, entry.key.name, "WrongPassword")
    return Attempt(entry.projection, entry.key.name, "")


def _credential(entry: Entry[User]) -> tuple[str, str | None]:
    """Why this user cannot sign in with a password, or the hash to check."""
    user = entry.projection
    if not is_usable(user):
        return (user.state or "Deleted"), None
    stored = str((entry.original().get("spec") or {}).get("password") or "")
    if not stored:
        return "NoPassword", None
    # A plain password waits for the controller that hashes it; it is never compared.
    return ("", stored) if is_hash(stored) else ("PasswordNotHashed", None)
