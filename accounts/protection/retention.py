"""Controller for LoginRecords: updates the user's status and deletes old records.

Follows KubeSphere's rules, with two differences:

- A failed attempt doesn't change `lastLoginTime`.
- Failures before the last successful sign-in are not counted, as in `attempts`.

The user's state is informational, for users and other programs. The SQL counter rejects attempts
before a LoginRecord is written.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import takewhile

from accounts.oauth.options import Limits, options
from accounts.users.reconciler import is_federated
from accounts.users.states import (
    ACTIVE,
    LOCKED,
    patch_user,
    state_since,
    state_status,
    time_text,
)
from console.kube.apply import Manifest
from console.kube.clock import Clock
from console.kube.controller import NotSynced, Request, Result
from console.kube.gvr import GVR, LOGIN_RECORDS, USERS, Key
from console.kube.indexes import indexes_of
from console.kube.informer import Informer
from console.kube.projections import User
from console.kube.projections.tenancy import USER_LABEL, LoginRecord
from console.kube.runtime import Runtime
from console.kube.status import Severity
from console.kube.store import Entry
from rbac.apply import delete_entry
from rbac.event_recorder import WARNING, Recorder

_NEVER = datetime.min.replace(tzinfo=UTC)

Record = Entry[LoginRecord]


class LoginRecordReconciler:
    name = "loginrecord"
    gvr: GVR = LOGIN_RECORDS

    def __init__(self, runtime: Runtime) -> None:
        self._records: Informer[LoginRecord] = runtime.informer(LOGIN_RECORDS)
        self._users: Informer[User] = runtime.informer(USERS)
        self._client = runtime.console
        self._clock: Clock = runtime.clock
        self._recorder = Recorder(runtime.console, "quarterdeck-loginrecord-controller")

    async def reconcile(self, request: Request) -> Result:
        record: Record | None = self._records.store.get(Key("", request.name))
        if record is None or record.projection.deleted is not None or not record.projection.user:
            return Result()
        if not self._users.freshness.synced:
            raise NotSynced
        user = self._users.store.get(Key("", record.projection.user))
        age = self._clock.now() - _time(record)
        history = options().limits.history
        if user is None or age >= history:
            await delete_entry(self._client, LOGIN_RECORDS, record)
            return Result()
        known = self._of(user.key.name)
        for late in _excess(known, options().limits):
            await delete_entry(self._client, LOGIN_RECORDS, late)
        await self._apply(user, record, known)
        return Result(requeue_after=(history - age).total_seconds())

    def _of(self, user: str) -> Sequence[Record]:
        """Return the user's records, newest first."""
        found = indexes_of(self._records.store).by_label.get(f"{USER_LABEL}={user}")
        return sorted(found, key=lambda one: (_time(one), one.key.name), reverse=True)

    async def _apply(self, entry: Entry[User], record: Record, known: Sequence[Record]) -> None:
        user = entry.original()
        if entry.projection.deleted is not None or is_federated(entry.projection):
            return
        if _succeeded(record):
            await self._note_login(user, _time(record))
        elif entry.projection.state == ACTIVE and entry.projection.has_password:
            await self._lock(user, known)

    async def _note_login(self, user: Manifest, time: datetime) -> None:
        before = (user.get("status") or {}).get("lastLoginTime")
        text = time_text(time)
        # Both times are in UTC and have the same format, so text comparison is correct.
        if before is None or str(before) < text:
            await patch_user(self._client, user, {"status": {"lastLoginTime": text}})

    async def _lock(self, user: Manifest, known: Sequence[Record]) -> None:
        limits, now = options().limits, self._clock.now()
        began = state_since(user.get("status") or {}) or _NEVER
        since_success = takewhile(lambda one: not _succeeded(one), known)
        failures = [one for one in since_success if _time(one) > began]
        recent = [one for one in failures if now - _time(one) < limits.duration]
        if len(recent) < limits.tries:
            return
        minutes = f"{limits.duration.total_seconds() / 60:g}"
        reason = f"Failed login attempts exceed {limits.tries} in last {minutes}m"
        await patch_user(self._client, user, {"status": state_status(LOCKED, now, reason)})
        await self._recorder.record(user, WARNING, "UserLocked", reason)


def _excess(known: Sequence[Record], limits: Limits) -> Sequence[Record]:
    """Return the records in excess of `limits.entries`.

    Failures are removed first, except the newest ones that the lock needs. Otherwise, failed
    guesses could displace the records of networks the user has signed in from
    (`accounts.signin.authenticate`).
    """
    failures = [one for one in known if not _succeeded(one)][limits.tries :]
    successes = [one for one in known if _succeeded(one)]
    oldest_first = [*reversed(failures), *reversed(successes)]
    return oldest_first[: max(0, len(known) - limits.entries)]


def _succeeded(record: Record) -> bool:
    return record.projection.status.severity is Severity.OK


def _time(record: Record) -> datetime:
    return record.projection.created or _NEVER
