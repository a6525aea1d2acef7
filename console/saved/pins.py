"""Kinds that users have pinned to a cluster's menu. Synchronous, except `cached_pins`: don't call these
functions on the event loop.
"""

import time
from collections.abc import Mapping
from threading import Lock

from console.saved.models import Pin

#: Segments of pinned kinds by cluster, in the order they were pinned.
Pins = Mapping[str, tuple[str, ...]]

#: Seconds that pins are cached, since every page needs them, and maximum number of cached accounts.
#: Changes in this process update the cache.
CACHE_SECONDS, MAX_CACHED_ACCOUNTS = 5.0, 1000

_known: dict[str, tuple[Pins, float]] = {}
_lock = Lock()


def cached_pins(account: str) -> Pins | None:
    """Return the cached pins, or None if they are missing or expired. Never blocks, so it may be
    called on the event loop.
    """
    found = _known.get(account)
    return found[0] if found and time.monotonic() - found[1] < CACHE_SECONDS else None


def load_pins(account: str) -> Pins:
    """Read the pins of an account from the database and cache them."""
    read, found = time.monotonic(), dict[str, tuple[str, ...]]()
    for pin in Pin.objects.filter(account=account):
        found[pin.cluster] = (*found.get(pin.cluster, ()), pin.kind)
    with _lock:
        if len(_known) >= MAX_CACHED_ACCOUNTS:
            _known.clear()
        _known[account] = found, read
    return found


def pin(account: str, cluster: str, kind: str) -> None:
    Pin.objects.get_or_create(account=account, cluster=cluster, kind=kind)
    _known.pop(account, None)


def unpin(account: str, cluster: str, kind: str) -> None:
    Pin.objects.filter(account=account, cluster=cluster, kind=kind).delete()
    _known.pop(account, None)


def unpin_all(account: str) -> None:
    Pin.objects.filter(account=account).delete()
    _known.pop(account, None)


def clear_cache() -> None:
    """Clear the cache. For tests that simulate another process."""
    _known.clear()
