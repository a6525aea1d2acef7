"""Record responses of a real server: a list of all pods and a watch of subsequent changes."""

import asyncio
import ssl
from dataclasses import dataclass

import aiohttp
import msgspec

from bench.churn import change, order
from bench.cluster import LoadedControlPlane
from bench.writing import Access

_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Recording:
    """`listing`: a list response of all pods. `stream`: the bytes of a watch with `events` complete
    lines.
    """

    listing: bytes
    stream: bytes
    events: int


class _ListMeta(msgspec.Struct):
    resourceVersion: str


class _List(msgspec.Struct):
    """A list or a single object, which have this part in common."""

    metadata: _ListMeta


class _Event(msgspec.Struct):
    object: _List


async def record(cluster: LoadedControlPlane, changes: int, generation: int) -> Recording:
    """Change pods and record the watch. Raise OSError or TimeoutError."""
    access = cluster.access
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=str(access.ca_file))),
        headers={"Authorization": f"Bearer {access.token}", "Accept": "application/json"},
    )
    async with session:
        listing, version = await _list(session, access)
        account = await change(order(cluster, _SECONDS, 0, generation, changes=changes))
        # Watch after all writes, from the server's cache: kube-apiserver closes a watch that is
        # read too slowly.
        async with asyncio.timeout(_SECONDS):
            stream = await _watch(session, access, version, len(account.acknowledged))
    return Recording(listing, stream, stream.count(b"\n"))


async def _list(session: aiohttp.ClientSession, access: Access) -> tuple[bytes, str]:
    async with session.get(f"{access.url}/api/v1/pods") as response:
        response.raise_for_status()
        listing = await response.read()
    return listing, msgspec.json.decode(listing, type=_List).metadata.resourceVersion


async def _watch(session: aiohttp.ClientSession, access: Access, version: str, lines: int) -> bytes:
    """Return the bytes of at least `lines` complete lines."""
    stream = b""
    while (seen := stream.count(b"\n")) < lines:
        # kube-apiserver may close a slow watch. The next one continues after the last line.
        stream += await _watch_once(session, access, version, lines - seen)
        last = stream[stream.rfind(b"\n", 0, -1) + 1 :]
        version = msgspec.json.decode(last, type=_Event).object.metadata.resourceVersion
    return stream


async def _watch_once(
    session: aiohttp.ClientSession, access: Access, version: str, lines: int
) -> bytes:
    stream = bytearray()
    seen = 0
    params = {"watch": "true", "resourceVersion": version}
    async with session.get(f"{access.url}/api/v1/pods", params=params) as response:
        response.raise_for_status()
        async for chunk in response.content.iter_any():
            stream += chunk
            seen += chunk.count(b"\n")
            if seen >= lines:
                break
    if not seen:
        raise OSError("a watch ended without any change")
    return bytes(stream[: stream.rfind(b"\n") + 1])
