"""Identity and permissions of a user for operations that outlive the request that started them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from console.ui.access import Access
from console.ui.clusters import Cluster


@dataclass(frozen=True, slots=True)
class UserSession:
    """A user's session or token after the request.

    `lasts` returns True while the session or token still belongs to the same user. `access_in`
    returns the user's current permissions in a cluster. `session` is the session key, or "" for
    a token.
    """

    is_valid: Callable[[], Awaitable[bool]]
    access_for: Callable[[Cluster], Access]
    session: str = ""
