"""Concurrent writes to kube-apiserver from one process."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
import msgspec

#: Measured: more writers are not faster on two cores.
WRITERS = 48

T = TypeVar("T")


class WriteRefused(Exception):
    """Raised if kube-apiserver rejects a write. `str()` contains its response."""


@dataclass(frozen=True, slots=True)
class Access:
    """Server and credentials for writes."""

    url: str
    ca_file: Path
    token: str


class Writer:
    """HTTP client with one connection pool. Use it within one event loop, and call `close`."""

    def __init__(self, access: Access) -> None:
        tls = ssl.create_default_context(cafile=str(access.ca_file))
        self._url = access.url
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=tls, limit=WRITERS),
            headers={"Authorization": f"Bearer {access.token}", "User-Agent": "quarterdeck-bench"},
        )

    async def close(self) -> None:
        await self._session.close()

    async def send(self, method: str, path: str, body: Any, *, manager: str) -> bytes:
        """Send a request and return the response body. `manager` is the field manager."""
        async with self._session.request(
            method,
            f"{self._url}{path}?fieldManager={manager}",
            data=msgspec.json.encode(body),
            headers={"Content-Type": "application/json"},
        ) as response:
            answer = await response.read()
            if response.status >= 300:
                raise WriteRefused(f"{method} {path}: {response.status} {answer[:500]!r}")
            return answer


async def spread(items: Iterable[T], work: Callable[[T], Awaitable[None]]) -> None:
    """Run `work` for each item, `WRITERS` at a time. The first failure cancels all others."""
    rest = iter(items)

    async def one() -> None:
        for item in rest:
            await work(item)

    async with asyncio.TaskGroup() as group:
        for _ in range(WRITERS):
            group.create_task(one())
