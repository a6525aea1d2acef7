"""PersistentVolumes and StorageClasses.

Columns and texts follow kubectl (printPersistentVolume, printStorageClass in Kubernetes'
printers); phases follow the core/v1 API.
"""

from collections.abc import Iterable, Mapping
from sys import intern

import msgspec

from console.kube.gvr import PERSISTENT_VOLUMES, STORAGE_CLASSES
from console.kube.projections.common import (
    Decoders,
    Object,
    Present,
    Projection,
    annotation,
    basics,
    decoder,
    join_reason,
    terminating_or,
)
from console.kube.projections.meta import ObjectMeta
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
    (`hostPath`).
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


class _ClaimReference(msgspec.Struct, gc=False):
    namespace: str = ""
    name: str = ""


class _Csi(msgspec.Struct, gc=False):
    driver: str = ""


class _VolumeSpec(msgspec.Struct, gc=False):
    capacity: dict[str, str] | None = None
    accessModes: tuple[str, ...] | None = None
    persistentVolumeReclaimPolicy: str = ""
    claimRef: _ClaimReference | None = None
    storageClassName: str = ""
    volumeAttributesClassName: str | None = None
    volumeMode: str | None = None
    csi: _Csi | None = None
    nfs: Present | None = None
    local: Present | None = None
    hostPath: Present | None = None


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
    claim = f"{spec.claimRef.namespace}/{spec.claimRef.name}" if spec.claimRef else ""
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
    kinds = {"nfs": spec.nfs, "local": spec.local, "hostPath": spec.hostPath}
    return next((kind for kind, found in kinds.items() if found is not None), "")


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


DECODERS: Decoders = {
    PERSISTENT_VOLUMES: decoder(_Volume, _volume),
    STORAGE_CLASSES: decoder(_StorageClass, _storage_class),
}
