"""Password authentication. Every entry point that accepts a password uses this module.

API clients send one request: `authenticate` checks the password together with the second
factor's code. Browsers send two: `first_step` checks only the password, and the session has no
user until a code was checked; see `accounts.signin.sessions`.
"""

from dataclasses import dataclass

from asgiref.sync import sync_to_async
from django.http import HttpRequest

from accounts.mfa.factors import check_code, has_factor
from accounts.oauth.holders import holder_of
from accounts.oauth.options import options
from accounts.protection import attempts, records
from accounts.protection.attempts import locked_by_state
from accounts.protection.records import TOKEN, LoginAttempt, has_signed_in_from, origin_of
from accounts.signin.passwords import TooBusy, is_hash, matches, queue_turn
from accounts.time import now
from accounts.users.directory import find_user, trusted_users
from console.kube.projections import User
from console.kube.store import Entry
from rbac.authorizer import is_usable

MAX_NAME, MAX_PASSWORD = 253, 1024
#: Failure reasons recorded in the audit trail.
TOO_MANY = "TooManyFailures"
_WRONG = "WrongPassword"
NO_CODE, WRONG_CODE, NOT_SET_UP = "NoSecondFactor", "WrongSecondFactor", "SecondFactorNotSetUp"
#: Reasons written to a LoginRecord. As in KubeSphere, other failures create no LoginRecord.
_RECORDED = {_WRONG: "incorrect password", WRONG_CODE: "incorrect second factor"}


@dataclass(frozen=True, slots=True)
class Attempt:
    """Result of a sign-in attempt.

    `user` is the authenticated user or None. `name` is the name of the existing user the attempt
    was for, or ""; the typed text is not stored because it can be a password. `reason` is for
    the audit trail and is never shown to the visitor. `wait` is the number of seconds until the
    next attempt is allowed, or None if the limit was not exceeded. `credential` identifies the
    accepted password, so that a later password change can be detected (see
    `accounts.oauth.holders`).
    """

    user: User | None
    name: str
    reason: str
    wait: float | None = None
    credential: str = ""


async def authenticate(
    request: HttpRequest, username: str, password: str, *, kind: str = TOKEN, code: str = ""
) -> Attempt:
    """Check a username or email address, a password and, if the user has a second factor, `code`.

    Creates a LoginRecord of type `kind`. Unknown users, disabled users and users without a
    password take as long as a wrong password and count toward the same limits. Raise
    `UsersNotCached`, `TooBusy` or DatabaseError.
    """
    attempt = await check_password(request, username, password)
    if attempt.user is not None:
        attempt = await _with_factor(request, attempt, attempt.user, code)
    _note(request, attempt, kind)
    return attempt


async def first_step(request: HttpRequest, username: str, password: str) -> Attempt:
    """Check only the password. If a code must follow, the LoginRecord is created after the code was
    checked.

    Pass the returned user only to `sessions.begin`.
    """
    attempt = await check_password(request, username, password)
    if attempt.user is None or not await has_factor(attempt.user):
        _note(request, attempt, TOKEN)
    return attempt


async def second_step(request: HttpRequest, user: User, code: str) -> Attempt:
    """Check the code of a user whose password was correct and create the LoginRecord.

    Raise DatabaseError.
    """
    attempt = await _with_factor(request, Attempt(user, user.name, ""), user, code)
    _note(request, attempt, TOKEN)
    return attempt


async def _with_factor(request: HttpRequest, attempt: Attempt, user: User, code: str) -> Attempt:
    if not await has_factor(user):
        required = options().requires_factor
        return Attempt(None, user.name, NOT_SET_UP) if required else attempt
    if not code:
        return Attempt(None, user.name, NO_CODE)
    checked = await check_code(request, user, code)
    if checked.wait is not None:
        return Attempt(None, user.name, TOO_MANY, checked.wait)
    return attempt if checked.is_right else Attempt(None, user.name, WRONG_CODE)


def _note(request: HttpRequest, attempt: Attempt, kind: str) -> None:
    reason = _RECORDED.get(attempt.reason, "")
    if attempt.user is not None or reason:
        records.write_record(LoginAttempt(attempt.name, origin_of(request), kind, reason=reason))


async def check_password(request: HttpRequest, username: str, password: str) -> Attempt:
    """Check the password of a signed-in user. The attempt is counted, but no LoginRecord is
    created.
    """
    informer = trusted_users()
    entry = find_user(informer, username) if len(username) <= MAX_NAME else None
    counted = entry.key.name if entry else username
    async with queue_turn(origin_of(request).network, attempts.normalize_name(counted[:MAX_NAME])):
        return await _checked(request, entry, counted, password)


async def _checked(
    request: HttpRequest, entry: Entry[User] | None, counted: str, password: str
) -> Attempt:
    """Count the attempt for the name `counted` and check the password."""
    name = entry.key.name if entry else ""
    ticket = await attempts.begin_attempt(request, counted)
    wait = ticket.wait
    by_state = locked_by_state(entry, now()) if entry is not None else None
    if ticket.elsewhere or (wait is None and by_state is not None):
        network = origin_of(request).network
        known = bool(network) and await has_signed_in_from(counted, network)
        wait = None if known else wait or by_state
    if wait is not None:
        return Attempt(None, name, TOO_MANY, wait)
    reason, hashed = ("UnknownUser", None) if entry is None else _credential(entry)
    try:
        right = await matches(password[: MAX_PASSWORD + 1], hashed)
    except TooBusy:
        await sync_to_async(attempts.cancel_attempt)(ticket)
        raise
    if entry is None or hashed is None:
        return Attempt(None, name, reason)
    if not right:
        return Attempt(None, name, _WRONG)
    await sync_to_async(attempts.record_success)(ticket)
    return Attempt(entry.projection, name, "", credential=holder_of(entry).credential)


def _credential(entry: Entry[User]) -> tuple[str, str | None]:
    """Return (reason, None) if the user can't sign in with a password, or ("", hash)."""
    user = entry.projection
    if not is_usable(user):
        return (user.state or "Deleted"), None
    stored = str((entry.original().get("spec") or {}).get("password") or "")
    if not stored:
        return "NoPassword", None
    # A plain password is never compared. The user controller replaces it with a hash.
    return ("", stored) if is_hash(stored) else ("PasswordNotHashed", None)
