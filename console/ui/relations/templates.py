"""Two pod templates, and what differs between them.

The texts are what tenants wrote: they are bounded before they are compared, and each character that
cannot be seen is written out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain
from typing import Any

import yaml

from console.ui.text import visible

#: Lines that are compared, characters of a line that are shown, equal lines around a change.
LONGEST, WIDEST, AROUND = 1500, 500, 3
#: Labels and the like that say which revision it is, and nothing of what is in it.
_OWN_LABELS = ("pod-template-hash", "controller-revision-hash")
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class TooLong(ValueError):
    """Nobody could read what differs between templates of that length."""


@dataclass(frozen=True, slots=True)
class Change:
    """A line of a comparison. `sign` is `+`, `-`, "" for a line of both, `…` for lines that are left out;
    `before` and `after` are its numbers, None where it has none."""

    sign: str
    before: int | None
    after: int | None
    text: str


def template_lines(template: Mapping[str, Any]) -> list[str]:
    """The template as YAML, keys in order. Raises `TooLong`."""
    metadata = template.get("metadata")
    kept = {key: value for key, value in template.items() if key != "$patch"}
    if isinstance(metadata, dict):
        kept["metadata"] = _without_own(metadata)
    try:
        text = yaml.dump(kept, Dumper=_Dumper, allow_unicode=True, width=WIDEST)
    except RecursionError as error:
        raise TooLong from error
    lines = text.split("\n")[:-1]
    if len(lines) > LONGEST:
        raise TooLong
    return [visible(line if len(line) <= WIDEST else f"{line[:WIDEST]}…") for line in lines]


def _without_own(metadata: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in metadata.items() if value is not None}
    labels = kept.get("labels")
    if isinstance(labels, dict):
        kept["labels"] = {k: v for k, v in labels.items() if k not in _OWN_LABELS}
    return kept


def changes(before: list[str], after: list[str]) -> list[Change]:
    """As a unified diff has them; empty for equal templates."""
    if before == after:
        return []
    # Lines that come again and again are no anchors for it, which bounds the time that it can take.
    groups = SequenceMatcher(None, before, after).get_grouped_opcodes(AROUND)
    hunks = [list(_hunk(group, before, after)) for group in groups]
    gap = [Change("…", None, None, "")]
    parts = [part for hunk in hunks for part in (gap, hunk)][1:]
    return list(chain.from_iterable(parts))


def _hunk(
    group: list[tuple[str, int, int, int, int]], before: list[str], after: list[str]
) -> Iterator[Change]:
    for tag, first, last, start, end in group:
        if tag == "equal":
            for old, new in zip(range(first, last), range(start, end), strict=True):
                yield Change("", old + 1, new + 1, before[old])
            continue
        for old in range(first, last):
            yield Change("-", old + 1, None, before[old])
        for new in range(start, end):
            yield Change("+", None, new + 1, after[new])
