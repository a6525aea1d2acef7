"""The status of volume snapshots."""

from datetime import UTC, datetime
from typing import Any

import pytest

from console.kube.gvr import (
    VOLUME_SNAPSHOT_CLASSES,
    VOLUME_SNAPSHOT_CONTENTS,
    VOLUME_SNAPSHOTS,
)
from tests.kube.projecting import DELETED, projected, said

STATES: list[tuple[dict[str, Any] | None, tuple[str, str, str]]] = [
    (None, ("progress", "Creating", "")),
    ({"readyToUse": False}, ("progress", "Creating", "")),
    ({"readyToUse": True}, ("ok", "Ready", "")),
    (
        {"readyToUse": False, "error": {"message": "no space", "time": None}},
        ("error", "Failed", "no space"),
    ),
    ({"error": {"message": None}}, ("error", "Failed", "")),
    # An error of an earlier attempt; a later attempt succeeded.
    ({"readyToUse": True, "error": {"message": "timeout"}}, ("ok", "Ready", "")),
]


@pytest.mark.parametrize(("status", "expected"), STATES)
@pytest.mark.parametrize("gvr", [VOLUME_SNAPSHOTS, VOLUME_SNAPSHOT_CONTENTS])
def test_snapshot_status(
    gvr: Any, status: dict[str, Any] | None, expected: tuple[str, str, str]
) -> None:
    assert said(projected(gvr, status=status)) == expected
    assert said(projected(gvr, DELETED, status=status))[1] == "Terminating"


def test_printer_columns_of_the_definition_are_kept() -> None:
    found = projected(
        VOLUME_SNAPSHOTS,
        spec={"source": {"persistentVolumeClaimName": "data"}, "volumeSnapshotClassName": "fast"},
        status={
            "boundVolumeSnapshotContentName": "content-1",
            "creationTime": "2026-03-01T10:00:00Z",
            "readyToUse": True,
            "restoreSize": "5Gi",
        },
    )
    assert (found.source, found.content, found.snapshot_class) == ("data", "content-1", "fast")
    assert (found.size, found.taken) == ("5Gi", datetime(2026, 3, 1, 10, tzinfo=UTC))
    before = {"source": {"volumeSnapshotContentName": "imported"}}
    imported = projected(VOLUME_SNAPSHOTS, spec=before, status={"restoreSize": 1024})
    assert (imported.source, imported.size, imported.taken) == ("imported", "1024", None)


def test_snapshot_of_a_content_is_named() -> None:
    spec = {
        "deletionPolicy": "Delete",
        "driver": "csi.example",
        "volumeSnapshotClassName": "fast",
        "volumeSnapshotRef": {"namespace": "shop", "name": "before-upgrade"},
    }
    found = projected(VOLUME_SNAPSHOT_CONTENTS, spec=spec, status={"restoreSize": 5368709120})
    assert (found.snapshot, found.size) == ("shop/before-upgrade", 5368709120)
    assert (found.driver, found.deletion_policy) == ("csi.example", "Delete")
    assert projected(VOLUME_SNAPSHOT_CONTENTS, spec={"volumeSnapshotRef": None}).snapshot == ""


def test_default_snapshot_class_is_recognized() -> None:
    name = "snapshot.storage.kubernetes.io/is-default-class"
    found = projected(
        VOLUME_SNAPSHOT_CLASSES,
        {"annotations": {name: "true"}},
        driver="csi.example",
        deletionPolicy="Retain",
    )
    assert (found.default, found.driver, found.deletion_policy) == (True, "csi.example", "Retain")
