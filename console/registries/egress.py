"""HTTPS requests to hosts that users name, with checked addresses.

A host is resolved once per connection. All its addresses are checked, and the connection is opened
to one of these. Redirects are checked in the same way, and receive no credentials of another host.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from types import TracebackType
from typing import Any, Self

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from django.utils.translation import gettext as _
from yarl import URL

from console.registries.errors import RegistryError, UntrustedRegistry
from console.registries.policy import HTTPS_PORT, RegistryPolicy, invalid_address

#: Seconds for all requests of an operation, and to open one connection.
DEADLINE, CONNECT_TIMEOUT = 8.0, 5.0
#: Maximum size of a response in bytes. Registries limit manifests to 4 MiB.
MAX_BYTES = 4 * 2**20
MAX_REDIRECTS = 3
_REDIRECTS = (301, 302, 303, 307, 308)
#: Resolves a host name and port to addresses, as `loop.getaddrinfo` does.
Resolve = Callable[[str, int, int], Awaitable[Sequence[Any]]]


@dataclass(frozen=True, slots=True)
class RegistryResponse:
    """A response. Names of `headers` are lowercase. `url` is the address after redirects."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: URL


async def _getaddrinfo(host: str, port: int, family: int) -> Sequence[Any]:
    loop = asyncio.get_running_loop()
    return await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, family=family)


class _CheckedResolver(AbstractResolver):
    """Resolves host names, and refuses a host if one of its addresses is not allowed."""

    def __init__(self, policy: RegistryPolicy, resolve: Resolve) -> None:
        self._policy, self._resolve = policy, resolve

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = []
        for one, _type, proto, _name, address in await self._resolve(host, port, family):
            self._policy.check_address(host, port, ip_address(address[0]))
            found.append(
                ResolveResult(
                    hostname=host,
                    host=address[0],
                    port=port,
                    family=one,
                    proto=proto,
                    flags=socket.AI_NUMERICHOST,
                )
            )
        return found

    async def close(self) -> None:
        return


class Egress:
    """The connections of one operation. All requests together end after `DEADLINE`."""

    def __init__(
        self, policy: RegistryPolicy, tls: ssl.SSLContext, resolve: Resolve | None = None
    ) -> None:
        self.policy = policy
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                resolver=_CheckedResolver(policy, resolve or _getaddrinfo),
                use_dns_cache=False,
                ssl=tls,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT),
        )
        self._deadline = asyncio.timeout(DEADLINE)

    async def __aenter__(self) -> Self:
        await self._deadline.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._session.close()
        try:
            await self._deadline.__aexit__(kind, error, trace)
        except TimeoutError as timeout:
            raise _no_response(DEADLINE) from timeout

    async def get(
        self, address: str, headers: Mapping[str, str], *, follows: bool = False
    ) -> RegistryResponse:
        """Send a request. With `follows`, follow redirects. Raise `RegistryError`."""
        sent = {**headers, "Accept-Encoding": "identity"}
        url = read_url(address)
        for _number in range(MAX_REDIRECTS + 1):
            found = await self._get(url, sent)
            if not (follows and found.status in _REDIRECTS and "location" in found.headers):
                return found
            target = url.join(read_url(found.headers["location"]))
            if (target.scheme, target.raw_authority) != (url.scheme, url.raw_authority):
                sent.pop("Authorization", None)
            url = target
        raise RegistryError(_("The registry redirects too often."))

    async def _get(self, url: URL, headers: Mapping[str, str]) -> RegistryResponse:
        host, port = self.policy.check_url(url)
        try:
            async with self._session.get(url, headers=headers, allow_redirects=False) as response:
                body = await _body(response)
                found = {name.lower(): value for name, value in response.headers.items()}
                return RegistryResponse(response.status, found, body, url)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # The operation's own timeout is reported by `__aexit__`.
            raise _failure(error, host if port == HTTPS_PORT else f"{host}:{port}") from error


def read_url(text: str) -> URL:
    """Parse an address in the way that requests do. Raise `RegistryError`."""
    try:
        return URL(text)
    except ValueError as error:
        raise invalid_address() from error


async def _body(response: aiohttp.ClientResponse) -> bytes:
    found = bytearray()
    async for piece in response.content.iter_any():
        found += piece
        if len(found) > MAX_BYTES:
            raise RegistryError(_("The response of the registry is too large."))
    return bytes(found)


def _no_response(seconds: float) -> RegistryError:
    return RegistryError(_("No response within %(seconds)d seconds.") % {"seconds": seconds})


def _failure(error: Exception, host: str) -> RegistryError:
    words = {"host": host}
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return UntrustedRegistry(
            _("The certificate of %(host)s is not trusted: %(reason)s.")
            % {**words, "reason": _reason(error.certificate_error)}
        )
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return RegistryError(_("The host %(host)s was not found.") % words)
    if isinstance(error, aiohttp.ClientSSLError):
        return RegistryError(_("%(host)s does not accept HTTPS.") % words)
    if isinstance(error, TimeoutError):
        return _no_response(CONNECT_TIMEOUT)
    if isinstance(error, aiohttp.ClientConnectorError):
        return RegistryError(_("%(host)s refused the connection.") % words)
    return RegistryError(_("%(host)s gave no valid response.") % words)


def _reason(error: Exception) -> str:
    """Return OpenSSL's reason, such as `unable to get local issuer certificate`."""
    found = getattr(error, "verify_message", "")
    return str(found).rstrip(".") or _("invalid certificate")
