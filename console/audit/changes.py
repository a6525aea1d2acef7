"""Manifests of a change, compressed. The caller removes masked values before."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec

Manifest = Mapping[str, Any]

#: Maximum compressed size of a manifest in bytes.
MAX_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class PackedChange:
    """The manifests before and after a change, compressed. `b""` for no manifest."""

    before: bytes
    after: bytes

    @property
    def digest(self) -> str:
        """Digest of both manifests, which the record contains."""
        return change_digest(self.before, self.after)


def change_digest(before: bytes, after: bytes) -> str:
    return sha256(b"%d:%b%b" % (len(before), before, after)).hexdigest()


def pack(before: Manifest | None, after: Manifest | None) -> PackedChange | None:
    """Return the compressed manifests, or None if there is none that isn't too large, or no
    difference.
    """
    packed = [_compressed(one) if one is not None else b"" for one in (before, after)]
    found = PackedChange(*(one if len(one) <= MAX_BYTES else b"" for one in packed))
    return found if found.before != found.after else None


def unpack(packed: bytes) -> Manifest | None:
    """Return a manifest of `PackedChange`, or None for an empty value."""
    if not packed:
        return None
    found: Manifest = msgspec.json.decode(zlib.decompress(packed))
    return found


def _compressed(manifest: Manifest) -> bytes:
    return zlib.compress(msgspec.json.encode(manifest))
