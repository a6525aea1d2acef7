"""Field ownership: the entries of `metadata.managedFields`."""

from dataclasses import dataclass, replace
from typing import Any, Literal

from devcluster.errors import bad_request
from devcluster.fieldset import Fields, changed, flatten, from_fields_v1, to_fields_v1
from devcluster.merge_rules import Shape
from devcluster.objects import Obj, meta, timestamp

Operation = Literal["Apply", "Update"]


@dataclass(frozen=True, slots=True)
class Manager:
    """Field manager and operation. `subresource` is empty for writes to the object itself."""

    name: str
    operation: Operation
    api_version: str
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """The fields that one manager owns, and the time of its last change."""

    manager: Manager
    fields: Fields
    time: str

    def as_json(self) -> Obj:
        found: Obj = {
            "manager": self.manager.name,
            "operation": self.manager.operation,
            "apiVersion": self.manager.api_version,
            "time": self.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": to_fields_v1(self.fields),
        }
        if self.manager.subresource:
            found["subresource"] = self.manager.subresource
        return found


def read_entries(obj: Obj) -> list[Entry]:
    """Return the managedFields entries of an object. Raise a 400 error if they are malformed."""
    try:
        return [_entry(found) for found in meta(obj).get("managedFields") or ()]
    except (KeyError, TypeError, AttributeError) as error:
        raise bad_request("metadata.managedFields cannot be read") from error


def _entry(found: Any) -> Entry:
    manager = Manager(
        found.get("manager", ""),
        found["operation"],
        found["apiVersion"],
        found.get("subresource", ""),
    )
    return Entry(manager, from_fields_v1(found.get("fieldsV1") or {}), found.get("time", ""))


def write_entries(obj: Obj, entries: list[Entry]) -> None:
    """Set the managedFields of the object. Entries without fields are omitted."""
    kept = [entry.as_json() for entry in entries if entry.fields]
    if kept:
        meta(obj)["managedFields"] = kept
    else:
        meta(obj).pop("managedFields", None)


def track_update(
    old: Obj | None, new: Obj, manager: Manager, shape: Shape, ignored: str = ""
) -> None:
    """Record in `new` that `manager` owns the fields it changed, and drop the owners of removed
    fields.

    Paths that start with `ignored` are skipped. As in Kubernetes, an empty managedFields list in
    `new` resets the tracking.
    """
    held = read_entries(old) if old else []
    if old and meta(new).get("managedFields") == []:
        held = []
    elif meta(new).get("managedFields"):
        held = read_entries(new)
    before = flatten(old, shape) if old else {}
    written, gone = changed(before, flatten(new, shape))
    written = frozenset(path for path in written if path[0] != ignored)
    if old is not None and not written and not gone:
        write_entries(new, held)
        return
    write_entries(new, _after_update(held, manager, written, gone))


def _after_update(
    held: list[Entry], manager: Manager, written: Fields, gone: Fields
) -> list[Entry]:
    entries: list[Entry] = []
    own = frozenset(written)
    for entry in held:
        if entry.manager == manager:
            own |= entry.fields - gone
        else:
            entries.append(replace(entry, fields=entry.fields - written - gone))
    if written:
        entries.append(Entry(manager, own, timestamp()))
    elif own:
        times = [entry.time for entry in held if entry.manager == manager]
        entries.append(Entry(manager, own, times[0] if times else timestamp()))
    return entries
