"""The projection of types of which nothing but the metadata matters to pages."""

from datetime import datetime

import msgspec

from console.kube.projections.meta import ObjectMeta, utc


class Generic(msgspec.Struct, frozen=True):
    namespace: str
    name: str
    uid: str
    labels: dict[str, str]
    annotations: dict[str, str]
    created: datetime | None
    deleted: datetime | None


class _Object(msgspec.Struct):
    metadata: ObjectMeta


_decoder = msgspec.json.Decoder(_Object)


def decode(raw: bytes | msgspec.Raw) -> tuple[Generic, str]:
    meta = _decoder.decode(raw).metadata
    projection = Generic(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        labels=meta.labels or {},
        annotations=meta.annotations or {},
        created=utc(meta.creationTimestamp),
        deleted=utc(meta.deletionTimestamp),
    )
    return projection, meta.resourceVersion
