"""What controllers of pods have in common: making a pod from a template, and counting pods."""

import hashlib
from collections.abc import Iterable

from devcluster.objects import Obj, clone, dig, encode, meta
from devcluster.store import Record


def template_hash(template: Obj) -> str:
    """A short text that differs where the templates differ."""
    letters = "bcdfghjklmnpqrstvwxz2456789"
    number = int.from_bytes(hashlib.sha256(encode(_sorted(template))).digest()[:8], "big")
    text = ""
    for _ in range(9):
        number, place = divmod(number, len(letters))
        text += letters[place]
    return text


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


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


def pod_from(template: Obj, owner: Obj, **metadata: object) -> Obj:
    """A pod as the template wants it; `owner` is an owner reference."""
    about = meta(template)
    labels = {**(about.get("labels") or {}), **dict_of(metadata.pop("labels", None))}
    found: Obj = {"labels": labels, "ownerReferences": [owner], **metadata}
    if about.get("annotations"):
        found["annotations"] = dict(about["annotations"])
    return {"metadata": found, "spec": clone(template.get("spec") or {})}


def dict_of(value: object) -> dict[str, str]:
    return dict(value) if isinstance(value, dict) else {}


def phase(record: Record) -> str:
    return record.fields.get("status.phase", "")


def is_active(record: Record) -> bool:
    """Neither ended nor about to end."""
    return not record.deleting and phase(record) not in ("Succeeded", "Failed")


def is_ready(pod: Obj) -> bool:
    return any(
        c.get("type") == "Ready" and c.get("status") == "True"
        for c in dig(pod, "status.conditions") or ()
    )


def count_ready(records: Iterable[Record]) -> int:
    return sum(is_ready(record.load()) for record in records if phase(record) == "Running")


def condition(obj: Obj, kind: str) -> Obj | None:
    return next((c for c in dig(obj, "status.conditions") or () if c.get("type") == kind), None)


def conditions_with(held: list[Obj] | None, now: str, *wanted: Obj) -> list[Obj]:
    """The conditions after the change; the time is kept where the status stays the same."""
    found = {one["type"]: one for one in held or ()}
    for one in wanted:
        old = found.get(one["type"])
        moved = old is None or old.get("status") != one["status"]
        last = now if moved or old is None else old.get("lastTransitionTime", now)
        found[one["type"]] = {**one, "lastTransitionTime": last}
        if old and {**old, **found[one["type"]]} == old:
            found[one["type"]] = old
    return list(found.values())
