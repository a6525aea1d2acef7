"""PersistentVolumes, PersistentVolumeClaims, their snapshots and classes.

Columns and texts follow kubectl (printPersistentVolume, printPersistentVolumeClaim,
printStorageClass in Kubernetes' printers) and the printer columns of the snapshot definitions
(https://github.com/kubernetes-csi/external-snapshotter/tree/master/client/config/crd); phases and
conditions follow the core/v1 API.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from sys import intern

import msgspec

from console.kube.gvr import (
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
    VOLUME_SNAPSHOT_CLASSES,
    VOLUME_SNAPSHOT_CONTENTS,
    VOLUME_SNAPSHOTS,
)
from console.kube.projections.common import (
    Conditions,
    Decoders,
    Object,
    ObjectMeta,
    Present,
    Projection,
    Reference,
    annotation,
    basics,
    decoder,
    find_condition,
    join_reason,
    terminating_or,
    valid_time,
)
from console.kube.status import Severity, Status

#: The predecessor of `spec.storageClassName`, which still takes precedence
#: (GetPersistentVolumeClaimClass).
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
DEFAULT_ANNOTATIONS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
#: KubeSphere: operations allowed on volumes of the class, "true" or "false".
ALLOW_CLONE = "storageclass.kubesphere.io/allow-clone"
ALLOW_SNAPSHOT = "storageclass.kubesphere.io/allow-snapshot"
_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


class PersistentVolume(Projection, frozen=True):
    """A PersistentVolume.

    `claim` is `namespace/name`, or "". `driver` is the CSI driver or the volume type
    (`hostPath`), or "" for a rare volume type.
    """

    status: Status
    capacity: str
    access_modes: str
    reclaim_policy: str
    claim: str
    storage_class: str
    attributes_class: str
    volume_mode: str
    driver: str


class StorageClass(Projection, frozen=True):
    """A StorageClass.

    `clones` and `snapshots` are True if the operation is allowed on its volumes, None if not
    specified.
    """

    default: bool
    provisioner: str
    reclaim_policy: str
    binding_mode: str
    expandable: bool
    clones: bool | None
    snapshots: bool | None


class _Csi(msgspec.Struct, gc=False):
    driver: str = ""


class _VolumeSpec(msgspec.Struct, gc=False):
    capacity: dict[str, str] | None = None
    accessModes: tuple[str, ...] | None = None
    persistentVolumeReclaimPolicy: str = ""
    claimRef: Reference | None = None
    storageClassName: str = ""
    volumeAttributesClassName: str | None = None
    volumeMode: str | None = None
    csi: _Csi | None = None
    nfs: Present | None = None
    local: Present | None = None
    hostPath: Present | None = None
    iscsi: Present | None = None
    fc: Present | None = None
    cephfs: Present | None = None
    rbd: Present | None = None


class _VolumeStatus(msgspec.Struct, gc=False):
    phase: str = ""
    reason: str = ""
    message: str = ""


class _Volume(Object):
    spec: _VolumeSpec | None = None
    status: _VolumeStatus | None = None


class _StorageClass(Object):
    provisioner: str = ""
    reclaimPolicy: str | None = None
    volumeBindingMode: str | None = None
    allowVolumeExpansion: bool | None = None


_BOUND = Status(Severity.OK, "Bound")
_AVAILABLE = Status(Severity.OK, "Available")


def storage_amount(amounts: Mapping[str, str] | None) -> str:
    """Return the storage amount of a resource list."""
    return intern((amounts or {}).get("storage", ""))


def modes_text(modes: Iterable[str] | None) -> str:
    """Format access modes like GetAccessModesAsString."""
    given = set(modes or ())
    return intern(",".join(short for mode, short in _MODES.items() if mode in given))


def class_of(meta: ObjectMeta, name: str | None) -> str:
    """Return the storage class of a claim or volume, or ""."""
    return intern(annotation(meta, CLASS_ANNOTATION) or name or "")


def _volume(item: _Volume) -> PersistentVolume:
    spec, status = item.spec or _VolumeSpec(), item.status or _VolumeStatus()
    claim = spec.claimRef.path if spec.claimRef else ""
    return PersistentVolume(
        **basics(item.metadata),
        status=terminating_or(item.metadata, _volume_status(status, claim)),
        capacity=storage_amount(spec.capacity),
        access_modes=modes_text(spec.accessModes),
        reclaim_policy=intern(spec.persistentVolumeReclaimPolicy),
        claim=claim,
        storage_class=class_of(item.metadata, spec.storageClassName),
        attributes_class=intern(spec.volumeAttributesClassName or ""),
        volume_mode=intern(spec.volumeMode or ""),
        driver=_driver(spec),
    )


def _driver(spec: _VolumeSpec) -> str:
    if spec.csi is not None:
        return intern(spec.csi.driver)
    kinds = ("nfs", "local", "hostPath", "iscsi", "fc", "cephfs", "rbd")
    return next((kind for kind in kinds if getattr(spec, kind) is not None), "")


def _volume_status(status: _VolumeStatus, claim: str) -> Status:
    why = join_reason(status.reason, status.message)
    match status.phase:
        case "Bound":
            return _BOUND
        case "Available":
            return _AVAILABLE
        case "Released":
            # The claim was deleted. The volume stays unavailable until an administrator handles its
            # data.
            return Status(Severity.WARN, "Released", why or claim)
        case "Failed":
            return Status(Severity.ERROR, "Failed", why)
        case "Pending" | "":
            return Status(Severity.PROGRESS, "Waiting", why or "Pending")
        case _:
            return Status(Severity.UNKNOWN, "Unknown", status.phase)


def _storage_class(item: _StorageClass) -> StorageClass:
    return StorageClass(
        **basics(item.metadata),
        default=any(annotation(item.metadata, name) == "true" for name in DEFAULT_ANNOTATIONS),
        provisioner=item.provisioner,
        reclaim_policy=item.reclaimPolicy or "Delete",
        binding_mode=item.volumeBindingMode or "Immediate",
        expandable=bool(item.allowVolumeExpansion),
        clones=_allowed(item.metadata, ALLOW_CLONE),
        snapshots=_allowed(item.metadata, ALLOW_SNAPSHOT),
    )


def _allowed(meta: ObjectMeta, name: str) -> bool | None:
    return {"true": True, "false": False}.get(annotation(meta, name))


#: Set when the volume controller has handed the claim to an external provisioner.
PROVISIONER_ANNOTATION = "volume.kubernetes.io/storage-provisioner"


class PersistentVolumeClaim(Projection, frozen=True):
    """A PersistentVolumeClaim.

    `capacity` is "" until a volume is bound. `capacity` and `requested` are quantities.
    `access_modes` are abbreviated (`RWO`).
    """

    status: Status
    volume: str
    requested: str
    capacity: str
    access_modes: str
    storage_class: str
    attributes_class: str
    volume_mode: str


class _Resources(msgspec.Struct, gc=False):
    requests: dict[str, str] | None = None


class _ClaimSpec(msgspec.Struct, gc=False):
    volumeName: str = ""
    storageClassName: str | None = None
    volumeAttributesClassName: str | None = None
    volumeMode: str | None = None
    resources: _Resources | None = None


class _ClaimStatus(msgspec.Struct, gc=False):
    phase: str = ""
    accessModes: tuple[str, ...] | None = None
    capacity: dict[str, str] | None = None
    allocatedResourceStatuses: dict[str, str] | None = None
    conditions: Conditions | None = None


class _Claim(Object):
    spec: _ClaimSpec | None = None
    status: _ClaimStatus | None = None


_RESIZE_ERRORS = ("ControllerResizeError", "NodeResizeError")
_RESIZING = ("Resizing", "FileSystemResizePending")


def _claim(item: _Claim) -> PersistentVolumeClaim:
    spec, status = item.spec or _ClaimSpec(), item.status or _ClaimStatus()
    bound = bool(spec.volumeName)
    return PersistentVolumeClaim(
        **basics(item.metadata),
        status=terminating_or(item.metadata, _claim_status(item.metadata, spec, status)),
        volume=spec.volumeName,
        requested=storage_amount(spec.resources.requests if spec.resources else None),
        capacity=storage_amount(status.capacity) if bound else "",
        access_modes=modes_text(status.accessModes) if bound else "",
        storage_class=class_of(item.metadata, spec.storageClassName),
        attributes_class=intern(spec.volumeAttributesClassName or ""),
        volume_mode=intern(spec.volumeMode or ""),
    )


def _claim_status(meta: ObjectMeta, spec: _ClaimSpec, status: _ClaimStatus) -> Status:
    match status.phase:
        case "Bound":
            resize = (status.allocatedResourceStatuses or {}).get("storage", "")
            return _changing(status.conditions, resize) or _BOUND
        case "Lost":
            return Status(Severity.ERROR, "Lost", spec.volumeName)
        case "Pending" | "":
            return _pending(meta, spec)
        case _:
            return Status(Severity.UNKNOWN, "Unknown", status.phase)


def _pending(meta: ObjectMeta, spec: _ClaimSpec) -> Status:
    """Return why no volume is bound, as far as the claim shows it. Events may have more details."""
    if spec.volumeName:
        return Status(Severity.PROGRESS, "Binding", spec.volumeName)
    provisioner = annotation(meta, PROVISIONER_ANNOTATION)
    if provisioner:
        return Status(Severity.PROGRESS, "Creating", provisioner)
    if spec.storageClassName is None and not annotation(meta, CLASS_ANNOTATION):
        # Not a request for static volumes, which would be "", and there was no default class.
        return Status(Severity.WARN, "No storage class", "Pending")
    return Status(Severity.PROGRESS, "Waiting", "Pending")


def _changing(conditions: Conditions | None, resize: str) -> Status | None:
    """Return the status of a change to a bound volume, or None.

    `resize` is the resize status of the storage, or "".
    """
    true = [found for found in conditions or () if found.status == "True"]
    for found in true:
        if found.type in _RESIZE_ERRORS:
            return Status(Severity.WARN, "Resize failed", join_reason(found.type, found.message))
        if found.type == "ModifyVolumeError":
            return Status(Severity.WARN, "Change failed", join_reason(found.type, found.message))
    if resize.endswith("Infeasible"):
        return Status(Severity.WARN, "Resize failed", resize)
    for found in true:
        if found.type in _RESIZING:
            return Status(Severity.PROGRESS, "Resizing", join_reason(found.type, found.message))
    if resize:
        return Status(Severity.PROGRESS, "Resizing", resize)
    if find_condition(true, "ModifyingVolume"):
        return Status(Severity.PROGRESS, "Updating", "ModifyingVolume")
    return None


DEFAULT_SNAPSHOT_CLASS = "snapshot.storage.kubernetes.io/is-default-class"


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


class _SnapshotSource(msgspec.Struct, gc=False):
    persistentVolumeClaimName: str | None = None
    volumeSnapshotContentName: str | None = None


class _SnapshotSpec(msgspec.Struct, gc=False):
    source: _SnapshotSource | None = None
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


class _ContentSpec(msgspec.Struct, gc=False):
    deletionPolicy: str | None = None
    driver: str | None = None
    volumeSnapshotClassName: str | None = None
    volumeSnapshotRef: Reference | None = None


class _ContentStatus(msgspec.Struct, gc=False):
    readyToUse: bool | None = None
    restoreSize: int | None = None
    error: _Error | None = None


class _Content(Object):
    spec: _ContentSpec | None = None
    status: _ContentStatus | None = None


class _SnapshotClass(Object):
    driver: str | None = None
    deletionPolicy: str | None = None


_READY = Status(Severity.OK, "Ready")
_CREATING = Status(Severity.PROGRESS, "Creating")


def _snapshot_status(ready: bool | None, error: _Error | None) -> Status:
    if error is not None and not ready:
        return Status(Severity.ERROR, "Failed", join_reason(error.message, ""))
    return _READY if ready else _CREATING


def _snapshot(item: _Snapshot) -> VolumeSnapshot:
    spec, status = item.spec or _SnapshotSpec(), item.status or _SnapshotStatus()
    source = spec.source or _SnapshotSource()
    size = status.restoreSize
    return VolumeSnapshot(
        **basics(item.metadata),
        status=terminating_or(item.metadata, _snapshot_status(status.readyToUse, status.error)),
        source=source.persistentVolumeClaimName or source.volumeSnapshotContentName or "",
        content=status.boundVolumeSnapshotContentName or "",
        snapshot_class=intern(spec.volumeSnapshotClassName or ""),
        size="" if size is None else str(size),
        taken=valid_time(status.creationTime),
    )


def _content(item: _Content) -> VolumeSnapshotContent:
    spec, status = item.spec or _ContentSpec(), item.status or _ContentStatus()
    ref = spec.volumeSnapshotRef or Reference()
    return VolumeSnapshotContent(
        **basics(item.metadata),
        status=terminating_or(item.metadata, _snapshot_status(status.readyToUse, status.error)),
        size=status.restoreSize or 0,
        deletion_policy=intern(spec.deletionPolicy or ""),
        driver=intern(spec.driver or ""),
        snapshot_class=intern(spec.volumeSnapshotClassName or ""),
        snapshot=ref.path if ref.name else "",
    )


def _snapshot_class(item: _SnapshotClass) -> VolumeSnapshotClass:
    return VolumeSnapshotClass(
        **basics(item.metadata),
        default=annotation(item.metadata, DEFAULT_SNAPSHOT_CLASS) == "true",
        driver=item.driver or "",
        deletion_policy=item.deletionPolicy or "",
    )


DECODERS: Decoders = {
    PERSISTENT_VOLUMES: decoder(_Volume, _volume),
    STORAGE_CLASSES: decoder(_StorageClass, _storage_class),
    PERSISTENT_VOLUME_CLAIMS: decoder(_Claim, _claim),
    VOLUME_SNAPSHOTS: decoder(_Snapshot, _snapshot),
    VOLUME_SNAPSHOT_CONTENTS: decoder(_Content, _content),
    VOLUME_SNAPSHOT_CLASSES: decoder(_SnapshotClass, _snapshot_class),
}
