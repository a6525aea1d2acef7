"""Wait until the cache contains a write, so that the next page shows it."""

import asyncio
from collections.abc import Callable
from typing import Any

from console.kube.gvr import Key
from console.kube.informer import Informer
from console.kube.store import is_older

#: Seconds.
TIMEOUT = 5.0


async def wait_until(informer: Informer[Any], is_so: Callable[[], bool], timeout: float) -> bool:
    """Return True as soon as `is_so()` is true, or False after `timeout` seconds.

    `is_so` is called whenever the informer changes. The informer may run on another loop.
    """
    loop, changed = asyncio.get_running_loop(), asyncio.Event()

    def signal() -> None:
        loop.call_soon_threadsafe(changed.set)

    remove = informer.add_listener(lambda _key: signal(), signal)
    try:
        async with asyncio.timeout(timeout):
            while not is_so():
                await changed.wait()
                changed.clear()
    except TimeoutError:
        return False
    finally:
        remove()
    return True


async def wait_for_cache(
    informer: Informer[Any], key: Key, version: str, *, timeout: float = TIMEOUT
) -> bool:
    """Return True as soon as the cache has the object in this version or later, or False on
    timeout.

    With an empty `version`, wait until the object is removed from the cache. `timeout` is in
    seconds.
    """

    def is_there() -> bool:
        entry = informer.store.get(key)
        if not version:
            return entry is None
        return entry is not None and not is_older(entry.resource_version, version)

    return await wait_until(informer, is_there, timeout)
