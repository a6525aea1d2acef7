"""What differs between two states of an object, and the one that two changes of it make together.

`shape` is the tree of all managers' fields (`console.kube.managedfields`): it tells which lists have
items with keys; all others are one value.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from console.kube.managedfields import Path, Tree, elements_of, is_whole, under


class _Absent(Enum):
    ABSENT = "absent"


#: In the place of a value that is not there.
ABSENT: Final = _Absent.ABSENT


@dataclass(frozen=True, slots=True)
class Change:
    """A value that is another one, has come or is gone (`ABSENT`)."""

    path: Path
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """A value that two have changed, each in their own way. It may be `ABSENT` for each."""

    path: Path
    base: Any
    mine: Any
    theirs: Any


def same(one: Any, other: Any) -> bool:
    """Whether two values are one in JSON: for Python true is 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def changes(old: Any, new: Any, shape: Tree | None, path: Path = ()) -> Iterator[Change]:
    """`shape` is None where nobody knows of it."""
    if same(old, new):
        return
    parts = _parts((old, new), shape)
    if parts is None:
        yield Change(path, old, new)
        return
    before, after = parts
    for part in dict.fromkeys((*before, *after)):
        below = under(shape, part) if shape is not None and part in shape else None
        yield from changes(before.get(part, ABSENT), after.get(part, ABSENT), below, (*path, part))
    if list(before) != list(after) and before.keys() == after.keys() and isinstance(old, list):
        # The same items in another order.
        yield Change(path, old, new)


#: Decides a conflict.
Choose = Callable[[MergeConflict], Any]


def merge(
    base: Any, mine: Any, theirs: Any, shape: Tree | None, choose: Choose, path: Path = ()
) -> Any:
    """What both changes make of `base`; where they are about the same value `choose` is asked."""
    if same(mine, theirs) or same(base, theirs):
        return mine
    if same(base, mine):
        return theirs
    parts = _parts((_begun(base, mine), mine, theirs), shape)
    if parts is None:
        return choose(MergeConflict(path, base, mine, theirs))
    of_base, of_mine, of_theirs = parts
    found: dict[str, Any] = {}
    for part in _order(of_base, of_mine, of_theirs):
        below = under(shape, part) if shape is not None and part in shape else None
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


def _begun(base: Any, mine: Any) -> Any:
    """Two that have come together have begun with nothing."""
    return type(mine)() if base is ABSENT and isinstance(mine, dict | list) else base


def _order(
    base: Mapping[str, Any], mine: Mapping[str, Any], theirs: Mapping[str, Any]
) -> Sequence[str]:
    """Mine, unless theirs alone is another one than before."""
    kept = [part for part in mine if part in base]
    before = [part for part in base if part in mine]
    first, second = (theirs, mine) if kept == before else (mine, theirs)
    return tuple(dict.fromkeys((*first, *second)))


def _parts(values: Sequence[Any], shape: Tree | None) -> list[dict[str, Any]] | None:
    """The fields or the items of each, None if they cannot be told apart."""
    if all(isinstance(value, dict) for value in values):
        if is_whole(shape) and all(values):
            return None
        return [{f"f:{name}": item for name, item in value.items()} for value in values]
    if shape is None or not all(isinstance(value, list) for value in values):
        return None
    found = []
    for value in values:
        elements = elements_of(value, shape)
        if elements is None:
            return None
        found.append(dict(zip(elements, value, strict=True)))
    return found


def merge_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """What makes `new` of `old` (RFC 7386). Lists are one value."""
    found: dict[str, Any] = {name: None for name in old if name not in new}
    for name, value in new.items():
        before = old.get(name, ABSENT)
        if isinstance(value, dict) and isinstance(before, dict):
            if below := merge_patch(before, value):
                found[name] = below
        elif not same(before, value):
            found[name] = value
    return found
