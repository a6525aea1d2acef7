"""Index blocks: the deduplicated searchable lines of a few dozen objects of one namespace.

Objects with adjacent names share most of their lines, so a block is much smaller than the sum of
its objects. All lines are one string, because searching one large string is much faster than
searching thousands of small ones. Lines are grouped by the set of objects that contain them,
stored as a bit mask. Blocks are immutable and can be read without a lock. Objects are sorted by
rank, best first.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise

from console.kube.gvr import Key

#: Maximum objects per block. A change recreates its block.
SIZE = 60
#: Line terminator. A search word may end with it but not contain it elsewhere.
END = "\n"
#: Separators between the parts of a name.
SIGNS = "-.:"
_INITIAL = re.compile(f"(?<=[{END}{re.escape(SIGNS)}])[^{END}]")

Order = tuple[int, str, str]
Lines = Iterable[str]


def order_of(key: Key) -> Order:
    """Return the rank of a key: shorter names first, then alphabetical order."""
    return len(key.name), key.name, key.namespace


class IndexBlock:
    __slots__ = (
        "_everywhere", "_holders", "_lines", "_starts", "every", "first", "initials", "keys", "names",
    )  # fmt: skip

    def __init__(self, objects: Sequence[tuple[Key, Lines]]) -> None:
        """Build a block from one or more objects in rank order."""
        self.keys = tuple(key for key, _lines in objects)
        self.first = order_of(self.keys[0])
        #: Mask of all objects. The lowest bit is the first object.
        self.every = (1 << len(objects)) - 1
        #: Names in lower case, each between two `END`.
        self.names = END + "".join(key.name.casefold().replace(END, " ") + END for key in self.keys)
        #: First characters of names and name parts.
        self.initials = "".join(set(_INITIAL.findall(self.names)))
        holders: dict[str, int] = {}
        for at, (_key, lines) in enumerate(objects):
            for line in lines:
                holders[line] = holders.get(line, 0) | 1 << at
        groups: dict[int, list[str]] = {}
        for line, mask in holders.items():
            groups.setdefault(mask, []).append(line)
        # Sorted so that the first matching group often covers all objects.
        self._holders = tuple(sorted(groups, key=int.bit_count, reverse=True))
        texts = ["".join(line + END for line in groups[mask]) for mask in self._holders]
        self._lines = "".join(texts)
        self._starts = array("L", accumulate(map(len, texts), initial=0))
        # Characters known to occur in all objects. Most characters do, and every search starts with
        # the search for a single character.
        self._everywhere = ""

    def __len__(self) -> int:
        return len(self.keys)

    def __contains__(self, word: str) -> bool:
        """Return True if any object contains the word."""
        return word in self._lines

    def matching(self, words: Iterable[str]) -> int:
        """Return the mask of the objects that contain every word, each in any line."""
        found = self.every
        for word in words:
            found &= self._having(word)
        return found

    def _having(self, word: str) -> int:
        if len(word) == 1 and word in self._everywhere:
            return self.every
        lines, starts, holders, every = self._lines, self._starts, self._holders, self.every
        found, at = 0, lines.find(word)
        while at >= 0:
            following = bisect_right(starts, at)
            found |= holders[following - 1]
            if found == every:
                if len(word) == 1:
                    self._everywhere += word
                break
            at = lines.find(word, starts[following])
        return found

    def lines_of(self, key: Key) -> set[str] | None:
        """Return the lines of an object, or None if the block does not contain it."""
        if key not in self.keys:
            return None
        bit = 1 << self.keys.index(key)
        return {line for mask, lines in self._groups() if mask & bit for line in lines}

    def named(self, mark: str) -> Iterator[int]:
        """Yield the positions of the objects whose names contain `mark`, which may start or end
        with `END`.
        """
        found = self.names.find(mark)
        while found >= 0:
            end = found + 1
            yield self.names.count(END, 0, end) - 1
            found = self.names.find(mark, self.names.index(END, end))

    def with_changes(self, changes: Mapping[Key, set[str] | None]) -> "list[IndexBlock]":
        """Return the blocks that replace this one, possibly none. A value of None means that the
        object was deleted.
        """
        # Most changes don't affect searchable lines.
        if all(self.lines_of(key) == lines for key, lines in changes.items()):
            return [self]
        kept = {key: lines for key, lines in self._objects() if key not in changes}
        return packed(kept | {key: lines for key, lines in changes.items() if lines is not None})

    def _objects(self) -> Iterator[tuple[Key, Lines]]:
        found: list[list[str]] = [[] for _ in self.keys]
        for mask, lines in self._groups():
            for at in bits(mask):
                found[at] += lines
        return zip(self.keys, found, strict=True)

    def _groups(self) -> Iterator[tuple[int, list[str]]]:
        for mask, (start, end) in zip(self._holders, pairwise(self._starts), strict=True):
            yield mask, self._lines[start:end].split(END)[:-1]

    def joined(self, other: "IndexBlock") -> "list[IndexBlock]":
        return packed(dict(self._objects()) | dict(other._objects()))


def bits(mask: int) -> Iterator[int]:
    """Yield the positions of the set bits, lowest first."""
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


def packed(objects: Mapping[Key, Lines]) -> list[IndexBlock]:
    """Split the objects of one namespace into as few blocks as possible, of similar size."""
    ordered = sorted(objects.items(), key=lambda item: order_of(item[0]))
    number = -(-len(ordered) // SIZE)
    cuts = [len(ordered) * at // number for at in range(number + 1)] if number else []
    return [IndexBlock(ordered[start:end]) for start, end in pairwise(cuts)]


def block_of(blocks: Sequence[IndexBlock], key: Key) -> int:
    """Return the index of the block that contains the key or would contain it. `blocks` must not be
    empty.
    """
    return max(0, bisect_right(blocks, order_of(key), key=lambda block: block.first) - 1)


def with_changes(
    blocks: Sequence[IndexBlock], changes: Mapping[Key, set[str] | None]
) -> list[IndexBlock]:
    """Return a namespace's blocks after these changes. A value of None means that the object was
    deleted.
    """
    if not blocks:
        return packed({key: lines for key, lines in changes.items() if lines is not None})
    of_each: dict[int, dict[Key, set[str] | None]] = {}
    for key, lines in changes.items():
        of_each.setdefault(block_of(blocks, key), {})[key] = lines
    found: list[IndexBlock] = []
    for at, block in enumerate(blocks):
        for new in block.with_changes(of_each[at]) if at in of_each else [block]:
            # Merge small neighbors, so that deletions don't leave many small blocks.
            if found and len(found[-1]) + len(new) <= SIZE // 2:
                found[-1:] = found[-1].joined(new)
            else:
                found.append(new)
    return found
