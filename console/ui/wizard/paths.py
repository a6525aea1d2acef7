"""Reading and writing values at paths of manifests, which are trees of mappings and lists."""

from collections.abc import Iterator, Sequence
from typing import Any

Path = tuple[str | int, ...]
#: Stands for every index in a path, see `covers`.
ANY = -1


class _Absent:
    """Marks a missing value. None is a value that a manifest may contain."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Any = _Absent()


class Blocked(Exception):
    """A value on the way to a path is neither a mapping nor a list, so nothing can be written."""


def value_at(tree: Any, path: Path) -> Any:
    """Return the value at `path`, or `ABSENT`."""
    for step in path:
        if isinstance(tree, dict):
            tree = tree.get(step, ABSENT)
        elif isinstance(tree, list) and isinstance(step, int) and 0 <= step < len(tree):
            tree = tree[step]
        else:
            return ABSENT
    return tree


def write_at(tree: Any, path: Path, value: Any) -> None:
    """Set the value at `path`, and create missing mappings. Raise `Blocked`."""
    *parents, last = path
    for step in parents:
        inside = value_at(tree, (step,))
        if inside is ABSENT or inside is None:
            inside = {}
            _set(tree, step, inside)
        tree = inside
    _set(tree, last, value)


def remove_at(tree: Any, path: Path, floor: int = 0) -> None:
    """Remove the value at `path`, and then mappings that became empty.

    The first `floor` steps of the path are kept, and so are items of lists.
    """
    if value_at(tree, path) is ABSENT:
        return
    holders = [value_at(tree, path[:depth]) for depth in range(len(path))]
    del holders[-1][path[-1]]
    for depth in range(len(path) - 1, floor, -1):
        step = path[depth - 1]
        if holders[depth] != {} or isinstance(step, int):
            return
        del holders[depth - 1][step]


def leaves(tree: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of all values that are neither mappings, lists nor null."""
    if isinstance(tree, dict):
        for name, inside in tree.items():
            yield from leaves(inside, (*path, name))
    elif isinstance(tree, list):
        for index, inside in enumerate(tree):
            yield from leaves(inside, (*path, index))
    elif tree is not None:
        yield path


def covers(path: Path, inside: Path) -> bool:
    """Return True if `inside` is the path or below it. `ANY` in the path stands for every index."""
    return len(path) <= len(inside) and all(
        one == other or (one == ANY and isinstance(other, int))
        for one, other in zip(path, inside, strict=False)
    )


def path_text(path: Sequence[str | int]) -> str:
    """Return a path as kube-apiserver writes it: `spec.containers[0].image`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def _set(tree: Any, step: str | int, value: Any) -> None:
    fits = isinstance(tree, list) and isinstance(step, int) and 0 <= step < len(tree)
    if not (isinstance(tree, dict) or fits):
        raise Blocked
    tree[step] = value
