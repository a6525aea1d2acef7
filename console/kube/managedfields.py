"""Field ownership from `metadata.managedFields`.

https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management

Fields are a tree as in `FieldsV1`: `f:name` is a field, `k:{"name":"x"}` an item of a list
identified by its keys, `v:"x"` an item of a set. A leaf is owned as a whole. No schema is
necessary to know the keys of a list, because kube-apiserver records them for every field that
has a manager.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Tree = Mapping[str, Any]
#: Path elements as in `FieldsV1`.
Path = tuple[str, ...]

APPLY = "Apply"
#: Marks a value that is selected as a whole, even if several managers own parts of it.
WHOLE = "*"
NOTHING: Tree = {}


@dataclass(frozen=True, slots=True)
class Manager:
    """A field manager. `subresource` is the subresource it wrote to, or "" for the object itself."""

    name: str
    operation: str
    subresource: str
    fields: Tree

    def owns(self, path: Path) -> bool:
        """Return True if the manager owns the field, a part of it, or a parent of it."""
        node: Tree = self.fields
        for part in path:
            if _is_leaf(node) and node is not self.fields:
                return True
            if part not in node or part == ".":
                return False
            node = node[part]
        return True


def managers_of(manifest: Mapping[str, Any]) -> list[Manager]:
    """Return the field managers of an object. Malformed entries are skipped."""
    metadata = manifest.get("metadata")
    entries = metadata.get("managedFields") if isinstance(metadata, Mapping) else None
    found = []
    for entry in entries if isinstance(entries, list) else ():
        fields = entry.get("fieldsV1") if isinstance(entry, Mapping) else None
        if isinstance(fields, Mapping):
            name, operation, subresource = (
                str(entry.get(key) or "") for key in ("manager", "operation", "subresource")
            )
            found.append(Manager(name, operation, subresource, _canonical(fields)))
    return found


def applied_fields(managers: Iterable[Manager], name: str) -> Tree:
    """Return the fields that a manager has applied and would remove by omitting them from the next
    apply.
    """
    wanted = (m for m in managers if m.name == name and m.operation == APPLY and not m.subresource)
    return next((manager.fields for manager in wanted), NOTHING)


def merge_trees(trees: Iterable[Tree]) -> Tree:
    """Return the union of the trees."""
    found: dict[str, Any] = {}
    for tree in trees:
        for part, below in tree.items():
            found[part] = merge_trees((found[part], below)) if part in found else below
    return found


def tree_of_paths(paths: Iterable[Path]) -> Tree:
    """Return the tree that selects the values at `paths` as wholes."""
    return merge_trees(_branch(path) for path in paths)


def _branch(path: Path) -> Tree:
    found: Tree = {WHOLE: {}}
    for part in reversed(path):
        found = {part: found}
    return found


def select_fields(value: Any, tree: Tree, shape: Tree) -> Any:
    """Return the part of `value` that is selected by `tree`. List items include their keys.

    `shape` is the merged tree of all managers.
    """
    below = _below(tree)
    if WHOLE in below:
        return value
    if isinstance(value, dict):
        if not below:
            # Owned as a whole, unless other managers own parts of it.
            return {} if _below(shape) else value
        return {
            name: select_fields(item, below[f"f:{name}"], subtree(shape, f"f:{name}"))
            for name, item in value.items()
            if f"f:{name}" in below
        }
    if isinstance(value, list) and below:
        elements = list_elements(value, shape)
        if elements is None:
            return value
        keys = _keys(shape)
        return [
            _selected_item(item, below[element], subtree(shape, element), keys)
            for element, item in zip(elements, value, strict=True)
            if element in below
        ]
    return value


def _selected_item(item: Any, tree: Tree, shape: Tree, keys: frozenset[str]) -> Any:
    if not isinstance(item, dict):
        return item
    named = {name: found for name, found in item.items() if name in keys}
    return {**named, **select_fields(item, tree, shape)} if _below(tree) else named


def list_elements(items: Sequence[Any], shape: Tree) -> list[str] | None:
    """Return the path element of each list item, or None for an atomic list."""
    parts = _below(shape)
    if any(part.startswith("v:") for part in parts):
        found = [f"v:{_text(item)}" for item in items if not isinstance(item, dict | list)]
    else:
        keys = _keys(shape)
        found = [
            f"k:{_text({name: item[name] for name in keys if name in item})}"
            for item in items
            if isinstance(item, dict) and not keys.isdisjoint(item)
        ]
    return found if len(set(found)) == len(items) and (parts or not items) else None


def is_atomic(shape: Tree | None) -> bool:
    """Return True for an object that is owned as one value, such as a selector."""
    return shape is not None and not _below(shape)


def subtree(tree: Tree, part: str) -> Tree:
    found = tree.get(part)
    return found if isinstance(found, Mapping) else NOTHING


def path_text(path: Path) -> str:
    """Format a path like kube-apiserver: `.spec.containers[name="web"].image`."""
    return "".join(map(_part_text, path))


def _part_text(part: str) -> str:
    kind, _colon, rest = part.partition(":")
    if kind == "f":
        return f".{rest}"
    if kind == "v":
        return f"[={rest}]"
    return "[" + ",".join(f"{k}={_text(v)}" for k, v in json.loads(rest).items()) + "]"


def _keys(shape: Tree) -> frozenset[str]:
    """Return the names of the key fields of the list's items."""
    parts = (part for part in _below(shape) if part.startswith("k:"))
    return frozenset(name for part in parts for name in json.loads(part[2:]))


def _is_leaf(tree: Tree) -> bool:
    """Return True if the tree has no children, in constant time."""
    return len(tree) == (1 if "." in tree else 0)


def _below(tree: Tree) -> Tree:
    return {part: below for part, below in tree.items() if part != "."}


def _canonical(tree: Tree) -> Tree:
    """Normalize the keys of list items and drop malformed elements."""
    found: dict[str, Any] = {}
    for part, below in tree.items():
        name = part
        if part[:2] in ("k:", "v:"):
            try:
                value = json.loads(part[2:])
            except ValueError:
                continue
            if part[0] == "k" and not isinstance(value, dict):
                continue
            name = part[:2] + _text(value)
        found[name] = _canonical(below) if isinstance(below, Mapping) else {}
    return found


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
