"""Search index of the objects of a store, updated incrementally.

A search is one pass over the text of the visible namespaces. Objects in forbidden namespaces are
never read. With 40,000 objects on a slow core, a rare word takes about 4 ms and a frequent word
8 ms.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from console.kube.derived import Derived
from console.kube.gvr import Key
from console.kube.informer import Informer
from console.kube.store import Entry, Store
from console.ui.core.lru_cache import LruCache
from console.ui.core.permissions import Readable
from console.ui.lists.filters import SearchFilter
from console.ui.search.index_blocks import END, IndexBlock, block_of, packed, with_changes

#: Limits of the cache: number of indexes, number of objects in total (about 300 bytes each), and
#: seconds until an unused index is dropped.
PLACES, ROOM, IDLE = 256, 500_000, 900.0


class BlockMatch(NamedTuple):
    """`mask` is a bit mask of the matching objects in the block. At least one bit is set."""

    block: IndexBlock
    mask: int


class SearchIndex(Derived[Any]):
    def __init__(self, store: Store[Any], declared: SearchFilter) -> None:
        super().__init__(store)
        self._text_of = declared.search_text
        # Grouped by namespace, so that forbidden namespaces are skipped quickly.
        self._blocks: dict[str, list[IndexBlock]] = {}
        # Applied in batches, because each change may rebuild a block.
        self._changes: dict[str, dict[Key, Entry[Any] | None]] = {}

    def __len__(self) -> int:
        return sum(len(block) for blocks in list(self._blocks.values()) for block in blocks)

    def find(self, words: Sequence[str], readable: Readable) -> list[BlockMatch]:
        """Return the visible objects that contain every word, without duplicates and unordered.

        `words` must be in lower case. Without words, all objects match.
        """
        with self.current():
            whole = readable.whole(self._blocks)
            blocks = [block for namespace in whole for block in self._blocks[namespace]]
            singles = list(self._singles(readable))
        # Start with long words, which are rare.
        words = sorted(words, key=len, reverse=True)
        for word in words:
            blocks = [block for block in blocks if word in block]
        found = [BlockMatch(block, mask) for block in blocks if (mask := block.matching(words))]
        for block, key in singles:
            # Search a separate block, because the user may not see the other objects in this one.
            lines = block.lines_of(key)
            if lines is not None and (own := IndexBlock([(key, lines)])).matching(words):
                found.append(BlockMatch(own, own.every))
        return found

    def _singles(self, readable: Readable) -> Iterable[tuple[IndexBlock, Key]]:
        """Yield the objects that are visible by name only, with the block that would contain them."""
        whole = readable.namespaces
        wanted = {
            Key(namespace, key.name)
            for key in readable.names
            # For a namespaced type, a key without a namespace means the name in every namespace.
            for namespace in ((key.namespace,) if key.namespace else tuple(self._blocks))
            if whole is not None and namespace not in whole and namespace in self._blocks
        }
        for key in wanted:
            blocks = self._blocks[key.namespace]
            yield blocks[block_of(blocks, key)], key

    def _rebuild(self, entries: Mapping[Key, Entry[Any]]) -> None:
        lines: dict[str, dict[Key, set[str]]] = {}
        for key, entry in entries.items():
            lines.setdefault(key.namespace, {})[key] = self._lines_of(entry)
        self._blocks = {namespace: packed(found) for namespace, found in lines.items()}
        self._changes = {}

    def _apply(self, key: Key, entry: Entry[Any] | None) -> None:
        self._changes.setdefault(key.namespace, {})[key] = entry

    def _catch_up(self) -> None:
        super()._catch_up()
        for namespace, changes in self._changes.items():
            lines = {
                key: self._lines_of(entry) if entry is not None else None
                for key, entry in changes.items()
            }
            blocks = with_changes(self._blocks.pop(namespace, ()), lines)
            if blocks:
                self._blocks[namespace] = blocks
        self._changes = {}

    def _lines_of(self, entry: Entry[Any]) -> set[str]:
        return set(self._text_of(entry).split(END))


_shelf: LruCache[tuple[Store[Any], object], SearchIndex] = LruCache(
    places=PLACES, room=ROOM, idle=IDLE, name="search indexes"
)


def search_index_of(declared: SearchFilter, informer: Informer[Any]) -> SearchIndex:
    """Return the search index of a store for a kind's `SearchFilter`. It is shared by all callers."""
    store = informer.store
    # The key is `texts` and not the filter, because filters with labels in different languages are
    # not equal.
    return _shelf.get((store, declared.texts), lambda: SearchIndex(store, declared))
