"""Steps of a kube-apiserver model (see `tests.kube.model`)."""

from dataclasses import dataclass

import msgspec

from console.kube.errors import (
    Forbidden,
    Gone,
    ServerError,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)

# Changes of objects.


@dataclass(frozen=True)
class Put:
    """Create or change an object."""

    name: str


@dataclass(frozen=True)
class Drop:
    """Delete an object if it exists."""

    name: str


@dataclass(frozen=True)
class Again:
    """Delete an object and recreate it with the same name."""

    name: str


@dataclass(frozen=True)
class Compact:
    """Compact the history."""


@dataclass(frozen=True)
class Restore:
    """Restore an earlier version as from a backup, and break all connections."""

    back: int


@dataclass(frozen=True)
class Lag:
    """Serve lists from a cache that is this many versions behind."""

    versions: int


@dataclass(frozen=True)
class Elsewhere:
    """Write an object of another type: the version increases without an event."""


@dataclass(frozen=True)
class Slow:
    """Let time pass."""

    seconds: float


@dataclass(frozen=True)
class Wake:
    """Notify a waiting client that the server is available again."""


# Steps of a response.


@dataclass(frozen=True)
class Deliver:
    """Accept a request, or deliver some events or one batch of a list."""

    count: int = 1


@dataclass(frozen=True)
class Bookmark:
    """Send a bookmark to a watch."""


@dataclass(frozen=True)
class Fail:
    """Fail with `code`. With 0 the connection breaks, with -1 it breaks within an object."""

    code: int
    retry_after: float | None = None

    def error(self) -> Exception:
        match self.code:
            case 0:
                return Unavailable("reset")
            case -1:
                return msgspec.DecodeError("cut off")
            case 401:
                return Unauthorized(401, "who are you")
            case 403:
                return Forbidden(403, "no")
            case 410:
                return Gone(410, "expired")
            case 429:
                return TooManyRequests(429, "slow down", retry_after=self.retry_after)
            case code:
                return ServerError(code, "broken", retry_after=self.retry_after)


@dataclass(frozen=True)
class End:
    """End a watch, as a server may at any time."""


Change = Put | Drop | Again | Elsewhere | Compact | Restore | Lag | Slow | Wake
Course = Deliver | Bookmark | Fail | End
Step = Change | Course
