"""VolumeSnapshots, their contents and classes (snapshot.storage.k8s.io).

Columns are the printer columns of the definitions
(https://github.com/kubernetes-csi/external-snapshotter/tree/master/client/config/crd).
"""

from datetime import datetime
from sys import intern

import msgspec

from console.kube.gvr import (
    VOLUME_SNAPSHOT_CLASSES,
    VOLUME_SNAPSHOT_CONTENTS,
    VOLUME_SNAPSHOTS,
)
from console.kube.projections.common import (
    Decoders,
    Object,
    Projection,
    annotation,
    basics,
    decoder,
    join_reason,
    terminating_or,
)
from console.kube.projections.timestamps import valid_time
from console.kube.status import Severity, Status

DEFAULT_ANNOTATION = "snapshot.storage.kubernetes.io/is-default-class"


class VolumeSnapshot(Projection, frozen=True):
    """A VolumeSnapshot.

    `source` is the claim it was taken from or a pre-existing content. `size` is a quantity.
    `taken` is the point in time of the data.
    """

    status: Status
    source: str
    content: str
    snapshot_class: str
    size: str
    taken: datetime | None


class VolumeSnapshotContent(Projection, frozen=True):
    """A VolumeSnapshotContent. `snapshot` is `namespace/name`. `size` is in bytes, 0 if unknown."""

    status: Status
    size: int
    deletion_policy: str
    driver: str
    snapshot_class: str
    snapshot: str


class VolumeSnapshotClass(Projection, frozen=True):
    default: bool
    driver: str
    deletion_policy: str


class _Source(msgspec.Struct, gc=False):
    persistentVolumeClaimName: str | None = None
    volumeSnapshotContentName: str | None = None


class _SnapshotSpec(msgspec.Struct, gc=False):
    source: _Source | None = None
    volumeSnapshotClassName: str | None = None


class _Error(msgspec.Struct, gc=False):
    message: str | None = None


class _SnapshotStatus(msgspec.Struct, gc=False):
    boundVolumeSnapshotContentName: str | None = None
    creationTime: datetime | None = None
    readyToUse: bool | None = None
    restoreSize: str | int | None = None
    error: _Error | None = None


class _Snapshot(Object):
    spec: _SnapshotSpec | None = None
    status: _SnapshotStatus | None = None


class _Reference(msgspec.Struct, gc=False):
    namespace: str | None = None
    name: str | None = None


class _ContentSpec(msgspec.Struct, gc=False):
    deletionPolicy: str | None = None
    driver: str | None = None
    volumeSnapshotClassName: str | None = None
    volumeSnapshotRef: _Reference | None = None


class _ContentStatus(msgspec.Struct, gc=False):
    readyToUse: bool | None = None
    restoreSize: int | None = None
    error: _Error | None = None


class _Content(Object):
    spec: _ContentSpec | None = None
    status: _ContentStatus | None = None


class _Class(Object):
    driver: str | None = None
    deletionPolicy: str | None = None


_READY = Status(Severity.OK, "Ready")
_CREATING = Status(Severity.PROGRESS, "Creating")


def _status(ready: bool | None, error: _Error | None) -> Status:
    if error is not None and not ready:
        return Status(Severity.ERROR, "Failed", join_reason(error.message, ""))
    return _READY if ready else _CREATING


def _snapshot(item: _Snapshot) -> VolumeSnapshot:
    spec, status = item.spec or _SnapshotSpec(), item.status or _SnapshotStatus()
    source = spec.source or _Source()
    size = status.restoreSize
    return VolumeSnapshot(
        **basics(item.metadata),
        status=terminating_or(item.metadata, _status(status.readyToUse, status.error)),
        source=source.persistentVolumeClaimName or source.volumeSnapshotContentName or "",
        content=status.boundVolumeSnapshotContentName or "",
        snapshot_class=intern(spec.volumeSnapshotClassName or ""),
        size="" if size is None else str(size),
        taken=valid_time(status.creationTime),
    )


def _content(item: _Content) -> VolumeSnapshotContent:
    spec, status = item.spec or _ContentSpec(), item.status or _ContentStatus()
    ref = spec.volumeSnapshotRef or _Reference()
    return VolumeSnapshotContent(
        **basics(item.metadata),
        status=terminating_or(item.metadata, _status(status.readyToUse, status.error)),
        size=status.restoreSize or 0,
        deletion_policy=intern(spec.deletionPolicy or ""),
        driver=intern(spec.driver or ""),
        snapshot_class=intern(spec.volumeSnapshotClassName or ""),
        snapshot=f"{ref.namespace or ''}/{ref.name}" if ref.name else "",
    )


def _class(item: _Class) -> VolumeSnapshotClass:
    return VolumeSnapshotClass(
        **basics(item.metadata),
        default=annotation(item.metadata, DEFAULT_ANNOTATION) == "true",
        driver=item.driver or "",
        deletion_policy=item.deletionPolicy or "",
    )


DECODERS: Decoders = {
    VOLUME_SNAPSHOTS: decoder(_Snapshot, _snapshot),
    VOLUME_SNAPSHOT_CONTENTS: decoder(_Content, _content),
    VOLUME_SNAPSHOT_CLASSES: decoder(_Class, _class),
}
