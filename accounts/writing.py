"""Changing a User: one patch of the very version that was seen."""

from datetime import datetime
from typing import Any

from console.kube.client import ObjectClient
from console.kube.gvr import USERS

Manifest = dict[str, Any]

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
