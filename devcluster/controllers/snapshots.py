"""Snapshot controller for simulated volumes. Snapshots are taken immediately.

It has the role of a CSI driver and the snapshot controller:
https://kubernetes.io/docs/concepts/storage/volume-snapshots/
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from devcluster.controllers.base import Controller, reference_to
from devcluster.objects import Obj, dig, meta, timestamp
from devcluster.quantities import parse_quantity
from devcluster.store import Change, Record, key_of
from devcluster.volume_validation import CLAIMS, DRIVER, SNAPSHOT_GROUP, SNAPSHOTS

_CLASSES = f"volumesnapshotclasses.{SNAPSHOT_GROUP}"
_CONTENTS = f"volumesnapshotcontents.{SNAPSHOT_GROUP}"
_DEFAULT = "snapshot.storage.kubernetes.io/is-default-class"


class SnapshotController(Controller):
    """Take pending snapshots. Ready and failed snapshots, and other drivers' snapshots, are not
    changed.
    """

    name, collection = "snapshot", SNAPSHOTS

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        if collection == CLAIMS:
            waiting = self.store.collection(self.collection).records_in(change.new.namespace)
            return [one.key for one in waiting if _source_of(one.load()) == change.new.name]
        return super().keys_of(collection, change)

    def reconcile(self, key: str) -> float | None:
        record = self.find(key)
        if record is None:
            self._forget(key)
        elif not record.deleting and "readyToUse" not in (record.load().get("status") or {}):
            self._take(record)
        return None

    def _take(self, record: Record) -> None:
        snapshot = record.load()
        chosen = self._class(dig(snapshot, "spec.volumeSnapshotClassName") or "")
        claim = self.find(key_of(record.namespace, _source_of(snapshot)), CLAIMS)
        volume = self._volume(claim)
        if chosen is None or claim is None or volume is None:
            return
        size = str(dig(volume, "spec.capacity.storage"))
        now = datetime.now(UTC)
        content = f"snapcontent-{record.uid}"
        if self.find(content, _CONTENTS) is None and self._has_contents:
            self.create(_CONTENTS, "", _content(content, record, chosen, volume))
            made = self.find(content, _CONTENTS)
            status: Obj = {
                "snapshotHandle": content,
                "readyToUse": True,
                "restoreSize": int(parse_quantity(size)),
                "creationTime": int(now.timestamp() * 1e9),
            }
            if made is not None:
                self.set_status(_CONTENTS, made, status)
        taken = {"readyToUse": True, "restoreSize": size, "creationTime": timestamp(now)}
        self.set_status(
            self.collection, record, {**taken, "boundVolumeSnapshotContentName": content}
        )

    def _forget(self, key: str) -> None:
        """Delete the content of a deleted snapshot if its deletion policy is Delete."""
        for content in self.store.collection(_CONTENTS).records_in():
            spec = content.load().get("spec") or {}
            of = spec.get("volumeSnapshotRef") or {}
            is_its = key_of(of.get("namespace", ""), of.get("name", "")) == key
            if is_its and spec.get("deletionPolicy") == "Delete":
                self.delete(_CONTENTS, content)

    def _class(self, name: str) -> Obj | None:
        """Return the snapshot class by name, or the driver's default class if the name is empty."""
        for record in self.store.collection(_CLASSES).records_in():
            found = record.load()
            is_default = (meta(found).get("annotations") or {}).get(_DEFAULT) == "true"
            if found.get("driver") == DRIVER and (record.name == name if name else is_default):
                return found
        return None

    def _volume(self, claim: Record | None) -> Obj | None:
        """Return the volume of a claim if it is a simulated volume."""
        name = dig(claim.load(), "spec.volumeName") if claim is not None else None
        found = self.find(name, "persistentvolumes") if name else None
        volume = found.load() if found is not None else {}
        return volume if dig(volume, "spec.csi.driver") == DRIVER else None

    @property
    def _has_contents(self) -> bool:
        return self.objects.registry.find(SNAPSHOT_GROUP, "volumesnapshotcontents") is not None


def _source_of(snapshot: Obj) -> str:
    return str(dig(snapshot, "spec.source.persistentVolumeClaimName") or "")


def _content(name: str, snapshot: Record, chosen: Obj, volume: Obj) -> Obj:
    spec = {
        "deletionPolicy": chosen.get("deletionPolicy", "Delete"),
        "driver": DRIVER,
        "source": {"volumeHandle": dig(volume, "spec.csi.volumeHandle")},
        "volumeSnapshotClassName": meta(chosen)["name"],
        "volumeSnapshotRef": reference_to(snapshot, f"{SNAPSHOT_GROUP}/v1", "VolumeSnapshot"),
    }
    return {"metadata": {"name": name}, "spec": spec}
