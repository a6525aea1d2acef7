"""Sets of field paths and `FieldsV1`, their format in managedFields.

A path is a tuple of FieldsV1 elements: `f:name` is a field, `k:{"name":"x"}` a list item
identified by its keys, `v:"x"` a member of a set. `flatten` maps the paths of an object to their
values. A value with a single owner (a scalar, an atomic list or map) is one path.

Format: https://kubernetes.io/docs/reference/using-api/server-side-apply/.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from devcluster.merge_rules import KEY_DEFAULTS, Shape
from devcluster.objects import Obj

Path = tuple[str, ...]
Fields = frozenset[Path]

# Fields without an owner.
_UNOWNED = frozenset(
    {
        ("f:apiVersion",),
        ("f:kind",),
        *(
            ("f:metadata", f"f:{name}")
            for name in (
                "name",
                "namespace",
                "uid",
                "creationTimestamp",
                "deletionTimestamp",
                "deletionGracePeriodSeconds",
                "generation",
                "resourceVersion",
                "selfLink",
                "managedFields",
            )
        ),
    }
)
_ITEM = object()


def flatten(obj: Obj, shape: Shape) -> dict[Path, Any]:
    """Return every owned path of the object with its value. List items have their own path."""
    found: dict[Path, Any] = {}
    _flatten(obj, shape, (), found)
    return {path: value for path, value in found.items() if path[:2] not in _UNOWNED and path}


def _flatten(value: Any, shape: Shape, path: Path, found: dict[Path, Any]) -> None:
    if isinstance(value, dict) and value and not shape.is_atomic:
        if len(path) <= 2 and path in _UNOWNED:
            return
        for name, child in value.items():
            _flatten(child, shape.child(name), (*path, f"f:{name}"), found)
    elif isinstance(value, list) and mergeable(value, shape):
        for item in value:
            here = (*path, element(item, shape))
            found[here] = _ITEM
            if isinstance(item, dict):
                for name, child in item.items():
                    _flatten(child, shape.item.child(name), (*here, f"f:{name}"), found)
    else:
        found[path] = value


def mergeable(value: list[Any], shape: Shape) -> bool:
    """Return True if the items of the list can be identified by their keys or as set members."""
    if shape.is_set:
        return bool(value)
    keys = shape.list_keys
    return bool(value and keys) and all(
        isinstance(item, dict) and all(k in item or k in KEY_DEFAULTS for k in keys)
        for item in value
    )


def element(item: Any, shape: Shape) -> str:
    """Return the path element of a list item."""
    if shape.is_set:
        return "v:" + json.dumps(item, separators=(",", ":"))
    keys = {key: item.get(key, KEY_DEFAULTS.get(key)) for key in sorted(shape.list_keys)}
    return "k:" + json.dumps(keys, separators=(",", ":"))


def changed(old: Mapping[Path, Any], new: Mapping[Path, Any]) -> tuple[Fields, Fields]:
    """Return the added or changed paths, and the removed paths."""
    missing = object()
    written = frozenset(p for p, value in new.items() if old.get(p, missing) != value)
    return written, frozenset(p for p in old if p not in new)


def to_fields_v1(fields: Iterable[Path]) -> Obj:
    tree: Obj = {}
    paths = set(fields)
    for path in sorted(paths):
        node = tree
        for part in path:
            node = node.setdefault(part, {})
    for path in paths:
        node = tree
        for part in path:
            node = node[part]
        if node or path[-1].startswith("k:"):
            node["."] = {}
    return tree


def from_fields_v1(tree: Mapping[str, Any]) -> Fields:
    found: set[Path] = set()

    def walk(node: Mapping[str, Any], path: Path) -> None:
        if path and (not node or "." in node):
            found.add(path)
        for part, child in node.items():
            if part != ".":
                walk(child or {}, (*path, part))

    walk(tree, ())
    return frozenset(found)
