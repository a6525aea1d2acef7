"""Line-by-line differences between texts or manifests, for `ui/_diff.html`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain, zip_longest
from typing import Any

from console.ui.core.kind import ResourceKind
from console.ui.core.text import escape_invisible
from console.ui.editing.yaml_text import yaml_text

#: Maximum characters of a line, unchanged lines around a change, and maximum number of lines.
WIDEST, AROUND, MOST = 500, 3, 2000
#: Maximum number of line pairs to compare with each other.
_PAIRS = 4_000_000


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of the diff.

    `sign` is `+`, `-`, "" for an unchanged line, or `…` for omitted lines. `before` and `after`
    are the line numbers, or None.
    """

    sign: str
    before: int | None
    after: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A diff. `lines` is empty for equal texts. `left_out` is the number of lines that are not
    shown.
    """

    lines: tuple[DiffLine, ...]
    left_out: int = 0


def manifest_difference(
    kind: ResourceKind, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Difference:
    """Compare manifests as YAML. Raise `RecursionError` for deeply nested manifests."""
    return difference(yaml_text(kind, before), yaml_text(kind, order_like(after, before)))


def order_like(value: Any, model: Any) -> Any:
    """Return `value` with its keys in the order of `model`, so that key order is not shown as a
    difference.
    """
    if isinstance(value, Mapping) and isinstance(model, Mapping):
        names = [*(name for name in model if name in value), *(n for n in value if n not in model)]
        return {name: order_like(value[name], model.get(name)) for name in names}
    if isinstance(value, list) and isinstance(model, list):
        pairs = zip_longest(value, model[: len(value)])
        return [order_like(item, other) for item, other in pairs]
    return value


def difference(before: str, after: str) -> Difference:
    """Compare two texts, with bounded time and output size."""
    texts = (text.removesuffix("\n").split("\n") if text else [] for text in (before, after))
    found = diff_lines(*texts)
    return Difference(tuple(found[:MOST]), max(0, len(found) - MOST))


def diff_lines(before: Sequence[str], after: Sequence[str]) -> list[DiffLine]:
    """Return the lines of a unified diff, empty for equal texts."""
    if before == after:
        return []
    hunks = [list(_hunk(group, before, after)) for group in _groups(before, after)]
    gap = [DiffLine("…", None, None, "")]
    return list(chain.from_iterable([part for hunk in hunks for part in (gap, hunk)][1:]))


Opcode = tuple[str, int, int, int, int]


def _groups(before: Sequence[str], after: Sequence[str]) -> Iterator[Sequence[Opcode]]:
    if len(before) * len(after) <= _PAIRS:
        # SequenceMatcher ignores frequent lines, which bounds its run time.
        yield from SequenceMatcher(None, before, after).get_grouped_opcodes(AROUND)
        return
    # Treat everything between the first and the last change as one change.
    least = min(len(before), len(after))
    head = next((n for n in range(least) if before[n] != after[n]), least)
    least -= head
    tail = next((n for n in range(least) if before[-1 - n] != after[-1 - n]), least)
    ends = len(before) - tail, len(after) - tail
    first, last = max(0, head - AROUND), min(tail, AROUND)
    yield (
        ("equal", first, head, first, head),
        ("replace", head, ends[0], head, ends[1]),
        ("equal", ends[0], ends[0] + last, ends[1], ends[1] + last),
    )


def _hunk(
    group: Sequence[Opcode], before: Sequence[str], after: Sequence[str]
) -> Iterator[DiffLine]:
    for tag, first, last, start, end in group:
        if tag == "equal":
            for old, new in zip(range(first, last), range(start, end), strict=True):
                yield DiffLine("", old + 1, new + 1, _shown(before[old]))
            continue
        for old in range(first, last):
            yield DiffLine("-", old + 1, None, _shown(before[old]))
        for new in range(start, end):
            yield DiffLine("+", None, new + 1, _shown(after[new]))


def _shown(line: str) -> str:
    return escape_invisible(line if len(line) <= WIDEST else f"{line[:WIDEST]}…")
