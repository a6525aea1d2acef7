"""Validation of persistent volume claims and storage classes.

https://kubernetes.io/docs/concepts/storage/persistent-volumes/#expanding-persistent-volumes-claims
"""

import json
from collections.abc import Iterator
from typing import Any

from devcluster.errors import Cause, forbidden, forbidden_value, invalid_value, required
from devcluster.objects import Obj, clone, dig
from devcluster.quantities import parse_quantity
from devcluster.resources import ResourceType
from devcluster.store import Store

CLAIMS, CLASSES = "persistentvolumeclaims", "storageclasses.storage.k8s.io"
SNAPSHOT_GROUP = "snapshot.storage.k8s.io"
SNAPSHOTS = f"volumesnapshots.{SNAPSHOT_GROUP}"
#: CSI driver that provisions the simulated volumes.
DRIVER = "simulated.csi.local"
_FIXED = ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode")


def validate_class(new: Obj, old: Obj | None) -> Iterator[Cause]:
    if not new.get("provisioner"):
        yield required("provisioner")
    for name in _FIXED if old is not None else ():
        value = new.get(name)
        if value != (old or {}).get(name):
            shown = json.dumps(value, separators=(",", ":"), sort_keys=True)
            why = f"Invalid value: {shown}: field is immutable"
            yield Cause(name, "FieldValueInvalid", why)


def validate_claim(new: Obj, old: Obj | None) -> Iterator[Cause]:
    size = _size(new)
    if not dig(new, "spec.accessModes"):
        why = "Required value: at least 1 access mode is required"
        yield required("spec.accessModes", why)
    if size is None:
        yield required("spec.resources[storage]")
    elif parse_quantity(size) <= 0:
        yield invalid_value("spec.resources[storage]", size, "must be greater than zero")
    if old is None:
        return
    if _fixed_spec(new, old) != old.get("spec"):
        # kube-apiserver's message also contains a diff.
        yield forbidden_value(
            "spec",
            "spec is immutable after creation except resources.requests and "
            "volumeAttributesClassName for bound claims",
        )
    is_smaller = parse_quantity(size or 0) < parse_quantity(_size(old) or 0)
    held = (dig(new, "status.capacity") or {}).get("storage", 0)
    if is_smaller and parse_quantity(size or 0) <= parse_quantity(held):
        path = "spec.resources.requests.storage"
        yield forbidden_value(path, "field can not be less than status.capacity")


def check_expansion(store: Store, declared: ResourceType, new: Obj, old: Obj) -> None:
    """Raise a 403 error if the claim is expanded but its storage class does not allow expansion."""
    grows = declared.storage == CLAIMS and (
        parse_quantity(_size(new) or 0) > parse_quantity(_size(old) or 0)
    )
    if not grows:
        return
    name = dig(new, "spec.storageClassName")
    found = store.find(CLASSES, name) if name else None
    if found is None or found.load().get("allowVolumeExpansion") is not True:
        why = (
            "only dynamically provisioned pvc can be resized and the storageclass that provisions "
            "the pvc must support resize"
        )
        raise forbidden("", CLAIMS, new["metadata"]["name"], why)


def _size(claim: Obj) -> Any:
    return (dig(claim, "spec.resources.requests") or {}).get("storage")


def _fixed_spec(new: Obj, old: Obj) -> Obj:
    """Return the new spec with the old values of all fields that may change."""
    spec: Obj = clone(new.get("spec") or {})
    before = old.get("spec") or {}
    free = {name for name in ("volumeName", "storageClassName") if name not in before}
    if dig(new, "status.phase") == "Bound":
        free.add("volumeAttributesClassName")
        if (spec.get("resources") or {}).get("requests"):
            spec["resources"]["requests"]["storage"] = _size(old)
    for name in free:
        spec.pop(name, None)
        if name in before:
            spec[name] = before[name]
    return spec
