"""Volume controller: binds claims to named volumes, and provisions and expands simulated volumes."""

from collections.abc import Iterable
from typing import Any

from devcluster.controllers.base import Controller, reference_to
from devcluster.objects import Obj, dig, meta
from devcluster.quantities import parse_quantity
from devcluster.store import Change, Record, key_of
from devcluster.volume_validation import CLAIMS, CLASSES, DRIVER, SNAPSHOTS

_VOLUMES = "persistentvolumes"


class VolumeController(Controller):
    """Bind, provision and expand volumes.

    A volume is provisioned only if the claim's class (or a default class) exists. A claim with a
    data source waits until the source is available.
    """

    name, collection = "volume", CLAIMS

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        if collection not in (self.collection, SNAPSHOTS) or change.kind == "DELETED":
            return ()
        near = self.store.collection(self.collection).records_in(change.new.namespace)
        copies = [
            one.key for one in near if _source_of(one.load()) == (collection, change.new.name)
        ]
        return (*copies, change.new.key) if collection == self.collection else copies

    def reconcile_record(self, record: Record) -> float | None:
        claim = record.load()
        if dig(claim, "status.phase") == "Bound":
            self._grow(record, claim)
        elif dig(claim, "spec.volumeName"):
            self._bind_named(record, claim)
        else:
            self._provision(record, claim)
        return None

    def _provision(self, record: Record, claim: Obj) -> None:
        name = dig(claim, "spec.storageClassName") or self._default_class()
        storage_class = self.find(name, CLASSES) if name else None
        # Volumes of other provisioners are not simulated.
        if storage_class is None or storage_class.load().get("provisioner") != DRIVER:
            return
        if not self._has_source(record, claim):
            return
        volume = f"pvc-{record.uid}"
        capacity = {"storage": _requested(claim)}
        modes = dig(claim, "spec.accessModes")
        spec: Obj = {
            "capacity": capacity,
            "accessModes": modes,
            "claimRef": reference_to(record, "v1", "PersistentVolumeClaim"),
            "persistentVolumeReclaimPolicy": storage_class.load().get("reclaimPolicy", "Delete"),
            "storageClassName": name,
            "csi": {"driver": DRIVER, "volumeHandle": volume},
        }
        if self.find(volume, _VOLUMES) is None:
            self.create(_VOLUMES, "", {"metadata": {"name": volume}, "spec": spec})
        held = self.find(volume, _VOLUMES)
        if held:
            self.set_status(_VOLUMES, held, {"phase": "Bound"})
        self._bind(record, {"volumeName": volume, "storageClassName": name}, modes, capacity)

    def _has_source(self, record: Record, claim: Obj) -> bool:
        """Return True if the claim has no data source or its data source is available."""
        collection, name = _source_of(claim)
        found = self.find(key_of(record.namespace, name), collection) if collection else None
        source = found.load() if found is not None else {}
        if collection == SNAPSHOTS:
            return dig(source, "status.readyToUse") is True
        return not collection or dig(source, "status.phase") == "Bound"

    def _bind_named(self, record: Record, claim: Obj) -> None:
        found = self.find(dig(claim, "spec.volumeName"), _VOLUMES)
        volume = found.load() if found is not None else {}
        if found is None or dig(volume, "spec.claimRef"):
            return

        def held(obj: Obj) -> Obj:
            obj["spec"]["claimRef"] = reference_to(record, "v1", "PersistentVolumeClaim")
            return {**obj, "status": {"phase": "Bound"}}

        self.update(_VOLUMES, found, held, "bind")
        self._bind(record, {}, dig(volume, "spec.accessModes"), dig(volume, "spec.capacity"))

    def _bind(self, record: Record, spec: Obj, modes: Any, capacity: Any) -> None:
        status = {"phase": "Bound", "accessModes": modes, "capacity": capacity}

        def bound(found: Obj) -> Obj:
            found["spec"] |= spec
            return {**found, "status": status}

        self.update(self.collection, record, bound, "bind")

    def _grow(self, record: Record, claim: Obj) -> None:
        held = self.find(dig(claim, "spec.volumeName") or "", _VOLUMES)
        volume = held.load() if held is not None else {}
        if held is None or dig(volume, "spec.csi.driver") != DRIVER:
            return
        size = _requested(claim)
        if parse_quantity(size) <= parse_quantity(dig(volume, "spec.capacity.storage") or 0):
            return

        def grown(found: Obj) -> Obj:
            found["spec"]["capacity"] = {"storage": size}
            return found

        self.update(_VOLUMES, held, grown)
        status = {**claim["status"], "capacity": {"storage": size}}
        self.set_status(self.collection, record, status)

    def _default_class(self) -> str:
        for record in self.store.collection(CLASSES).records_in():
            notes = meta(record.load()).get("annotations") or {}
            if notes.get("storageclass.kubernetes.io/is-default-class") == "true":
                return record.name
        return ""


def _source_of(claim: Obj) -> tuple[str, str]:
    """Return the collection and name of the claim's data source, or empty strings."""
    source = dig(claim, "spec.dataSource") or {}
    collections = {"PersistentVolumeClaim": CLAIMS, "VolumeSnapshot": SNAPSHOTS}
    return collections.get(source.get("kind", ""), ""), source.get("name", "")


def _requested(claim: Obj) -> str:
    return str(dig(claim, "spec.resources.requests.storage"))
