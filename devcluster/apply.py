"""Server-side apply: a field manager sends the fields it wants to set and owns exactly those
fields.

The rules are described in https://kubernetes.io/docs/reference/using-api/server-side-apply/. A
field that another manager owns with a different value is a conflict, unless `force` transfers
the ownership. A field that the manager owned and no longer sends is removed if it has no other
owner.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from console.kube.managedfields import path_text
from devcluster.errors import Cause, apply_conflict
from devcluster.fieldset import (
    Fields,
    Path,
    changed,
    element,
    flatten,
    mergeable,
)
from devcluster.managed_fields import Entry, Manager, read_entries, write_entries
from devcluster.merge_rules import Shape
from devcluster.objects import Obj, clone, meta, timestamp


def apply_patch(live: Obj, wanted: Obj, manager: Manager, shape: Shape, *, force: bool) -> Obj:
    """Return `live` with `wanted` applied and with updated managedFields.

    Raise a 409 error that lists the conflicting managers, unless `force` is set. If the object
    does not exist yet, `live` contains only its name.
    """
    held = read_entries(live)
    mine = next((entry for entry in held if entry.manager == manager), None)
    others = [entry for entry in held if entry.manager != manager]
    owned = frozenset(flatten(wanted, shape))
    merged: Obj = merge(live, wanted, shape)
    _drop_abandoned(merged, (mine.fields if mine else frozenset()) - owned, others, shape)
    written, gone = changed(flatten(live, shape), flatten(merged, shape))
    touched = written | gone
    conflicts = [(e, path) for e in others for path in sorted(e.fields & touched)]
    if conflicts and not force:
        raise _refusal(conflicts)
    entries = [replace(entry, fields=entry.fields - touched) for entry in others]
    time = mine.time if mine and mine.fields == owned and not touched else timestamp()
    entries.insert(0, Entry(manager, owned, time))
    write_entries(merged, entries)
    return merged


def _refusal(conflicts: list[tuple[Entry, Path]]) -> Exception:
    causes = [
        Cause(path_text(path), "FieldManagerConflict", f"conflict with {_who(entry)}")
        for entry, path in conflicts
    ]
    if len(causes) == 1:
        text = f"1 conflict: {causes[0].message}: {causes[0].field}"
    else:
        blocks = []
        for message in sorted({cause.message for cause in causes}):
            fields = sorted(cause.field for cause in causes if cause.message == message)
            listed = "\n".join(f"- {field}" for field in fields)
            blocks.append(f"{message.replace('conflict', 'conflicts', 1)}:\n{listed}")
        text = f"{len(causes)} conflicts: " + "\n".join(blocks)
    return apply_conflict(f"Apply failed with {text}", causes)


def _who(entry: Entry) -> str:
    manager = entry.manager
    text = f'"{manager.name}"'
    if manager.subresource:
        text += f' with subresource "{manager.subresource}"'
    if manager.operation == "Update":
        text += f" using {manager.api_version}"
        text += f" at {entry.time}" if entry.time else ""
    return text


def merge(live: Any, wanted: Any, shape: Shape) -> Any:
    """Return `wanted` merged into `live`. Maps are merged by field, lists with merge keys by item."""
    if isinstance(live, dict) and isinstance(wanted, dict) and not shape.is_atomic:
        merged = dict(live)
        for name, value in wanted.items():
            merged[name] = merge(live.get(name), value, shape.child(name))
        return merged
    if isinstance(live, list) and isinstance(wanted, list):
        if mergeable(live, shape) and mergeable(wanted, shape):
            return _merge_items(live, wanted, shape)
        return wanted
    return clone(wanted) if isinstance(wanted, dict) else wanted


def _merge_items(live: list[Any], wanted: list[Any], shape: Shape) -> list[Any]:
    """Merge list items by key. Existing items keep their position; new items are appended."""
    held = {element(item, shape): item for item in live}
    for item in wanted:
        name = element(item, shape)
        held[name] = merge(held[name], item, shape.item) if name in held else item
    return list(held.values())


def _drop_abandoned(obj: Obj, abandoned: Fields, others: list[Entry], shape: Shape) -> None:
    """Remove the fields that the manager no longer sends and that have no other owner."""
    elsewhere: set[Path] = set()
    for entry in others:
        for path in entry.fields:
            elsewhere.update(path[:length] for length in range(1, len(path) + 1))
    # Items first: without its key field an item cannot be found anymore.
    gone = sorted(abandoned - elsewhere, key=lambda path: (path[-1][0] == "f", -len(path)))
    for path in gone:
        _remove(obj, path, shape)


def _remove(node: Any, path: Path, shape: Shape) -> None:
    """Remove the value at the path, and the maps and lists that become empty."""
    part, rest = path[0], path[1:]
    if part.startswith("f:"):
        name = part[2:]
        if not isinstance(node, dict) or name not in node:
            return
        if rest:
            _remove(node[name], rest, shape.child(name))
        if not rest or node[name] in ({}, []):
            del node[name]
        return
    if not isinstance(node, list):
        return
    for index, item in enumerate(node):
        if element(item, shape) == part:
            if rest:
                _remove(item, rest, shape.item)
            else:
                del node[index]
            return


def without_server_fields(wanted: Mapping[str, Any]) -> Obj:
    """Return the applied object without the metadata fields that only the server sets."""
    found = dict(wanted)
    found["metadata"] = {
        name: value
        for name, value in meta(dict(wanted)).items()
        if name not in ("managedFields", "uid", "resourceVersion", "creationTimestamp")
        and name not in ("generation", "selfLink")
    }
    return found
