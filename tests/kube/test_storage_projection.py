"""Claims, volumes and storage classes."""

from typing import Any

import pytest

from console.kube.gvr import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES
from console.kube.projections.storage import ALLOW_CLONE, ALLOW_SNAPSHOT
from tests.kube.projecting import DELETED, condition, projected, said

PROVISIONED = {
    "annotations": {"volume.kubernetes.io/storage-provisioner": "csi.example"},
}
BETA = {"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}}

CLAIMS: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any], tuple[str, str, str]]] = [
    ("bound", {}, {"volumeName": "pv-1"}, {"phase": "Bound"}, ("ok", "Bound", "")),
    (
        "waits for a pod",
        {},
        {"storageClassName": "fast"},
        {"phase": "Pending"},
        ("progress", "Waiting", "Pending"),
    ),
    (
        "is being made",
        PROVISIONED,
        {"storageClassName": "fast"},
        {"phase": "Pending"},
        ("progress", "Creating", "csi.example"),
    ),
    (
        "wants one volume",
        {},
        {"storageClassName": "", "volumeName": "pv-1"},
        {"phase": "Pending"},
        ("progress", "Binding", "pv-1"),
    ),
    ("no class", {}, {}, {"phase": "Pending"}, ("warn", "No storage class", "Pending")),
    (
        "no class on purpose",
        {},
        {"storageClassName": ""},
        {"phase": "Pending"},
        ("progress", "Waiting", "Pending"),
    ),
    ("old way", BETA, {}, {"phase": "Pending"}, ("progress", "Waiting", "Pending")),
    ("just made", {}, {"storageClassName": "fast"}, {}, ("progress", "Waiting", "Pending")),
    ("lost", {}, {"volumeName": "pv-1"}, {"phase": "Lost"}, ("error", "Lost", "pv-1")),
    (
        "grows",
        {},
        {"volumeName": "pv-1"},
        {
            "phase": "Bound",
            "conditions": [condition("FileSystemResizePending", "True", "", "waiting for a pod")],
        },
        ("progress", "Resizing", "FileSystemResizePending: waiting for a pod"),
    ),
    (
        "is to grow",
        {},
        {"volumeName": "pv-1"},
        {"phase": "Bound", "allocatedResourceStatuses": {"storage": "NodeResizePending"}},
        ("progress", "Resizing", "NodeResizePending"),
    ),
    (
        "cannot grow",
        {},
        {"volumeName": "pv-1"},
        {
            "phase": "Bound",
            "conditions": [condition("Resizing", "True")],
            "allocatedResourceStatuses": {"storage": "ControllerResizeInfeasible"},
        },
        ("warn", "Resize failed", "ControllerResizeInfeasible"),
    ),
    (
        "does not grow",
        {},
        {"volumeName": "pv-1"},
        {
            "phase": "Bound",
            "conditions": [
                condition("Resizing", "True"),
                condition("ControllerResizeError", "True", "", "quota exceeded"),
            ],
        },
        ("warn", "Resize failed", "ControllerResizeError: quota exceeded"),
    ),
    (
        "has grown",
        {},
        {"volumeName": "pv-1"},
        {"phase": "Bound", "conditions": [condition("Resizing", "False")]},
        ("ok", "Bound", ""),
    ),
    (
        "changes class",
        {},
        {"volumeName": "pv-1"},
        {"phase": "Bound", "conditions": [condition("ModifyingVolume", "True")]},
        ("progress", "Updating", "ModifyingVolume"),
    ),
    (
        "cannot change class",
        {},
        {"volumeName": "pv-1"},
        {"phase": "Bound", "conditions": [condition("ModifyVolumeError", "True", "", "no")]},
        ("warn", "Change failed", "ModifyVolumeError: no"),
    ),
    ("goes", DELETED, {"volumeName": "pv-1"}, {"phase": "Bound"}, ("ending", "Terminating", "")),
    ("new phase", {}, {}, {"phase": "Dreaming"}, ("unknown", "Unknown", "Dreaming")),
]


@pytest.mark.parametrize(
    ("meta", "spec", "status", "expected"), [c[1:] for c in CLAIMS], ids=[c[0] for c in CLAIMS]
)
def test_claim_status(
    meta: dict[str, Any],
    spec: dict[str, Any],
    status: dict[str, Any],
    expected: tuple[str, str, str],
) -> None:
    assert said(projected(PERSISTENT_VOLUME_CLAIMS, meta, spec=spec, status=status)) == expected


