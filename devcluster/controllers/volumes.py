"""Claims get a volume of their class at once."""

from collections.abc import Iterable

from devcluster.controllers.base import Base
from devcluster.objects import Obj, dig, meta
from devcluster.store import Change

_VOLUMES = "persistentvolumes"


class VolumeController(Base):
    """Only for claims whose class exists or is not named while there is a default class."""

    name, collection = "volume", "persistentvolumeclaims"

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        if collection == self.collection and change.kind == "ADDED":
            return (change.new.key,)
        return ()

    def reconcile(self, key: str) -> float | None:
        record = self.find(key)
        if record is None or record.deleting:
            return None
        claim = record.load()
        name = dig(claim, "spec.storageClassName") or self._default_class()
        storage_class = self.find(name, "storageclasses.storage.k8s.io") if name else None
        if dig(claim, "spec.volumeName") or storage_class is None:
            return None
        size = dig(claim, "spec.resources.requests.storage") or "1Gi"
        modes = dig(claim, "spec.accessModes") or ["ReadWriteOnce"]
        volume = f"pvc-{record.uid}"
        capacity = {"storage": size}
        reference = {
            "kind": "PersistentVolumeClaim",
            "apiVersion": "v1",
            "namespace": record.namespace,
            "name": record.name,
            "uid": record.uid,
        }
        spec: Obj = {
            "capacity": capacity,
            "accessModes": modes,
            "claimRef": reference,
            "persistentVolumeReclaimPolicy": storage_class.load().get("reclaimPolicy", "Delete"),
            "storageClassName": name,
            "csi": {"driver": "simulated.csi.local", "volumeHandle": volume},
        }
        if self.find(volume, _VOLUMES) is None:
            self.create(_VOLUMES, "", {"metadata": {"name": volume}, "spec": spec})
        held = self.find(volume, _VOLUMES)
        if held:
            self.set_status(_VOLUMES, held, {"phase": "Bound"})

        def bound(found: Obj) -> Obj:
            found["spec"] |= {"volumeName": volume, "storageClassName": name}
            found["status"] = {"phase": "Bound", "accessModes": modes, "capacity": capacity}
            return found

        self.update(self.collection, record, bound, "bind")
        return None

    def _default_class(self) -> str:
        for record in self.store.collection("storageclasses.storage.k8s.io").records_in():
            notes = meta(record.load()).get("annotations") or {}
            if notes.get("storageclass.kubernetes.io/is-default-class") == "true":
                return record.name
        return ""
