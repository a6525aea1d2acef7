"""Interfaces of identity providers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable


class ProviderError(Exception):
    """Error of an identity provider.

    `reason` is one word for the audit trail. `str()` returns a log message without secrets.
    """

    def __init__(self, reason: str, text: str = "") -> None:
        super().__init__(text or reason)
        self.reason = reason


class ProviderRefused(ProviderError):
    """The provider rejected the sign-in, or its response is invalid."""


class Unreachable(ProviderError):
    """The provider didn't respond in time, or its response can't be used."""


@dataclass(frozen=True, slots=True)
class Person:
    """Person authenticated by a provider.

    `subject` identifies the person; all other fields are for display or logout. `username` and
    `email` may be empty and are not validated. `sid` and `id_token` are used for logout.
    """

    subject: str
    username: str = ""
    email: str = ""
    sid: str = ""
    id_token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ProviderAttempt:
    """Random, single-use values of one sign-in, bound to one browser.

    `callback` is the URL to which the provider redirects the browser.
    """

    state: str = field(repr=False)
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)
    callback: str


@runtime_checkable
class PasswordProvider(Protocol):
    async def check(self, username: str, password: str) -> Person:
        """Authenticate a person. Raise `ProviderRefused` for a wrong name or password, or
        `Unreachable`.
        """


@runtime_checkable
class RedirectProvider(Protocol):
    @property
    def callback(self) -> str:
        """Console URL to which the provider redirects browsers."""

    async def begin(self, attempt: ProviderAttempt) -> str:
        """Return the provider URL to which the browser is redirected. Raise `Unreachable`."""

    async def finish(self, attempt: ProviderAttempt, answer: Mapping[str, str]) -> Person:
        """Return the authenticated person.

        `answer` contains the parameters of the callback. Its `state` was already compared with
        that of `attempt`. Raise `ProviderError`.
        """


@runtime_checkable
class LogoutProvider(Protocol):
    """Provider with single logout in both directions."""

    async def logout_url(self, id_token: str, back: str) -> str:
        """Return the URL that ends the provider's session, or "" if not supported."""

    async def ended(self, logout_token: str) -> "EndedSessions":
        """Return the sessions that a logout token ends. Raise `ProviderError`."""


@runtime_checkable
class CallbackLogoutProvider(Protocol):
    """Provider that reports logouts by posting a form to the callback URL."""

    async def logout_url(self, id_token: str, back: str) -> str:
        """Return the URL that ends the provider's session, or "" if not supported."""

    def ended_by(self, form: Mapping[str, str]) -> "EndedSessions":
        """Return the session that the form ends. Raise `ProviderError`."""


@dataclass(frozen=True, slots=True)
class EndedSessions:
    """Sessions ended by a logout token. `subject` or `sid` is set. `token` is the ID of the logout
    token.
    """

    subject: str
    sid: str
    token: str


Provider = PasswordProvider | RedirectProvider