def test_columns_of_kubectl_are_kept() -> None:
    spec: dict[str, Any] = {
        "storageClassName": "fast",
        "volumeMode": "Filesystem",
        "volumeAttributesClassName": "gold",
        "resources": {"requests": {"storage": "10Gi"}},
    }
    modes = ["ReadWriteMany", "ReadWriteOnce", "ReadWriteOnce", "Other"]
    status = {"phase": "Bound", "capacity": {"storage": "12Gi"}, "accessModes": modes}
    bound = projected(PERSISTENT_VOLUME_CLAIMS, spec={**spec, "volumeName": "pv-1"}, status=status)
    assert (bound.requested, bound.capacity) == ("10Gi", "12Gi")
    assert bound.access_modes == "RWO,RWX"
    assert (bound.volume, bound.storage_class) == ("pv-1", "fast")
    assert (bound.attributes_class, bound.volume_mode) == ("gold", "Filesystem")
    pending = projected(PERSISTENT_VOLUME_CLAIMS, spec=spec, status={"phase": "Pending"})
    assert (pending.requested, pending.capacity, pending.access_modes) == ("10Gi", "", "")


def test_class_annotation_takes_precedence_as_in_kubernetes() -> None:
    found = projected(PERSISTENT_VOLUME_CLAIMS, BETA, spec={"storageClassName": "new"})
    assert found.storage_class == "old"


CLAIM = {"claimRef": {"namespace": "shop", "name": "data"}}
VOLUMES: list[tuple[dict[str, Any], dict[str, Any], tuple[str, str, str]]] = [
    ({}, {"phase": "Available"}, ("ok", "Available", "")),
    (CLAIM, {"phase": "Bound"}, ("ok", "Bound", "")),
    (CLAIM, {"phase": "Released"}, ("warn", "Released", "shop/data")),
    (
        CLAIM,
        {"phase": "Failed", "reason": "VolumeFailedDelete", "message": "still attached"},
        ("error", "Failed", "VolumeFailedDelete: still attached"),
    ),
    ({}, {"phase": "Pending"}, ("progress", "Waiting", "Pending")),
    ({}, {}, ("progress", "Waiting", "Pending")),
    ({}, {"phase": "Other"}, ("unknown", "Unknown", "Other")),
]


@pytest.mark.parametrize(("spec", "status", "expected"), VOLUMES)
def test_volume_status(
    spec: dict[str, Any], status: dict[str, Any], expected: tuple[str, str, str]
) -> None:
    assert said(projected(PERSISTENT_VOLUMES, spec=spec, status=status)) == expected
    assert said(projected(PERSISTENT_VOLUMES, DELETED, spec=spec, status=status))[0] == "ending"


@pytest.mark.parametrize(
    ("source", "driver"),
    [
        ({"csi": {"driver": "csi.example"}}, "csi.example"),
        ({"hostPath": {"path": "/data"}}, "hostPath"),
        ({"nfs": {"server": "s"}, "hostPath": None}, "nfs"),
        ({"rbd": {}}, "rbd"),
        ({"storageos": {}}, ""),
    ],
)
def test_volume_source_is_shown(source: dict[str, Any], driver: str) -> None:
    spec = {
        **source,
        **CLAIM,
        "capacity": {"storage": "5Gi"},
        "accessModes": ["ReadOnlyMany"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "fast",
    }
    found = projected(PERSISTENT_VOLUMES, spec=spec)
    assert found.driver == driver
    assert (found.capacity, found.access_modes, found.claim) == ("5Gi", "ROX", "shop/data")
    assert (found.reclaim_policy, found.storage_class) == ("Retain", "fast")


def test_api_defaults_of_a_class_are_filled_in() -> None:
    found = projected(STORAGE_CLASSES, provisioner="csi.example", reclaimPolicy=None)
    assert (found.reclaim_policy, found.binding_mode) == ("Delete", "Immediate")
    assert (found.default, found.expandable) == (False, False)


@pytest.mark.parametrize(
    "name",
    [
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    ],
)
def test_default_storage_class_is_recognized(name: str) -> None:
    assert projected(STORAGE_CLASSES, {"annotations": {name: "true"}}).default
    assert not projected(STORAGE_CLASSES, {"annotations": {name: "false"}}).default


@pytest.mark.parametrize(("value", "told"), [("true", True), ("false", False), ("yes", None)])
def test_supported_volume_operations_are_read_from_annotations(
    value: str, told: bool | None
) -> None:
    notes = {ALLOW_CLONE: value, ALLOW_SNAPSHOT: value}
    found = projected(STORAGE_CLASSES, {"annotations": notes})
    assert (found.clones, found.snapshots) == (told, told)
    assert projected(STORAGE_CLASSES).clones is None
