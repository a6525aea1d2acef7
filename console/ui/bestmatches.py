"""Ranking of search matches.

Designed for tens of thousands of matches: a name is compared only if it could still be among the
best.
"""

import sys
from bisect import insort
from collections.abc import Sequence

from console.kube.gvr import Key
from console.ui.haystacks import BlockMatch
from console.ui.textblocks import END, SIGNS, Order, bits, order_of

#: Number of index blocks in the first batch, before a limit is known that excludes other blocks.
_AT_ONCE = 10
_LAST: Order = (sys.maxsize, "", "")


def best_of(found: Sequence[BlockMatch], words: Sequence[str], first: int) -> list[tuple[int, Key]]:
    """Return the best `first` matches with the rank of each.

    Ranks: the name equals the first word (0), starts with it (1), has a part that starts with it
    (2), contains it (3), or the word occurs elsewhere (4). Without words, all matches have rank
    0. Within a rank, shorter names come first, then alphabetical order applies.
    """
    if not words:
        return [(0, key) for key in _first(found, [""], first, [])]
    word = words[0]
    named = [match for match in found if word in match[0].names]
    begun = [match for match in named if word[0] in match[0].initials]
    ranks = (
        (begun, [f"{END}{word}{END}"]),
        (begun, [f"{END}{word}"]),
        (begun, [f"{sign}{word}" for sign in SIGNS]),
        (named, [word]),
        (found, [""]),
    )
    best: list[tuple[int, Key]] = []
    for rank, (among, marks) in enumerate(ranks):
        wanted, taken = first - len(best), [key for _rank, key in best]
        best += [(rank, key) for key in _first(among, marks, wanted, taken)]
        if len(best) >= first:
            break
    return best


def _first(
    found: Sequence[BlockMatch], marks: Sequence[str], wanted: int, taken: Sequence[Key]
) -> list[Key]:
    """Return the first `wanted` keys whose names contain any of the `marks`, except those in
    `taken`. The mark "" matches every name.
    """
    best: list[Order] = []
    for mark in marks:
        start, limit = 0, best[-1] if len(best) == wanted else _LAST
        while start < len(found):
            # Batches grow, because the limit barely changes after the first ones.
            end = 2 * start + _AT_ONCE
            for block, mask in [
                match
                for match in found[start:end]
                if match[0].first < limit and mark in match[0].names
            ]:
                for at in block.named(mark) if mark else bits(mask):
                    key = block.keys[at]
                    order = order_of(key)
                    if order >= limit:
                        break
                    if mask >> at & 1 and order not in best and key not in taken:
                        insort(best, order)
                        del best[wanted:]
                        limit = best[-1] if len(best) == wanted else _LAST
            start = end
    return [Key(namespace, name) for _length, name, namespace in best]
