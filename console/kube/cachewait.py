"""Waiting until the cache has what was just written, so that the next page shows it."""

import asyncio
from typing import Any

from console.kube.gvr import Key
from console.kube.informer import ChangeSignal, Informer
from console.kube.store import older

#: Seconds.
TIMEOUT = 5.0


async def wait_for_cache(
    informer: Informer[Any],
    key: Key,
    version: str,
    *,
    timeout: float = TIMEOUT,  # noqa: ASYNC109
) -> bool:
    """True as soon as the cache has the object in this version or a later one, or, with no version, not
    at all any more; False after `timeout` seconds."""
    with ChangeSignal(informer, asyncio.get_running_loop()) as changed:
        try:
            async with asyncio.timeout(timeout):
                while not _is_there(informer, key, version):
                    changed.clear()
                    if _is_there(informer, key, version):
                        break
                    await changed.wait()
        except TimeoutError:
            return False
    return True


def _is_there(informer: Informer[Any], key: Key, version: str) -> bool:
    entry = informer.store.get(key)
    if not version:
        return entry is None
    return entry is not None and not older(entry.resource_version, version)
