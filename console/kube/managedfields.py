"""Who manages which fields of an object, and what that tells of its lists: `metadata.managedFields`.

https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management

Fields are a tree, as in `FieldsV1`: `f:name` is a field, `k:{"name":"x"}` an item of a list by its keys,
`v:"x"` one of a set; what has nothing below it is owned as a whole. There is no need for a schema to
know which lists have keys: kube-apiserver has written it down for every field that somebody set.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Tree = Mapping[str, Any]
#: Parts as in `FieldsV1`.
Path = tuple[str, ...]

APPLY = "Apply"
#: Stands in a tree of what is chosen: the value as a whole, whoever owns parts of it.
WHOLE = "*"
NOTHING: Tree = {}


@dataclass(frozen=True, slots=True)
class Manager:
    """`subresource`: through which it wrote, "" for the object itself."""

    name: str
    operation: str
    subresource: str
    fields: Tree

    def owns(self, path: Path) -> bool:
        """Whether it owns the field, something in it, or what it is a part of."""
        node: Tree = self.fields
        for part in path:
            if _is_leaf(node) and node is not self.fields:
                return True
            if part not in node or part == ".":
                return False
            node = node[part]
        return True


def managers_of(manifest: Mapping[str, Any]) -> list[Manager]:
    """What cannot be read is left out."""
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


def applied_by(managers: Iterable[Manager], name: str) -> Tree:
    """What a manager has applied, and would remove by not naming it again."""
    wanted = (m for m in managers if m.name == name and m.operation == APPLY and not m.subresource)
    return next((manager.fields for manager in wanted), NOTHING)


def merged(trees: Iterable[Tree]) -> Tree:
    """One tree that has what any of them has."""
    found: dict[str, Any] = {}
    for tree in trees:
        for part, below in tree.items():
            found[part] = merged((found[part], below)) if part in found else below
    return found


def tree_of(paths: Iterable[Path]) -> Tree:
    """Of values as wholes."""
    return merged(_branch(path) for path in paths)


def _branch(path: Path) -> Tree:
    found: Tree = {WHOLE: {}}
    for part in reversed(path):
        found = {part: found}
    return found


def selected(value: Any, tree: Tree, shape: Tree) -> Any:
    """The part of a value that is in `tree`, items of lists with the keys that tell them apart. `shape`:
    of all managers."""
    below = _below(tree)
    if WHOLE in below:
        return value
    if isinstance(value, dict):
        if not below:
            # Owned as a whole, unless others own what is in it.
            return {} if _below(shape) else value
        return {
            name: selected(item, below[f"f:{name}"], under(shape, f"f:{name}"))
            for name, item in value.items()
            if f"f:{name}" in below
        }
    if isinstance(value, list) and below:
        elements = elements_of(value, shape)
        if elements is None:
            return value
        keys = _keys(shape)
        return [
            _selected_item(item, below[element], under(shape, element), keys)
            for element, item in zip(elements, value, strict=True)
            if element in below
        ]
    return value


def _selected_item(item: Any, tree: Tree, shape: Tree, keys: frozenset[str]) -> Any:
    if not isinstance(item, dict):
        return item
    named = {name: found for name, found in item.items() if name in keys}
    return {**named, **selected(item, tree, shape)} if _below(tree) else named


def elements_of(items: Sequence[Any], shape: Tree) -> list[str] | None:
    """What tells the items of a list apart; None for a list that is one value."""
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


def is_whole(shape: Tree | None) -> bool:
    """True for an object that is owned as one value, as a selector is."""
    return shape is not None and not _below(shape)


def under(tree: Tree, part: str) -> Tree:
    found = tree.get(part)
    return found if isinstance(found, Mapping) else NOTHING


def path_text(path: Path) -> str:
    """`.spec.containers[name="web"].image`, as kube-apiserver names a field."""
    return "".join(map(_part_text, path))


def _part_text(part: str) -> str:
    kind, _colon, rest = part.partition(":")
    if kind == "f":
        return f".{rest}"
    if kind == "v":
        return f"[={rest}]"
    return "[" + ",".join(f"{k}={_text(v)}" for k, v in json.loads(rest).items()) + "]"


def _keys(shape: Tree) -> frozenset[str]:
    """The names by which items are told apart."""
    parts = (part for part in _below(shape) if part.startswith("k:"))
    return frozenset(name for part in parts for name in json.loads(part[2:]))


def _is_leaf(tree: Tree) -> bool:
    """Whether there is nothing below it. Costs nothing, however much there is."""
    return len(tree) == (1 if "." in tree else 0)


def _below(tree: Tree) -> Tree:
    return {part: below for part, below in tree.items() if part != "."}


def _canonical(tree: Tree) -> Tree:
    """With keys of items written in one way, and without what cannot be read."""
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
