"""Connections that switch their protocol with `Upgrade` (RFC 9110, section 7.8), and pass bytes on.

The two ends of a connection, the client's and kube-apiserver's, are `ByteStream`s. `join` connects
them: received data is written to the other end, and an end whose write buffer is full pauses
reading at the other end. Neither end interprets the data, so websockets and SPDY work alike.
"""

import asyncio
import re
import ssl
from asyncio import sslproto
from collections.abc import Sequence
from typing import Protocol, cast
from urllib.parse import urlsplit

from console.kube.credentials import Credentials
from console.kube.errors import InvalidResponse
from console.kube.messages import Message

Headers = Sequence[tuple[str, str]]

#: Maximum size in bytes of a response's status line and headers, and of the body of a refusal.
MAX_HEAD, MAX_REFUSAL = 64 * 1024, 64 * 1024
#: Bytes that may wait in each direction before the sender is paused.
WRITE_BUFFER, READ_BUFFER = 64 * 1024, 32 * 1024
SWITCHING_PROTOCOLS = 101
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})( [^\r\n]*)?")
_END = b"\r\n\r\n"


class ByteStream(Protocol):
    """One end of a connection. All methods may be called after the end was closed."""

    @property
    def closed(self) -> "asyncio.Future[None]":
        """Future that is done when the end is closed."""
        ...

    def join(self, other: "ByteStream") -> None:
        """Write received data to `other`, beginning with data that was already received."""
        ...

    def write(self, data: bytes) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def close(self) -> None:
        """Close the end after all data was written."""
        ...

    def abort(self) -> None:
        """Close the end and discard data that was not written."""
        ...


def join(one: ByteStream, other: ByteStream) -> None:
    one.join(other)
    other.join(one)


class RawConnection(asyncio.Protocol):
    """kube-apiserver's end of a connection. Implements `ByteStream`.

    `status` and `headers` are those of the response.
    """

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.closed: asyncio.Future[None] = loop.create_future()
        self.status, self.headers = 0, list[tuple[str, str]]()
        self._transport: asyncio.Transport | None = None
        self._other: ByteStream | None = None
        self._received = bytearray()
        self._news = asyncio.Event()

    # asyncio's interface

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(WRITE_BUFFER)
        if isinstance(transport, sslproto._SSLProtocolTransport):
            transport.set_read_buffer_limits(READ_BUFFER)

    def data_received(self, data: bytes) -> None:
        if self._other is not None:
            self._other.write(data)
            return
        self._received += data
        if len(self._received) > MAX_HEAD + MAX_REFUSAL:
            self.pause_reading()
        self._news.set()

    def pause_writing(self) -> None:
        if self._other is not None:
            self._other.pause_reading()

    def resume_writing(self) -> None:
        if self._other is not None:
            self._other.resume_reading()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._news.set()
        if not self.closed.done():
            self.closed.set_result(None)
        if self._other is not None:
            self._other.close()

    # ByteStream

    def join(self, other: ByteStream) -> None:
        self._other = other
        if self._received:
            other.write(bytes(self._received))
            self._received.clear()
        self.resume_reading()
        if self.closed.done():
            other.close()

    def write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def pause_reading(self) -> None:
        if self._transport is not None and self._transport.is_reading():
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        if self._transport is not None and not self._transport.is_reading():
            self._transport.resume_reading()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    # The response

    async def read_head(self) -> None:
        """Read the response's status and headers. Raise `InvalidResponse`."""
        while _END not in self._received:
            if len(self._received) > MAX_HEAD:
                raise _invalid()
            await self._more()
        head, _end, rest = bytes(self._received).partition(_END)
        self._received[:] = rest
        status, *lines = head.split(b"\r\n")
        found = _STATUS_LINE.fullmatch(status)
        if found is None:
            raise _invalid()
        self.status = int(found[1])
        for line in lines:
            name, colon, value = line.decode("latin-1").partition(":")
            if not colon or not name or name != name.strip():
                raise _invalid()
            self.headers.append((name, value.strip()))

    async def read_refusal(self) -> bytes:
        """Read the body of a response that doesn't switch protocols. Raise `InvalidResponse` for
        an incomplete body or one that exceeds `MAX_REFUSAL`.
        """
        named = {name.lower(): value for name, value in self.headers}
        if named.get("transfer-encoding", "").lower() == "chunked":
            return await self._read_chunks()
        length = named.get("content-length", "")
        if length.isascii() and length.isdigit():
            return await self._read(int(length))
        while not self.closed.done() and len(self._received) <= MAX_REFUSAL:
            await self._wait()
        return bytes(self._received[:MAX_REFUSAL])

    async def _read_chunks(self) -> bytes:
        body = b""
        while True:
            line = await self._read_line()
            try:
                size = int(line.partition(b";")[0], 16)
            except ValueError:
                raise _invalid() from None
            if size <= 0:
                return body
            body += await self._read(size)
            await self._read_line()
            if len(body) > MAX_REFUSAL:
                raise _invalid()

    async def _read_line(self) -> bytes:
        while b"\r\n" not in self._received:
            if len(self._received) > MAX_HEAD:
                raise _invalid()
            await self._more()
        line, _end, rest = bytes(self._received).partition(b"\r\n")
        self._received[:] = rest
        return line

    async def _read(self, size: int) -> bytes:
        if size > MAX_REFUSAL:
            raise _invalid()
        while len(self._received) < size:
            await self._more()
        data = bytes(self._received[:size])
        del self._received[:size]
        return data

    async def _more(self) -> None:
        """Wait for data. Raise `InvalidResponse` if the connection is closed."""
        if self.closed.done():
            raise _invalid()
        await self._wait()

    async def _wait(self) -> None:
        self._news.clear()
        await self._news.wait()


async def open_raw(
    credentials: Credentials, method: str, path: str, headers: Headers
) -> RawConnection:
    """Send a request without a body and return the connection after the response's head.

    `path` is encoded and includes the query. The caller must close the connection. Raise OSError
    or TimeoutError if there is no connection, `InvalidResponse` for a response that is not HTTP, and
    `ApiError` if the credentials can't be read or the kubeconfig has a `proxy-url`, which
    doesn't support these connections.
    """
    if credentials.proxy:
        text = Message(
            "The proxy in the console's kubeconfig does not support this kind of connection"
        )
        raise InvalidResponse(text)
    url = urlsplit(credentials.host)
    secure = url.scheme == "https"
    context, authorization = await asyncio.to_thread(_secrets, credentials)
    _transport, connection = await asyncio.get_running_loop().create_connection(
        RawConnection,
        url.hostname or "",
        url.port or (443 if secure else 80),
        ssl=context if secure else None,
        server_hostname=(credentials.tls_server_name or url.hostname) if secure else None,
    )
    try:
        sent = [("Host", url.netloc), *headers]
        if authorization:
            sent.append(("Authorization", authorization))
        head = f"{method} {url.path.rstrip('/')}{path} HTTP/1.1\r\n"
        lines = "".join(f"{name}: {value}\r\n" for name, value in sent)
        connection.write(f"{head}{lines}\r\n".encode("latin-1"))
        await connection.read_head()
    except BaseException:
        connection.abort()
        raise
    return connection


def _secrets(credentials: Credentials) -> tuple[ssl.SSLContext | bool, str | None]:
    return credentials.ssl_context(), credentials.authorization()


def _invalid() -> InvalidResponse:
    return InvalidResponse()
