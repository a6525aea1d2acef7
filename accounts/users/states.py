"""The state of a User, by KubeSphere's rules, and changing a User."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from accounts.signin.passwords import is_hash
from console.kube.client import ObjectClient
from console.kube.gvr import USERS

Manifest = dict[str, Any]

ACTIVE, DISABLED, LOCKED = "Active", "Disabled", "AuthLimitExceeded"
IDENTITY_PROVIDER_LABEL = "iam.kubesphere.io/identify-provider"


@dataclass(frozen=True, slots=True)
class WantedState:
    """`state` is None if the one that is there is right; `look_again`: seconds until it may not be."""

    state: str | None = None
    reason: str = ""
    look_again: float | None = None


def wanted_state(user: Manifest, now: datetime, *, lock: timedelta) -> WantedState:
    """`lock`: how long a lock lasts."""
    status = user.get("status") or {}
    state = status.get("state") or ""
    password = (user.get("spec") or {}).get("password") or ""
    labels = user["metadata"].get("labels") or {}
    if state == DISABLED:
        return WantedState()
    if not password:
        return _without_password(state, bool(labels.get(IDENTITY_PROVIDER_LABEL)))
    if state == LOCKED:
        return _locked(status, lock, now)
    if state == "" and is_hash(password):
        return WantedState(ACTIVE)
    return WantedState()


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


def _without_password(state: str, from_provider: bool) -> WantedState:
    if not from_provider:
        return WantedState(DISABLED, "The user has neither a password nor an identity provider")
    return WantedState() if state == ACTIVE else WantedState(ACTIVE)


def _locked(status: Mapping[str, Any], lock: timedelta, now: datetime) -> WantedState:
    if transition(status) is None:
        # The lock begins now; at the latest it ends like any other.
        return WantedState(LOCKED)
    left = lock_left(status, lock, now)
    return WantedState(ACTIVE) if left <= 0 else WantedState(look_again=left)


# Changing a User: one patch of the very version that was seen.

CHANGED_ANNOTATION = "iam.kubesphere.io/last-password-change-time"
#: kubectl's copy of what was applied, in which a plain password would stay.
APPLIED_ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"


def time_text(time: datetime) -> str:
    """As Kubernetes writes times."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def state_status(state: str, now: datetime, reason: str = "") -> Manifest:
    """A `status` that enters a state. Null takes the reason of the state before away."""
    return {"state": state, "reason": reason or None, "lastTransitionTime": time_text(now)}


def with_finalizer(item: Manifest, finalizer: str) -> list[str]:
    """The finalizers that the object should have."""
    found = item["metadata"].get("finalizers") or []
    return list(found) if finalizer in found else [*found, finalizer]


def without_finalizer(item: Manifest, finalizer: str) -> Manifest:
    """A patch of this very version of the object."""
    meta = item["metadata"]
    left = [one for one in meta.get("finalizers") or [] if one != finalizer]
    return {"metadata": {"finalizers": left, "resourceVersion": meta["resourceVersion"]}}


async def patch_user(
    client: ObjectClient, user: Manifest, patch: Manifest, *, audit_id: str = ""
) -> Manifest:
    """What the user is now. A change since `user` was read is a `Conflict`; of one who was not read the
    uid is enough. Raises `ApiError`.

    KubeSphere's type has no status subresource, others may have one, which the first request cannot
    reach.
    """
    written = await _patch(client, user, patch, audit_id)
    status = patch.get("status")
    if status and not _holds(written, status):
        written = await _patch(client, written, {"status": status}, audit_id, "status")
    return written


def _holds(user: Manifest, status: Manifest) -> bool:
    found = user.get("status") or {}
    return all(found.get(field) == value for field, value in status.items())


async def _patch(
    client: ObjectClient, user: Manifest, patch: Manifest, audit_id: str, subresource: str = ""
) -> Manifest:
    meta = user["metadata"]
    same = {field: meta[field] for field in ("uid", "resourceVersion") if field in meta}
    body = {**patch, "metadata": {**patch.get("metadata", {}), **same}}
    return await client.patch(
        USERS, body, name=meta["name"], subresource=subresource, audit_id=audit_id
    )
