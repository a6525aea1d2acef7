"""Helpers of the workload controllers: create pods from templates, and count pods."""

import hashlib
from collections.abc import Iterable, Mapping

import msgspec

from devcluster.objects import SUFFIX_LETTERS, Obj, clone, holds, meta, suffix
from devcluster.store import Record


def template_hash(template: Obj) -> str:
    """Return a short hash of the pod template."""
    data = msgspec.json.encode(template, order="deterministic")
    number = int.from_bytes(hashlib.sha256(data).digest()[:8], "big")
    text = ""
    for _ in range(9):
        number, place = divmod(number, len(SUFFIX_LETTERS))
        text += SUFFIX_LETTERS[place]
    return text


def owner_reference(api_version: str, kind: str, owner: Obj) -> Obj:
    about = meta(owner)
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": about["name"],
        "uid": about["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def new_pod(
    api_version: str, kind: str, owner: Obj, *, name: str = "", labels: Mapping[str, str] = {}
) -> Obj:
    """Return a pod created from the owner's template. Without `name`, a name is generated."""
    template, own_name = owner["spec"]["template"], meta(owner)["name"]
    about = meta(template)
    found: Obj = {
        "labels": {**(about.get("labels") or {}), **labels},
        "ownerReferences": [owner_reference(api_version, kind, owner)],
        "name": name or f"{own_name[:57]}-{suffix()}",
    }
    if not name:
        found["generateName"] = f"{own_name}-"
    if about.get("annotations"):
        found["annotations"] = dict(about["annotations"])
    return {"metadata": found, "spec": clone(template.get("spec") or {})}


def phase(record: Record) -> str:
    return record.fields.get("status.phase", "")


def is_active(record: Record) -> bool:
    """Return True if the pod is neither terminated nor being deleted."""
    return not record.deleting and phase(record) not in ("Succeeded", "Failed")


def is_ready(pod: Obj) -> bool:
    return holds(pod, "Ready")


def count_ready(records: Iterable[Record]) -> int:
    return sum(is_ready(record.load()) for record in records if phase(record) == "Running")


def conditions_with(held: list[Obj] | None, now: str, *wanted: Obj) -> list[Obj]:
    """Return the updated conditions. The transition time changes only if the status changes."""
    found = {one["type"]: one for one in held or ()}
    for one in wanted:
        old = found.get(one["type"])
        moved = old is None or old.get("status") != one["status"]
        last = now if moved or old is None else old.get("lastTransitionTime", now)
        found[one["type"]] = {**one, "lastTransitionTime": last}
        if old and {**old, **found[one["type"]]} == old:
            found[one["type"]] = old
    return list(found.values())
