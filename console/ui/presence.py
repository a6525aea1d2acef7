"""Who somebody is and what they may do, for what outlasts the request that began it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from console.ui.access import Access
from console.ui.clusters import Cluster


@dataclass(frozen=True, slots=True)
class Presence:
    """`lasts`: looks up whether the session or token that the request came with still makes its viewer
    the same. `access_in`: what the viewer may do in a cluster, at each question anew. `session`: its key,
    "" for a token's."""

    lasts: Callable[[], Awaitable[bool]]
    access_in: Callable[[Cluster], Access]
    session: str = ""
