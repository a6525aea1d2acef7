"""Compress the original JSON of the objects of one type.

Objects of a type are similar, so a dictionary is trained from the first objects, and each
further object takes a fraction of its size. `managedFields` are removed before: they are nearly
half of an object and are never shown.

Call `pack` and `train` on one thread. `unpack` may be called from any thread concurrently.
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
#: Minimum number of objects for a useful dictionary, which takes 0.1 s to train, and the number for
#: a good one.
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
        """Return True until `train` has been called, even if it failed."""
        return not self._tried

    def train(self, samples: Sequence[bytes]) -> None:
        """Train the dictionary with the first objects. Objects packed before stay readable."""
        self._tried = True
        try:
            dictionary = zstandard.train_dictionary(DICTIONARY_BYTES, list(samples), level=LEVEL)
        except zstandard.ZstdError as error:
            log.info("Compressing objects without a dictionary: %s", error)
            return
        dictionary.precompute_compress(level=LEVEL)
        # Readers need the dictionary before the first object is packed with it.
        self._dictionary = dictionary
        self._compressor = zstandard.ZstdCompressor(level=LEVEL, dict_data=dictionary)

    def pack(self, original: bytes) -> bytes:
        # The compressor allocates for the worst case and then shrinks the result, which leaves
        # holes that cannot be reused: 6 KB for each 10 KB object. A copy of the exact size leaves
        # none.
        return bytes(memoryview(self._compressor.compress(original)))

    def unpack(self, packed: bytes) -> dict[str, Any]:
        return _to_dict.decode(self._decompressor().decompress(packed))

    def _decompressor(self) -> zstandard.ZstdDecompressor:
        """Return this thread's decompressor, because decompressors are not thread-safe.

        A new one is created after the dictionary is trained.
        """
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
    """Return `original` without its `managedFields` member. All other bytes are unchanged.

    If there are several such members, return `original` unchanged, because only one is the
    object's.
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
    # Remove one comma too: the one before the member or, for the first member, the one after.
    if original[at - 1 : at] == b",":
        at -= 1
    elif original[end : end + 1] == b",":
        end += 1
    return original[:at] + original[end:]
