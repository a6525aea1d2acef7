"""Diff and three-way merge of object states.

`shape` is the merged field tree of all managers (`console.kube.managedfields`). It determines
which lists have items with keys. All other lists are atomic.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from console.kube.managedfields import Path, Tree, is_atomic, list_elements, subtree


class _Absent(Enum):
    ABSENT = "absent"


#: Represents a missing value.
ABSENT: Final = _Absent.ABSENT


@dataclass(frozen=True, slots=True)
class Change:
    """A value that was changed, added or removed (`ABSENT`)."""

    path: Path
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """A value that both sides changed differently. Each side may be `ABSENT`."""

    path: Path
    base: Any
    mine: Any
    theirs: Any


def json_equal(one: Any, other: Any) -> bool:
    """Return True if two values are equal in JSON. In Python, True equals 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(json_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(json_equal, one, other))
    return bool(one == other)


def diff(old: Any, new: Any, shape: Tree | None, path: Path = ()) -> Iterator[Change]:
    """Yield the changes from `old` to `new`. `shape` is None if unknown."""
    if json_equal(old, new):
        return
    parts = _parts((old, new), shape)
    if parts is None:
        yield Change(path, old, new)
        return
    before, after = parts
    for part in dict.fromkeys((*before, *after)):
        below = subtree(shape, part) if shape is not None and part in shape else None
        yield from diff(before.get(part, ABSENT), after.get(part, ABSENT), below, (*path, part))
    if list(before) != list(after) and before.keys() == after.keys() and isinstance(old, list):
        # The same items in a different order.
        yield Change(path, old, new)


#: Resolves a conflict.
Choose = Callable[[MergeConflict], Any]


def merge(
    base: Any, mine: Any, theirs: Any, shape: Tree | None, choose: Choose, path: Path = ()
) -> Any:
    """Merge the changes of `mine` and `theirs` relative to `base`. `choose` resolves conflicts."""
    if json_equal(mine, theirs) or json_equal(base, theirs):
        return mine
    if json_equal(base, mine):
        return theirs
    # Both sides may have added the object or list.
    added = base is ABSENT and isinstance(mine, dict | list)
    parts = _parts((type(mine)() if added else base, mine, theirs), shape)
    if parts is None:
        return choose(MergeConflict(path, base, mine, theirs))
    of_base, of_mine, of_theirs = parts
    found: dict[str, Any] = {}
    for part in _order(of_base, of_mine, of_theirs):
        below = subtree(shape, part) if shape is not None and part in shape else None
        value = merge(
            of_base.get(part, ABSENT),
            of_mine.get(part, ABSENT),
            of_theirs.get(part, ABSENT),
            below,
            choose,
            (*path, part),
        )
        if value is not ABSENT:
            found[part] = value
    if isinstance(mine, list):
        return list(found.values())
    return {part.removeprefix("f:"): value for part, value in found.items()}


def _order(
    base: Mapping[str, Any], mine: Mapping[str, Any], theirs: Mapping[str, Any]
) -> Sequence[str]:
    """Return the order of `mine`, or of `theirs` if only `theirs` changed the order."""
    kept = [part for part in mine if part in base]
    before = [part for part in base if part in mine]
    first, second = (theirs, mine) if kept == before else (mine, theirs)
    return tuple(dict.fromkeys((*first, *second)))


def _parts(values: Sequence[Any], shape: Tree | None) -> list[dict[str, Any]] | None:
    """Return the fields or items of each value by path element, or None if the values are atomic."""
    if all(isinstance(value, dict) for value in values):
        if is_atomic(shape) and all(values):
            return None
        return [{f"f:{name}": item for name, item in value.items()} for value in values]
    if shape is None or not all(isinstance(value, list) for value in values):
        return None
    found = []
    for value in values:
        elements = list_elements(value, shape)
        if elements is None:
            return None
        found.append(dict(zip(elements, value, strict=True)))
    return found


def json_patch(old: Any, new: Any, path: str = "") -> Iterator[dict[str, Any]]:
    """Yield the operations of a JSON patch (RFC 6902) from `old` to `new`.

    Items of a list are changed in place if the list keeps its length. The name of a changed item is
    tested first, because another item may be at its index by then.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            at = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
            if name not in new:
                yield {"op": "remove", "path": at}
            elif name not in old:
                yield {"op": "add", "path": at, "value": new[name]}
            else:
                yield from json_patch(old[name], new[name], at)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            at = f"{path}/{index}"
            changes = list(json_patch(before, after, at))
            if changes and isinstance(before, dict) and "name" in before:
                yield {"op": "test", "path": f"{at}/name", "value": before["name"]}
            yield from changes
    elif not json_equal(old, new):
        yield {"op": "replace", "path": path, "value": new}


def apply_merge_patch(target: Any, patch: Any) -> Any:
    """Apply a JSON merge patch (RFC 7386): null removes a field, objects are merged, other values are
    replaced.
    """
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = apply_merge_patch(result.get(name), value)
    return result


def merge_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON merge patch (RFC 7386) from `old` to `new`. Lists are atomic."""
    found: dict[str, Any] = {name: None for name in old if name not in new}
    for name, value in new.items():
        before = old.get(name, ABSENT)
        if isinstance(value, dict) and isinstance(before, dict):
            if below := merge_patch(before, value):
                found[name] = below
        elif not json_equal(before, value):
            found[name] = value
    return found
