"""Baseline process that only reads the bytes of a watch and records when each change arrives.

It reads an `WatchParameters` from stdin, writes an empty line once it watches, and writes its
observations when stdin is closed. On a busy machine, kube-apiserver terminates slow watches,
including this one.
"""

import asyncio
import re
import ssl
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import suppress

import aiohttp
import msgspec

from bench.cluster import LoadedControlPlane

_VERSION = re.compile(rb'"resourceVersion":"(\d+)"')


class WatchParameters(msgspec.Struct, frozen=True):
    url: str
    ca_file: str
    token: str


async def watch(errand: WatchParameters, seen: dict[str, float]) -> None:
    """Watch until cancelled. `seen` maps resourceVersion to `time.monotonic()`."""
    tls = ssl.create_default_context(cafile=errand.ca_file)
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=tls),
        headers={"Authorization": f"Bearer {errand.token}"},
        timeout=aiohttp.ClientTimeout(total=None),
    )
    pods = f"{errand.url}/api/v1/pods"
    async with session:
        async with session.get(pods, params={"limit": "1"}) as response:
            version = _version(await response.read())
        sys.stdout.write("\n")
        sys.stdout.flush()
        while True:
            params = {"watch": "true", "resourceVersion": version}
            async with session.get(pods, params=params) as response:
                async for line in _lines(response.content):
                    version = _version(line)
                    seen[version] = time.monotonic()


async def _lines(content: aiohttp.StreamReader) -> AsyncGenerator[bytes, None]:
    rest = b""
    async for chunk in content.iter_any():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line


def _version(text: bytes) -> str:
    """Return the first resourceVersion in `text`, which is that of the list or object itself."""
    found = _VERSION.search(text)
    if found is None:
        raise ValueError(f"not from a kube-apiserver: {text[:200]!r}")
    return found.group(1).decode()


class BaselineWatcher:
    """Context manager that runs `watch` in a separate process."""

    def __init__(self, cluster: LoadedControlPlane) -> None:
        access = cluster.access
        self._errand = WatchParameters(access.url, str(access.ca_file), access.token)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "BaselineWatcher":
        process = self._process = subprocess.Popen(  # noqa: S603  ourselves
            [sys.executable, "-m", "bench.baseline"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin and process.stdout  # noqa: S101  they were asked for
        process.stdin.write(msgspec.json.encode(self._errand) + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        return self

    def seen(self) -> dict[str, float]:
        """Stop the process, and return its observations."""
        assert self._process is not None  # noqa: S101  only within the block
        output, _ = self._process.communicate()
        return msgspec.json.decode(output, type=dict[str, float])

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.terminate()
            with suppress(ValueError):
                self._process.communicate()


async def main() -> None:
    errand = msgspec.json.decode(sys.stdin.readline(), type=WatchParameters)
    seen: dict[str, float] = {}
    watching = asyncio.create_task(watch(errand, seen))
    ending = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    await asyncio.wait({watching, ending}, return_when=asyncio.FIRST_COMPLETED)
    watching.cancel()
    sys.stdout.write(msgspec.json.encode(seen).decode() + "\n")


if __name__ == "__main__":
    asyncio.run(main())
