"""Answers questions of users about registries, with limits and a short-lived cache."""

import hashlib
import ssl
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Hashable
from functools import lru_cache
from typing import TypeVar

from django.conf import settings
from django.utils.translation import gettext as _

from console.kube.tokenbucket import TokenBucket
from console.registries.client import (
    ImageFacts,
    RegistryClient,
    TagList,
    Verified,
    open_client,
)
from console.registries.egress import Resolve
from console.registries.errors import RegistryError, UntrustedRegistry
from console.registries.logins import Login
from console.registries.policy import RegistryPolicy, Transfer, invalid_address
from console.registries.references import ImageName, registry_of, served_at, split_port

#: Operations of a user: sustained rate per second and burst.
RATE, BURST = 0.5, 20
#: Maximum number of operations of the process that run at the same time.
MAX_RUNNING = 40
#: Seconds for which answers, including failures, are reused, and the maximum number of answers.
FRESH, MAX_KEPT = 30.0, 200
_MAX_USERS = 1_000

T = TypeVar("T")


class RegistryLookups:
    """Operations on registries for users, who are limited separately.

    Answers are cached per user and credentials. All methods raise `RegistryError`. Use it from one
    event loop.
    """

    def __init__(
        self,
        policy: RegistryPolicy,
        tls: tuple[ssl.SSLContext, ssl.SSLContext],
        *,
        resolve: Resolve | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`tls` are the settings with and without verification of certificates."""
        self.policy = policy
        self._tls = tls
        self._resolve = resolve
        self._clock = clock
        self._running = 0
        self._bucket_of = lru_cache(_MAX_USERS)(
            lambda who: TokenBucket(burst=BURST, per_second=RATE)
        )
        self._kept: OrderedDict[Hashable, tuple[float, object]] = OrderedDict()

    async def verify(self, who: str, registry: str, login: Login) -> Verified:
        """Check credentials for a registry (`host[:port]`)."""
        try:
            return await self._run(who, registry, login, lambda client: client.verify())
        except UntrustedRegistry as error:
            if not self.allows_insecure(registry):
                raise
            hint = _("You can skip the verification of the certificate for this registry.")
            raise UntrustedRegistry(f"{error} {hint}") from error

    async def tags(self, who: str, image: ImageName, login: Login | None) -> TagList:
        """Return the tags of an image's repository."""
        key = ("tags", image.registry, image.repository)
        return await self._cached(
            who, key, image, login, lambda client: client.tags(image.repository)
        )

    async def image(
        self, who: str, image: ImageName, login: Login | None, architectures: Collection[str] = ()
    ) -> ImageFacts:
        """Return what an image declares, see `RegistryClient.image`."""
        key = ("image", image.registry, image.repository, image.version, frozenset(architectures))
        return await self._cached(
            who, key, image, login, lambda client: client.image(image, architectures)
        )

    def allows_insecure(self, registry: str) -> bool:
        """Return True if users may skip the verification of the registry's certificate."""
        return self.policy.transfer(*split_port(served_at(registry))) is Transfer.INSECURE

    async def _cached(
        self,
        who: str,
        key: Hashable,
        image: ImageName,
        login: Login | None,
        work: Callable[[RegistryClient], Awaitable[T]],
    ) -> T:
        full = (who, key, _digest(login))
        kept = self._kept.get(full)
        if kept is None or self._clock() - kept[0] >= FRESH:
            found: object
            try:
                found = await self._run(who, image.registry, login, work)
            except RegistryError as error:
                found = error
            self._kept.pop(full, None)
            self._kept[full] = kept = self._clock(), found
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
        if isinstance(kept[1], RegistryError):
            raise kept[1]
        return kept[1]  # type: ignore[return-value]

    async def _run(
        self,
        who: str,
        registry: str,
        login: Login | None,
        work: Callable[[RegistryClient], Awaitable[T]],
    ) -> T:
        if not registry or registry_of(registry) != registry:
            raise invalid_address()
        self._count(who)
        self._running += 1
        try:
            egress, client = open_client(self.policy, self._tls, registry, login, self._resolve)
            async with egress:
                return await work(client)
        finally:
            self._running -= 1

    def _count(self, who: str) -> None:
        """Count an operation. Raise `RegistryError` if the user started too many."""
        if self._running >= MAX_RUNNING or not self._bucket_of(who).take(self._clock()):
            raise RegistryError(_("Too many requests to registries. Try again in a few seconds."))


def _digest(login: Login | None) -> str:
    """Return a key for credentials that doesn't contain them."""
    if login is None:
        return ""
    text = f"{login.user}\0{login.password}\0{login.is_insecure}"
    return hashlib.sha256(text.encode()).hexdigest()


def tls_contexts(authorities: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return the TLS settings with and without verification. `authorities` is a PEM file with
    certificate authorities besides the system's, or "". Raise `OSError` (includes `SSLError`).
    """
    verified = ssl.create_default_context()
    if authorities:
        verified.load_verify_locations(cafile=authorities)
    unverified = ssl.create_default_context()
    unverified.check_hostname = False
    unverified.verify_mode = ssl.CERT_NONE
    return verified, unverified


@lru_cache(1)
def _lookups(policy: RegistryPolicy, authorities: str) -> RegistryLookups:
    return RegistryLookups(policy, tls_contexts(authorities))


def lookups() -> RegistryLookups:
    """Return the process's operations on registries."""
    return _lookups(settings.REGISTRY_POLICY, settings.REGISTRY_CA)
