"""Decode a list response while its bytes arrive.

kube-apiserver sends a list as one JSON object, `{"kind":…,"metadata":{…},"items":[…]}`. Waiting
for its end would hold all of it in memory and leave the CPU idle. Therefore the received bytes
are cut where an item seems to start, and the parser validates the cut: a cut inside an item
leaves brackets open, which is not a valid JSON array. The rest, appended to the start of the
response, is again a complete list response and contains the metadata, wherever it is.

Every object is returned once, in the server's order, byte for byte. At most one batch and the
largest object are held in memory, and at most `MOST` bytes of a malformed response. An object
nested too deeply for the parser does not affect the others.
"""

from collections.abc import AsyncIterator

import msgspec

from console.kube.errors import TooLong
from console.kube.json_scan import end_of_array, split_objects

#: Bytes to collect before a cut is tried.
BATCH = 1024 * 1024
#: Maximum number of buffered bytes without a complete object. A response that cannot be cut, for
#: example because it is indented, is read whole up to this size.
MOST = 512 * 1024 * 1024
#: Number of cuts to try before waiting for more bytes.
_TRIES = 4
_ITEMS = b'"items":['


class ListMeta(msgspec.Struct):
    resourceVersion: str = ""


class _ListPage(msgspec.Struct):
    metadata: ListMeta
    items: list[msgspec.Raw] | None = None


_page = msgspec.json.Decoder(_ListPage)
_array = msgspec.json.Decoder(list[msgspec.Raw])


class ListStream:
    """Iterate once over batches of objects. `metadata` is set when the iteration has ended.

    Raise `msgspec.DecodeError` if the response is truncated, `TooLong` if it is too long.
    """

    def __init__(self, chunks: AsyncIterator[bytes], *, batch: int = BATCH) -> None:
        self._chunks = chunks
        self._batch = batch
        self._head = b""
        self._start = b""
        self.metadata = ListMeta()

    async def __aiter__(self) -> AsyncIterator[list[msgspec.Raw]]:
        buffer = bytearray()
        wanted = self._batch
        async for chunk in self._chunks:
            buffer += chunk
            if len(buffer) >= wanted:
                objects = self._cut(buffer)
                if len(buffer) > MOST:
                    raise TooLong
                wanted = len(buffer) + self._batch
                if objects:
                    yield objects
        page = _last_page(self._head, bytes(buffer))
        self.metadata = page.metadata
        yield page.items or []

    def _cut(self, buffer: bytearray) -> list[msgspec.Raw]:
        """Remove as many complete objects as possible from the front. Return none if no valid cut
        was found.
        """
        if not self._head and not self._begin(buffer):
            return []
        end = len(buffer)
        for _ in range(_TRIES):
            end = buffer.rfind(self._start, 0, end)
            if end < 0:
                break
            try:
                objects = _objects(bytes(buffer[: end + 1]))
            except msgspec.DecodeError:
                continue
            del buffer[: end + 2]
            return objects
        return []

    def _begin(self, buffer: bytearray) -> bool:
        """Store the start of the response, and detect the bytes that start each item."""
        items = buffer.find(_ITEMS) + len(_ITEMS)
        first_key = buffer.find(b":", items)
        if items < len(_ITEMS) or first_key < 0:
            return False
        self._start = b"}," + bytes(buffer[items : first_key + 1])
        self._head = bytes(buffer[:items])
        del buffer[:items]
        return True


def _objects(text: bytes) -> list[msgspec.Raw]:
    """Split comma-separated JSON values. Raise `msgspec.DecodeError` for anything else."""
    try:
        return _array.decode(b"[%b]" % text)
    except RecursionError:
        return split_objects(text)


def _last_page(head: bytes, rest: bytes) -> _ListPage:
    try:
        return _page.decode(head + rest)
    except RecursionError:
        start = 0 if head else rest.find(_ITEMS) + len(_ITEMS)
        end = start + end_of_array(rest[start:])
        page = _page.decode((head or rest[:start]) + rest[end:])
        page.items = split_objects(rest[start:end])
        return page
