"""A projection of metadata only, for tests that are independent of a resource type."""

from datetime import datetime

import msgspec

from console.kube.projections.common import ObjectMeta, as_utc, owner_of, owner_uid


class Generic(msgspec.Struct, frozen=True, gc=False):
    """`owner` is `Kind/name` of the controlling owner or "", `owner_uid` is its UID."""

    namespace: str
    name: str
    uid: str
    labels: dict[str, str]
    annotations: dict[str, str]
    created: datetime | None
    deleted: datetime | None
    owner: str = ""
    owner_uid: str = ""


class _Object(msgspec.Struct, gc=False):
    metadata: ObjectMeta


_decoder = msgspec.json.Decoder(_Object)


def decode(raw: bytes | msgspec.Raw) -> tuple[Generic, str, msgspec.Raw]:
    meta = _decoder.decode(raw).metadata
    projection = Generic(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        labels=meta.labels or {},
        annotations=meta.annotations or {},
        created=as_utc(meta.creationTimestamp),
        deleted=as_utc(meta.deletionTimestamp),
        owner=owner_of(meta),
        owner_uid=owner_uid(meta),
    )
    return projection, meta.resourceVersion, meta.managedFields
