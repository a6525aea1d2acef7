"""Keeps the originals of one type small.

Objects of a type are much alike, so from the first of them a dictionary is trained, and each further
one takes a fraction of what it would alone. `managedFields` are cut out before: they are nearly half of
an object, and nobody shows them.

`pack` and `train` belong to one thread; any thread may `unpack`, at the same time.
"""

import logging
from collections.abc import Sequence
from threading import local
from typing import Any

import msgspec
import zstandard

log = logging.getLogger(__name__)

LEVEL = 1
DICTIONARY_BYTES = 64 * 1024
#: So many objects make a dictionary worth the tenth of a second that it takes; so many make it good.
ENOUGH, SAMPLES = 50, 500

_MANAGED_FIELDS = b'"managedFields":'
_to_dict = msgspec.json.Decoder(dict[str, Any])


class Packer:
    def __init__(self) -> None:
        self._dictionary: zstandard.ZstdCompressionDict | None = None
        self._compressor = zstandard.ZstdCompressor(level=LEVEL)
        self._own = local()
        self._tried = False

    @property
    def untrained(self) -> bool:
        """True until `train` was called, whatever came of it."""
        return not self._tried

    def train(self, samples: Sequence[bytes]) -> None:
        """Learns from the first objects. Those packed before stay readable."""
        self._tried = True
        try:
            dictionary = zstandard.train_dictionary(DICTIONARY_BYTES, list(samples), level=LEVEL)
        except zstandard.ZstdError as error:
            log.info("Originals are packed without a dictionary: %s", error)
            return
        dictionary.precompute_compress(level=LEVEL)
        # What unpacks must know the dictionary before anything is packed with it.
        self._dictionary = dictionary
        self._compressor = zstandard.ZstdCompressor(level=LEVEL, dict_data=dictionary)

    def pack(self, original: bytes) -> bytes:
        # The compressor allocates for the worst case and then shrinks, which leaves holes that fit
        # nothing: 6 KB of them for each 10 KB object. A copy of the right size leaves none.
        return bytes(memoryview(self._compressor.compress(original)))

    def unpack(self, packed: bytes) -> dict[str, Any]:
        return _to_dict.decode(self._decompressor().decompress(packed))

    def _decompressor(self) -> zstandard.ZstdDecompressor:
        """One for each thread, since two must not use the same at once; anew once trained."""
        known: tuple[Any, zstandard.ZstdDecompressor] | None = getattr(self._own, "known", None)
        dictionary = self._dictionary
        if known is None or known[0] is not dictionary:
            made = (
                zstandard.ZstdDecompressor(dict_data=dictionary)
                if dictionary is not None
                else zstandard.ZstdDecompressor()
            )
            known = self._own.known = (dictionary, made)
        return known[1]


def without_managed_fields(original: bytes, managed_fields: msgspec.Raw) -> bytes:
    """`original` without the member whose value is `managed_fields`, byte for byte else.

    Left as it is where there is more than one such member, since only one of them is meant.
    """
    size = len(managed_fields)
    if not size:
        return original
    at = original.find(_MANAGED_FIELDS)
    value = at + len(_MANAGED_FIELDS)
    end = value + size
    if at < 1 or original[value:end] != bytes(managed_fields):
        return original
    if original.find(_MANAGED_FIELDS, end) >= 0:
        return original
    # One comma goes with it: the one before, or, if it was the first member, the one after.
    if original[at - 1 : at] == b",":
        at -= 1
    elif original[end : end + 1] == b",":
        end += 1
    return original[:at] + original[end:]
