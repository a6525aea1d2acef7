"""Calculation of a User's state by KubeSphere's rules, and patches of Users."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from accounts.signin.passwords import is_hash
from console.kube.apply import Manifest
from console.kube.clients import ObjectClient
from console.kube.gvr import USERS

ACTIVE, DISABLED, LOCKED = "Active", "Disabled", "AuthLimitExceeded"
PROVIDER_LABEL = "iam.kubesphere.io/identify-provider"


@dataclass(frozen=True, slots=True)
class WantedState:
    """Desired state of a User.

    `state` is None if the current state is correct. `requeue_after` is the number of seconds until
    the state may have to change.
    """

    state: str | None = None
    reason: str = ""
    requeue_after: float | None = None


def wanted_state(user: Manifest, now: datetime, *, lock: timedelta) -> WantedState:
    """Return the state the user should have. `lock` is the duration of a lock."""
    status = user.get("status") or {}
    state = status.get("state") or ""
    password = (user.get("spec") or {}).get("password") or ""
    labels = user["metadata"].get("labels") or {}
    if state == DISABLED:
        return WantedState()
    if not password:
        if not labels.get(PROVIDER_LABEL):
            return WantedState(DISABLED, "The user has neither a password nor an identity provider")
        return WantedState() if state == ACTIVE else WantedState(ACTIVE)
    if state == LOCKED:
        return _locked(status, lock, now)
    if state == "" and is_hash(password):
        return WantedState(ACTIVE)
    return WantedState()


def lock_remaining(status: Mapping[str, Any], lock: timedelta, now: datetime) -> float:
    """Return the seconds until a locked user is unlocked.

    Return the full lock duration if the start of the lock is unknown.
    """
    since = state_since(status)
    return ((since or now) + lock - now).total_seconds()


def state_since(status: Mapping[str, Any]) -> datetime | None:
    """Return the time when the user entered the current state, or None if unknown."""
    try:
        found = datetime.fromisoformat(str(status.get("lastTransitionTime")))
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def _locked(status: Mapping[str, Any], lock: timedelta, now: datetime) -> WantedState:
    if state_since(status) is None:
        # The start of the lock is unknown, so it restarts now. It still expires after the usual
        # duration.
        return WantedState(LOCKED)
    left = lock_remaining(status, lock, now)
    return WantedState(ACTIVE) if left <= 0 else WantedState(requeue_after=left)


# Patches of Users, restricted to the version that was read.

CHANGED_ANNOTATION = "iam.kubesphere.io/last-password-change-time"
#: kubectl's copy of the applied manifest, which could contain a plain password.
APPLIED_ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"


def time_text(time: datetime) -> str:
    """Format a time as Kubernetes does."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def state_status(state: str, now: datetime, reason: str = "") -> Manifest:
    """Return a `status` patch that enters a state. A null reason removes the previous reason."""
    return {"state": state, "reason": reason or None, "lastTransitionTime": time_text(now)}


def with_finalizer(item: Manifest, finalizer: str) -> list[str]:
    """Return the object's finalizers including `finalizer`."""
    found = item["metadata"].get("finalizers") or []
    return list(found) if finalizer in found else [*found, finalizer]


def without_finalizer(item: Manifest, finalizer: str) -> Manifest:
    """Return a patch of this object version that removes the finalizer."""
    meta = item["metadata"]
    left = [one for one in meta.get("finalizers") or [] if one != finalizer]
    return {"metadata": {"finalizers": left, "resourceVersion": meta["resourceVersion"]}}


async def patch_user(
    client: ObjectClient, user: Manifest, patch: Manifest, *, audit_id: str = ""
) -> Manifest:
    """Patch a User and return the updated object. Raise `ApiError`.

    If `user` contains a resource version, a concurrent change raises `Conflict`; otherwise only
    the uid must match. KubeSphere's User type has no status subresource. If the cluster's type
    has one, the first request doesn't change the status and a second request patches the
    subresource.
    """
    written = await _patch(client, user, patch, audit_id)
    status = patch.get("status")
    found = written.get("status") or {}
    if status and any(found.get(field) != value for field, value in status.items()):
        written = await _patch(client, written, {"status": status}, audit_id, "status")
    return written


async def _patch(
    client: ObjectClient, user: Manifest, patch: Manifest, audit_id: str, subresource: str = ""
) -> Manifest:
    meta = user["metadata"]
    same = {field: meta[field] for field in ("uid", "resourceVersion") if field in meta}
    body = {**patch, "metadata": {**patch.get("metadata", {}), **same}}
    return await client.patch(
        USERS, body, name=meta["name"], subresource=subresource, audit_id=audit_id
    )
