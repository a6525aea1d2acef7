"""What a real server sent: a list of all pods, and the watch of some thousand changes after it."""

import asyncio
import ssl
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import msgspec

from bench.churn import Order, change
from bench.cluster import LoadedControlPlane
from bench.writing import Access

_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Recording:
    """`listing`: a response of all pods. `stream`: a watch's bytes, whole lines, `events` of them."""

    listing: bytes
    stream: bytes
    events: int


class _ListMeta(msgspec.Struct):
    resourceVersion: str


class _List(msgspec.Struct):
    metadata: _ListMeta


async def record(cluster: LoadedControlPlane, changes: int, generation: int) -> Recording:
    """Changes pods and keeps what the watch tells of it. Raises OSError or TimeoutError."""
    access = cluster.access
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=str(access.ca_file))),
        headers={"Authorization": f"Bearer {access.token}", "Accept": "application/json"},
    )
    async with session:
        listing, version = await _list(session, access)
        account = await change(_order(access, cluster.pods, changes, generation))
        # Afterwards, from the server's memory: a watch that is read too slowly meanwhile is cut off.
        async with asyncio.timeout(_SECONDS):
            stream = await _watch(session, access, version, len(account.acknowledged))
    events = stream.count(b"\n")
    if events < len(account.acknowledged):
        raise OSError(f"the watch told of {events} changes, not of {changes}")
    return Recording(listing, stream, events)


def _order(access: Access, pods: int, changes: int, generation: int) -> Order:
    return Order(
        url=access.url,
        ca_file=str(Path(access.ca_file)),
        token=access.token,
        pods=pods,
        seconds=_SECONDS,
        generation=generation,
        changes=changes,
    )


async def _list(session: aiohttp.ClientSession, access: Access) -> tuple[bytes, str]:
    async with session.get(f"{access.url}/api/v1/pods") as response:
        response.raise_for_status()
        listing = await response.read()
    return listing, msgspec.json.decode(listing, type=_List).metadata.resourceVersion


async def _watch(session: aiohttp.ClientSession, access: Access, version: str, lines: int) -> bytes:
    """At least so many lines, if there are; what came of another is cut off."""
    stream = bytearray()
    seen = 0
    url = f"{access.url}/api/v1/pods"
    params = {"watch": "true", "resourceVersion": version}
    async with session.get(url, params=params) as response:
        response.raise_for_status()
        async for chunk in response.content.iter_any():
            stream += chunk
            seen += chunk.count(b"\n")
            if seen >= lines:
                break
    return bytes(stream[: stream.rfind(b"\n") + 1])
