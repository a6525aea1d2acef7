"""What a provider is asked, and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from console.kube.clock import Clock, SystemClock

#: Time as all providers see it.
clock: Clock = SystemClock()


class ProviderError(Exception):
    """`reason`: one word for the audit trail. `str()`: a sentence for the log, without secrets."""

    def __init__(self, reason: str, text: str = "") -> None:
        super().__init__(text or reason)
        self.reason = reason


class Refused(ProviderError):
    """Nobody was proven to be anybody: the provider says no, or its answer does not hold."""


class Unreachable(ProviderError):
    """The provider does not answer in time, or not in a way that can be used."""


@dataclass(frozen=True, slots=True)
class Person:
    """Whom a provider vouches for. `subject` is what the person is known by; all else is for display.

    `username` and `email` may be "" and may be anything. `sid` and `id_token` are for logging out.
    """

    subject: str
    username: str = ""
    email: str = ""
    sid: str = ""
    id_token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ProviderAttempt:
    """One sign-in that began here: made at random, for one use, and bound to one browser.

    `callback` is the address that the provider sends the browser back to.
    """

    state: str = field(repr=False)
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)
    callback: str


@runtime_checkable
class PasswordProvider(Protocol):
    async def check(self, username: str, password: str) -> Person:
        """Raises `Refused` for a wrong name or password, and `Unreachable`."""


@runtime_checkable
class RedirectProvider(Protocol):
    @property
    def callback(self) -> str:
        """The address of this console that browsers are sent back to."""

    async def begin(self, attempt: ProviderAttempt) -> str:
        """The address to send the browser to. Raises `Unreachable`."""

    async def finish(self, attempt: ProviderAttempt, answer: Mapping[str, str]) -> Person:
        """Who came back with `answer`, the parameters of the callback, `state` among them, which is
        that of `attempt`. Raises `ProviderError`."""


@runtime_checkable
class LogoutProvider(Protocol):
    """A provider whose own session ends with ours, and ours with its."""

    async def logout_url(self, id_token: str, back: str) -> str:
        """Where the browser ends the provider's session; "" if that is not possible."""

    async def ended(self, logout_token: str) -> "Ended":
        """Whose sessions a logout token ends. Raises `ProviderError`."""


@runtime_checkable
class CallbackLogoutProvider(Protocol):
    """A provider that says at the callback's address, by a form, that somebody logged out there."""

    async def logout_url(self, id_token: str, back: str) -> str:
        """As `LogoutProvider`'s."""

    def ended_by(self, form: Mapping[str, str]) -> "Ended":
        """Whose session the form ends. Raises `ProviderError`."""


@dataclass(frozen=True, slots=True)
class Ended:
    """At least one of `subject` and `sid` is there. `token`: the number of the logout token."""

    subject: str
    sid: str
    token: str


Provider = PasswordProvider | RedirectProvider
