"""The kinds that somebody has pinned to the rail of a cluster. Synchronous, but `known`: call it off the
loop."""

import time
from collections.abc import Mapping
from threading import Lock

from console.saved.models import Pin

#: Clusters, each with the segments of the kinds that are pinned there, in the order in which they were.
Pins = Mapping[str, tuple[str, ...]]

#: Seconds for which pins are remembered, and accounts whose are: every page asks. A change in this
#: process counts at once.
FRESH, ACCOUNTS = 5.0, 1000

_known: dict[str, tuple[Pins, float]] = {}
_lock = Lock()


def known(account: str) -> Pins | None:
    """Those that were read a moment ago, if they were. Never waits: it may be called on the loop."""
    found = _known.get(account)
    return found[0] if found and time.monotonic() - found[1] < FRESH else None


def pins_of(account: str) -> Pins:
    """Those that there are now."""
    read, found = time.monotonic(), dict[str, tuple[str, ...]]()
    for pin in Pin.objects.filter(account=account):
        found[pin.cluster] = (*found.get(pin.cluster, ()), pin.kind)
    with _lock:
        if len(_known) >= ACCOUNTS:
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


def forget_all() -> None:
    """What is remembered, as in another process."""
    _known.clear()
