"""The searchable lines of some dozen objects of one namespace, each line once.

Neighbours have most of their lines in common, so what is searched is a fraction of all they have, and
it is one string: that is quick to search, while thousands of small ones lie anywhere in memory. Lines
that the same objects have are together, and beside them is a mask with one bit for each object.

Blocks never change, so whoever has one reads it without a lock. Their objects are in order of the names,
the better one first.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise

from console.kube.gvr import Key

#: Objects of a block at most. A change makes its block anew.
SIZE = 60
#: Behind each line. A word may end with it, and has it nowhere else.
END = "\n"
#: What stands before the parts of a name.
SIGNS = "-.:"
_INITIAL = re.compile(f"(?<=[{END}{re.escape(SIGNS)}])[^{END}]")

Order = tuple[int, str, str]
Lines = Iterable[str]


def order_of(key: Key) -> Order:
    """The shorter name is the better one, then the alphabet decides."""
    return len(key.name), key.name, key.namespace


class Block:
    __slots__ = (
        "_everywhere", "_holders", "_lines", "_starts", "every", "first", "initials", "keys", "names",
    )  # fmt: skip

    def __init__(self, objects: Sequence[tuple[Key, Lines]]) -> None:
        """`objects`: one or more, in order."""
        self.keys = tuple(key for key, _lines in objects)
        self.first = order_of(self.keys[0])
        #: The mask of all. The lowest bit is the first object's.
        self.every = (1 << len(objects)) - 1
        #: In lower case, each between two `END`.
        self.names = END + "".join(key.name.casefold().replace(END, " ") + END for key in self.keys)
        #: Letters with which names and their parts begin.
        self.initials = "".join(set(_INITIAL.findall(self.names)))
        holders: dict[str, int] = {}
        for at, (_key, lines) in enumerate(objects):
            for line in lines:
                holders[line] = holders.get(line, 0) | 1 << at
        groups: dict[int, list[str]] = {}
        for line, mask in holders.items():
            groups.setdefault(mask, []).append(line)
        # With luck the first group that has a word tells of all objects.
        self._holders = tuple(sorted(groups, key=int.bit_count, reverse=True))
        texts = ["".join(line + END for line in groups[mask]) for mask in self._holders]
        self._lines = "".join(texts)
        self._starts = array("L", accumulate(map(len, texts), initial=0))
        # Letters that all objects are known to have. Most have most, and the search for one letter, with
        # which all typing begins, would find out again and again.
        self._everywhere = ""

    def __len__(self) -> int:
        return len(self.keys)

    def __contains__(self, word: str) -> bool:
        """True if any object has it."""
        return word in self._lines

    def having(self, words: Iterable[str]) -> int:
        """The mask of the objects that have every word in some line."""
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
        """None if the object is not here."""
        if key not in self.keys:
            return None
        bit = 1 << self.keys.index(key)
        return {line for mask, lines in self._groups() if mask & bit for line in lines}

    def named(self, mark: str) -> Iterator[int]:
        """Which of the objects, in order, have this in their names, of which `END` may be the first or
        the last letter."""
        found = self.names.find(mark)
        while found >= 0:
            end = found + 1
            yield self.names.count(END, 0, end) - 1
            found = self.names.find(mark, self.names.index(END, end))

    def with_changes(self, changes: Mapping[Key, set[str] | None]) -> "list[Block]":
        """One block or more in the place of this one, none if nothing is left. None: it is gone."""
        # Most changes are of things that nobody searches for.
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

    def joined(self, other: "Block") -> "list[Block]":
        return packed(dict(self._objects()) | dict(other._objects()))


def bits(mask: int) -> Iterator[int]:
    """The places of those that are set, the lowest first."""
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


def packed(objects: Mapping[Key, Lines]) -> list[Block]:
    """Objects of one namespace, in as few blocks as it takes, of about the same size."""
    ordered = sorted(objects.items(), key=lambda item: order_of(item[0]))
    number = -(-len(ordered) // SIZE)
    cuts = [len(ordered) * at // number for at in range(number + 1)] if number else []
    return [Block(ordered[start:end]) for start, end in pairwise(cuts)]


def block_of(blocks: Sequence[Block], key: Key) -> int:
    """Which of a namespace's blocks has the object, or would. There must be one."""
    return max(0, bisect_right(blocks, order_of(key), key=lambda block: block.first) - 1)


def with_changes(blocks: Sequence[Block], changes: Mapping[Key, set[str] | None]) -> list[Block]:
    """A namespace's blocks after these changes; None: the object is gone."""
    if not blocks:
        return packed({key: lines for key, lines in changes.items() if lines is not None})
    of_each: dict[int, dict[Key, set[str] | None]] = {}
    for key, lines in changes.items():
        of_each.setdefault(block_of(blocks, key), {})[key] = lines
    found: list[Block] = []
    for at, block in enumerate(blocks):
        for new in block.with_changes(of_each[at]) if at in of_each else [block]:
            # However many objects go, what is left of them is in few blocks.
            if found and len(found[-1]) + len(new) <= SIZE // 2:
                found[-1:] = found[-1].joined(new)
            else:
                found.append(new)
    return found
