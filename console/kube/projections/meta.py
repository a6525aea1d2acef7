"""The fields of `metadata` that projections use."""

from datetime import UTC, datetime

import msgspec


class OwnerReference(msgspec.Struct, frozen=True, gc=False):
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class ObjectMeta(msgspec.Struct, gc=False):
    name: str
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""
    creationTimestamp: datetime | None = None
    deletionTimestamp: datetime | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    managedFields: msgspec.Raw = msgspec.Raw()
    ownerReferences: tuple[OwnerReference, ...] | None = None


def owner_of(meta: ObjectMeta) -> str:
    """Return `Kind/name` of the controlling owner, or ""."""
    for owner in meta.ownerReferences or ():
        if owner.controller:
            return f"{owner.kind}/{owner.name}"
    return ""


def owner_uid(meta: ObjectMeta) -> str:
    """Return the uid of the controlling owner, or ""."""
    return next((owner.uid for owner in meta.ownerReferences or () if owner.controller), "")


def as_utc(value: datetime | None) -> datetime | None:
    """Return the time with a time zone. Kubernetes writes UTC, so that is the default."""
    if value is None or value.tzinfo is not None:
        return value
    return value.replace(tzinfo=UTC)
