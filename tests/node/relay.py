"""Forward connections between kube-apiserver, which is outside the box, and programs inside it.

Run as `python relay.py NETWORK ADDRESS PORT SOCKET`. NETWORK is the file of the box's network
namespace. Inside, the relay listens on kube-apiserver's own address, 127.0.0.1:PORT, for the
kubelet, and on ADDRESS:PORT for pods. Outside, it is an HTTP proxy on the Unix socket SOCKET
through which kube-apiserver reaches the kubelet and pods (`--egress-selector-config-file`).
"""

import asyncio
import ctypes
import os
import socket
import sys

LOOPBACK = "127.0.0.1"
_CLONE_NEWNET = 0x40000000
_CHUNK = 256 * 1024
_libc = ctypes.CDLL(None, use_errno=True)


class Network:
    """Another network namespace. A socket stays in the namespace in which it was created."""

    def __init__(self, path: str) -> None:
        self._there = os.open(path, os.O_RDONLY)
        self._here = os.open("/proc/self/ns/net", os.O_RDONLY)

    def socket(self) -> socket.socket:
        self._enter(self._there)
        try:
            made = socket.socket(proto=socket.IPPROTO_TCP)
        finally:
            self._enter(self._here)
        made.setblocking(False)
        return made

    def _enter(self, namespace: int) -> None:
        if _libc.setns(namespace, _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")


class Relay:
    def __init__(self, network: Network, port: int) -> None:
        self._network = network
        self._port = port

    async def serve(self, address: str, path: str) -> None:
        """Serve until the process is killed."""
        for host in (LOOPBACK, address):
            listener = self._network.socket()
            listener.bind((host, self._port))
            await asyncio.start_server(self._outwards, sock=listener)
        outside = await asyncio.start_unix_server(self._inwards, path)
        await outside.serve_forever()

    async def _outwards(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            server = await asyncio.open_connection(LOOPBACK, self._port)
        except OSError:
            # kube-apiserver was killed.
            writer.transport.abort()
            return
        await _carry((reader, writer), server)

    async def _inwards(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Handle CONNECT HOST:PORT and forward the bytes of the connection."""
        request = await reader.readuntil(b"\r\n\r\n")
        host, _, port = request.split()[1].decode().rpartition(":")
        called = self._network.socket()
        try:
            await asyncio.get_running_loop().sock_connect(called, (host, int(port)))
        except OSError as error:
            called.close()
            writer.write(f"HTTP/1.1 502 {error.strerror}\r\n\r\n".encode())
            writer.close()
            return
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await _carry((reader, writer), await asyncio.open_connection(sock=called))


Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _carry(one: Stream, other: Stream) -> None:
    """Copy data in both directions until either side closes."""
    ways = {
        asyncio.create_task(_pump(one[0], other[1])),
        asyncio.create_task(_pump(other[0], one[1])),
    }
    _, waiting = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    for way in waiting:
        way.cancel()
    for _, writer in (one, other):
        writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy data with backpressure."""
    try:
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    except OSError:
        # The connection was reset; the other side is closed by the caller.
        return


if __name__ == "__main__":
    _network, _address, _port, _path = sys.argv[1:]
    asyncio.run(Relay(Network(_network), int(_port)).serve(_address, _path))
