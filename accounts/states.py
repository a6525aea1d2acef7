"""The state of a User, by KubeSphere's rules as far as they apply without a counter of failed logins."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from accounts.passwords import is_hash

Manifest = dict[str, Any]

ACTIVE, DISABLED, LOCKED = "Active", "Disabled", "AuthLimitExceeded"
IDENTITY_PROVIDER_LABEL = "iam.kubesphere.io/identify-provider"
#: How long a locked user stays locked.
LOCK_DURATION = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Wanted:
    """`state` is None if the one that is there is right; `look_again`: seconds until it may not be."""

    state: str | None = None
    reason: str = ""
    look_again: float | None = None


def wanted_state(user: Manifest, now: datetime) -> Wanted:
    status = user.get("status") or {}
    state = status.get("state") or ""
    password = (user.get("spec") or {}).get("password") or ""
    labels = user["metadata"].get("labels") or {}
    if state == DISABLED:
        return Wanted()
    if not password:
        return _without_password(state, bool(labels.get(IDENTITY_PROVIDER_LABEL)))
    if state == LOCKED:
        return _locked(status.get("lastTransitionTime"), now)
    if state == "" and is_hash(password):
        return Wanted(ACTIVE)
    return Wanted()


def _without_password(state: str, from_provider: bool) -> Wanted:
    if not from_provider:
        return Wanted(DISABLED, "The user has neither a password nor an identity provider")
    return Wanted() if state == ACTIVE else Wanted(ACTIVE)


def _locked(since: object, now: datetime) -> Wanted:
    try:
        until = datetime.fromisoformat(str(since)) + LOCK_DURATION
        left = (until - now).total_seconds()
    except (ValueError, TypeError):
        # Nobody can say since when: the lock begins now, at the latest it ends like any other.
        return Wanted(LOCKED)
    return Wanted(ACTIVE) if left <= 0 else Wanted(look_again=left)
