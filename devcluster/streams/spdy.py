"""SPDY/3.1 frames used by port-forward.

https://www.chromium.org/spdy/spdy-protocol/spdy-protocol-draft3-1
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum

# Underscores stand for spaces.
_NAMES = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language "
    "accept-ranges age allow authorization cache-control connection content-base content-encoding "
    "content-language content-length content-location content-md5 content-range content-type date "
    "etag expect expires from host if-match if-modified-since if-none-match if-range "
    "if-unmodified-since last-modified location max-forwards pragma proxy-authenticate "
    "proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url "
    "public set-cookie keep-alive origin"
)
_REST = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 "
    "Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized"
    "403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,"
    "text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)
_VERSION, _LAST = 3, 0x01
_LARGEST = 4 * 1024 * 1024
_LARGEST_HEADERS = 64 * 1024
_CANCEL = 5
_REPLY = 2


def _word(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">I", len(data)) + data


#: Compression dictionary for headers, defined by the protocol.
DICTIONARY = b"".join(_word(name.replace("_", " ")) for name in _NAMES.split()) + _REST.encode()


class SpdyError(Exception):
    """The client violated the protocol."""


class FrameType(IntEnum):
    """Frame types with their protocol numbers. DATA and OTHER are not protocol numbers."""

    DATA = 0
    STREAM = 1
    RESET = 3
    PING = 6
    OTHER = 99


@dataclass(frozen=True, slots=True)
class Frame:
    kind: FrameType
    stream: int = 0
    data: bytes = b""
    last: bool = False
    headers: dict[str, str] = field(default_factory=dict)


class FrameReader:
    """Incremental frame parser. It raises `SpdyError` for invalid data."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._headers = zlib.decompressobj(zdict=DICTIONARY)

    def feed(self, data: bytes) -> Iterator[Frame]:
        self._waiting += data
        while len(self._waiting) >= 8:
            first, second = struct.unpack(">II", self._waiting[:8])
            flags, size = second >> 24, second & 0xFFFFFF
            if size > _LARGEST:
                raise SpdyError("the frame is too large")
            if len(self._waiting) < 8 + size:
                return
            body = bytes(self._waiting[8 : 8 + size])
            del self._waiting[: 8 + size]
            last = bool(flags & _LAST)
            if first >> 31:
                yield self._control(first & 0xFFFF, body, last)
            else:
                yield Frame(FrameType.DATA, first, body, last)

    def _control(self, number: int, body: bytes, last: bool) -> Frame:
        try:
            if number == FrameType.STREAM:
                stream = struct.unpack(">I", body[:4])[0] & 0x7FFFFFFF
                return Frame(FrameType.STREAM, stream, b"", last, self._read_headers(body[10:]))
            if number == FrameType.RESET:
                return Frame(FrameType.RESET, struct.unpack(">I", body[:4])[0] & 0x7FFFFFFF)
        except (struct.error, zlib.error) as error:
            raise SpdyError(str(error)) from error
        return (
            Frame(FrameType.PING, data=body) if number == FrameType.PING else Frame(FrameType.OTHER)
        )

    def _read_headers(self, packed: bytes) -> dict[str, str]:
        block = self._headers.decompress(packed, _LARGEST_HEADERS)
        if self._headers.unconsumed_tail:
            raise SpdyError("the headers are too large")
        texts, at = [], 4
        for _ in range(2 * struct.unpack(">I", block[:4])[0]):
            size = struct.unpack(">I", block[at : at + 4])[0]
            texts.append(block[at + 4 : at + 4 + size].decode(errors="replace"))
            at += 4 + size
        return dict(zip(texts[::2], texts[1::2], strict=True))


class FrameWriter:
    """Frame encoder."""

    def __init__(self) -> None:
        self._headers = zlib.compressobj(zdict=DICTIONARY)

    def reply(self, stream: int) -> bytes:
        """Return a frame that accepts a stream, without headers."""
        packed = self._headers.compress(struct.pack(">I", 0))
        packed += self._headers.flush(zlib.Z_SYNC_FLUSH)
        return self._control(_REPLY, struct.pack(">I", stream) + packed)

    def reset(self, stream: int) -> bytes:
        return self._control(FrameType.RESET, struct.pack(">II", stream, _CANCEL))

    def ping(self, number: bytes) -> bytes:
        return self._control(FrameType.PING, number)

    @staticmethod
    def data(stream: int, data: bytes, *, last: bool = False) -> bytes:
        return struct.pack(">II", stream, (_LAST if last else 0) << 24 | len(data)) + data

    @staticmethod
    def _control(kind: int, body: bytes) -> bytes:
        return struct.pack(">HHI", 0x8000 | _VERSION, kind, len(body)) + body
