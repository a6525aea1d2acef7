"""PersistentVolumeClaims: the requested and provided storage, and the reason if a claim is pending.

Columns and texts follow kubectl (printPersistentVolumeClaim in Kubernetes' printers); phases and
conditions follow the core/v1 API.
"""

from sys import intern

import msgspec

from console.kube.gvr import PERSISTENT_VOLUME_CLAIMS
from console.kube.projections.common import (
    Conditions,
    Decoders,
    Object,
    Projection,
    annotation,
    basics,
    decoder,
    find_condition,
    join_reason,
    terminating_or,
)
from console.kube.projections.meta import ObjectMeta
from console.kube.projections.storage import CLASS_ANNOTATION, class_of, modes_text, storage_amount
from console.kube.status import Severity, Status

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


_BOUND = Status(Severity.OK, "Bound")
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


DECODERS: Decoders = {PERSISTENT_VOLUME_CLAIMS: decoder(_Claim, _claim)}
