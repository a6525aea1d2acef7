"""The state of a User, by KubeSphere's rules."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from accounts.passwords import is_hash

Manifest = dict[str, Any]

ACTIVE, DISABLED, LOCKED = "Active", "Disabled", "AuthLimitExceeded"
IDENTITY_PROVIDER_LABEL = "iam.kubesphere.io/identify-provider"


@dataclass(frozen=True, slots=True)
class Wanted:
    """`state` is None if the one that is there is right; `look_again`: seconds until it may not be."""

    state: str | None = None
    reason: str = ""
    look_again: float | None = None


def wanted_state(user: Manifest, now: datetime, *, lock: timedelta) -> Wanted:
    """`lock`: how long a lock lasts."""
    status = user.get("status") or {}
    state = status.get("state") or ""
    password = (user.get("spec") or {}).get("password") or ""
    labels = user["metadata"].get("labels") or {}
    if state == DISABLED:
        return Wanted()
    if not password:
        return _without_password(state, bool(labels.get(IDENTITY_PROVIDER_LABEL)))
    if state == LOCKED:
        return _locked(status, lock, now)
    if state == "" and is_hash(password):
        return Wanted(ACTIVE)
    return Wanted()


def lock_left(status: Mapping[str, Any], lock: timedelta, now: datetime) -> float:
    """Seconds for which a locked user stays locked. All of them if nobody can say since when."""
    since = transition(status)
    return ((since or now) + lock - now).total_seconds()


def transition(status: Mapping[str, Any]) -> datetime | None:
    """When the user came into the present state, or None if nobody can say."""
    try:
        found = datetime.fromisoformat(str(status.get("lastTransitionTime")))
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def _without_password(state: str, from_provider: bool) -> Wanted:
    if not from_provider:
        return Wanted(DISABLED, "The user has neither a password nor an identity provider")
    return Wanted() if state == ACTIVE else Wanted(ACTIVE)


def _locked(status: Mapping[str, Any], lock: timedelta, now: datetime) -> Wanted:
    if transition(status) is None:
        # The lock begins now; at the latest it ends like any other.
        return Wanted(LOCKED)
    left = lock_left(status, lock, now)
    return Wanted(ACTIVE) if left <= 0 else Wanted(look_again=left)
