"""What may happen to a model of kube-apiserver (see `tests.kube.model`), one step at a time."""

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

# The world changes.


@dataclass(frozen=True)
class Put:
    """Creates or changes an object."""

    name: str


@dataclass(frozen=True)
class Drop:
    """Deletes it, if it is there."""

    name: str


@dataclass(frozen=True)
class Again:
    """Deletes it and makes another of the same name."""

    name: str


@dataclass(frozen=True)
class Compact:
    """Forgets what was before."""


@dataclass(frozen=True)
class Restore:
    """Goes back by so many versions, as from a backup; connections break."""

    back: int


@dataclass(frozen=True)
class Lag:
    """Lists from memory are from now on so many versions old."""

    versions: int


@dataclass(frozen=True)
class Elsewhere:
    """An object of another type is written: the version grows, and there is nothing to tell."""


@dataclass(frozen=True)
class Slow:
    """Time passes."""

    seconds: float


@dataclass(frozen=True)
class Wake:
    """Somebody tells a waiting client that the server is back."""


# The answer goes on, or not.


@dataclass(frozen=True)
class Deliver:
    """So many events, or one batch of a list; a call is accepted."""

    count: int = 1


@dataclass(frozen=True)
class Bookmark:
    """Tells a watch how far it is."""


@dataclass(frozen=True)
class Fail:
    """`code` 0: the connection breaks; -1: it breaks within an object."""

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
    """The server ends a watch, as it may at any time."""


Change = Put | Drop | Again | Elsewhere | Compact | Restore | Lag | Slow | Wake
Course = Deliver | Bookmark | Fail | End
Step = Change | Course
