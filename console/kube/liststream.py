"""A list response, decoded while its bytes arrive.

kube-apiserver sends a list as one JSON object, `{"kind":…,"metadata":{…},"items":[…]}`. Waiting for its
end would hold all of it in memory and leave this side idle meanwhile. So what has arrived is cut where
an item seems to begin, and the parser says whether that was right: a cut inside of an item leaves
brackets open, which is no array of JSON values. What is left at the end, behind the response's own
beginning, is again a whole list response, and brings the metadata wherever it stands.

Promises: every object once, in the server's order, byte for byte; no more than a batch and the largest
object are held at a time, and of what is no list `MOST` bytes. An object that is nested too deeply for
the parser does not stop the others.
"""

from collections.abc import AsyncIterator

import msgspec

from console.kube.errors import ServerError
from console.kube.scan import end_of_array, split
from console.kube.sentences import Sentence

#: Bytes that are gathered before a cut is tried.
BATCH = 1024 * 1024
#: Bytes that are held of an answer in which no object ends. One whose objects cannot be told from each
#: other before its end, as when it is indented, is read whole, up to that.
MOST = 512 * 1024 * 1024
#: Cuts that are tried before more bytes are waited for.
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
    """Iterates once over batches of objects; `metadata` is there when the iteration has ended.

    Raises `msgspec.DecodeError` if the response ends early, `ServerError` if it does not end.
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
                    raise ServerError(502, Sentence("The answer of the Kubernetes API is too long"))
                wanted = len(buffer) + self._batch
                if objects:
                    yield objects
        page = _last_page(self._head, bytes(buffer))
        self.metadata = page.metadata
        yield page.items or []

    def _cut(self, buffer: bytearray) -> list[msgspec.Raw]:
        """Takes whole objects off the front, as many as there are; none if that cannot be told."""
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
        """Sets the response's beginning aside, and notes how its objects begin."""
        items = buffer.find(_ITEMS) + len(_ITEMS)
        first_key = buffer.find(b":", items)
        if items < len(_ITEMS) or first_key < 0:
            return False
        self._start = b"}," + bytes(buffer[items : first_key + 1])
        self._head = bytes(buffer[:items])
        del buffer[:items]
        return True


def _objects(text: bytes) -> list[msgspec.Raw]:
    """Of JSON values with commas between them. Raises `msgspec.DecodeError` if that is not what it is."""
    try:
        return _array.decode(b"[%b]" % text)
    except RecursionError:
        return split(text)


def _last_page(head: bytes, rest: bytes) -> _ListPage:
    try:
        return _page.decode(head + rest)
    except RecursionError:
        start = 0 if head else rest.find(_ITEMS) + len(_ITEMS)
        end = start + end_of_array(rest[start:])
        page = _page.decode((head or rest[:start]) + rest[end:])
        page.items = split(rest[start:end])
        return page
