"""Registries that the console may connect to.

Without a setting, these are all hosts with public addresses, with HTTPS on port 443. `REGISTRIES`
lists the exceptions. Link-local addresses and metadata services of clouds are always refused.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Self

from django.utils.translation import gettext as _
from yarl import URL

from console.registries.errors import RegistryError
from console.registries.references import DOCKER_HUB

Address = IPv4Address | IPv6Address

HTTPS_PORT, HTTP_PORT = 443, 80
_LISTED = re.compile(r"(?:(https|http|insecure)://)?((?:\*\.)?[a-z0-9][a-z0-9.-]*|\[[0-9a-f:.]+\])")
_HOST = re.compile(r"[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?")
#: Networks whose addresses contain IPv4 addresses: local NAT64, 6to4 and Teredo. Python calls them
#: public.
_TRANSLATED = tuple(ip_network(one) for one in ("64:ff9b:1::/48", "2002::/16", "2001::/32"))
#: The network of NAT64, in which an IPv6-only cluster finds public IPv4 addresses.
_NAT64 = ip_network("64:ff9b::/96")
#: Metadata services with addresses that are not link-local: AWS, Alibaba Cloud, Oracle Cloud.
_METADATA = tuple(ip_address(one) for one in ("fd00:ec2::254", "100.100.100.200", "192.0.0.192"))


class Transfer(Enum):
    """How the console talks to a registry that an administrator listed."""

    HTTPS = "https"
    HTTP = "http"
    #: HTTPS without verification of the certificate, if the Secret asks for it.
    INSECURE = "insecure"


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry of `REGISTRIES`. `host` may start with `*.`."""

    host: str
    port: int
    transfer: Transfer

    def matches(self, host: str, port: int) -> bool:
        if port != self.port:
            return False
        suffix = self.host.removeprefix("*")
        return host == self.host or (suffix != self.host and host.endswith(suffix))


def read_entry(text: str) -> Listed:
    """Parse an entry such as `registry.example.com:5000`. Raise `ValueError` with a message for
    operators.
    """
    address, colon, digits = text.lower().rpartition(":")
    if not (colon and digits.isdigit()):
        address, digits = text.lower(), ""
    found = _LISTED.fullmatch(address)
    if found is None or not 0 <= int(digits or 0) < 65536 or len(digits) > 5:
        raise ValueError(
            f"REGISTRIES must contain [http://|insecure://]HOST[:PORT] entries, not {text!r}"
        )
    transfer = Transfer(found[1] or "https")
    usual = HTTP_PORT if transfer is Transfer.HTTP else HTTPS_PORT
    host = found[2].strip("[]")
    # Docker Hub serves images and sign-ins at hosts of this domain.
    host = f"*.{host}" if host == DOCKER_HUB else host
    return Listed(host, int(digits or usual), transfer)


@dataclass(frozen=True, slots=True)
class RegistryPolicy:
    """The settings. With `is_restricted`, only the `listed` registries can be used."""

    listed: Sequence[Listed] = ()
    is_restricted: bool = False

    @classmethod
    def of(cls, entries: Sequence[str], *, is_restricted: bool = False) -> Self:
        """Return the policy of a setting. Raise `ValueError`."""
        return cls(tuple(read_entry(one) for one in entries), is_restricted)

    def entry(self, host: str, port: int) -> Listed | None:
        return next((one for one in self.listed if one.matches(host, port)), None)

    def transfer(self, host: str, port: int | None) -> Transfer:
        """Return how to talk to the registry at `host`, with the port in its address or None."""
        if port is None and self.entry(host, HTTPS_PORT) is None:
            plain = self.entry(host, HTTP_PORT)
            return plain.transfer if plain is not None else Transfer.HTTPS
        found = self.entry(host, HTTPS_PORT if port is None else port)
        return found.transfer if found is not None else Transfer.HTTPS

    def check_url(self, url: URL) -> tuple[str, int]:
        """Return host and port of a URL that may be requested, if its addresses are allowed, too.
        Raise `RegistryError`.
        """
        host, port = url.raw_host or "", url.port or 0
        literal = _literal(host)
        if "@" in url.raw_authority or not (literal or _HOST.fullmatch(host)):
            raise invalid_address()
        words = {"host": host if port == HTTPS_PORT else f"{host}:{port}"}
        found = self.entry(host, port)
        if found is None and self.is_restricted:
            raise not_listed(_("%(host)s is not one of the allowed registries.") % words)
        is_plain = found is not None and found.transfer is Transfer.HTTP
        if url.scheme not in ("https", "http") or (url.scheme == "http" and not is_plain):
            raise not_listed(_("%(host)s would be used without encryption.") % words)
        if found is None and port != HTTPS_PORT:
            raise not_listed(_("%(host)s uses another port than 443.") % words)
        if literal is not None:
            self.check_address(host, port, literal)
        return host, port

    def check_address(self, host: str, port: int, address: Address) -> None:
        """Raise `RegistryError` if the console must not connect to this address of a host."""
        if isinstance(address, IPv6Address):
            inside = IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None
            address = address.ipv4_mapped or inside or address
        if _is_forbidden(address):
            raise RegistryError(
                _("%(host)s has an address that is never allowed.") % {"host": host}
            )
        if self.entry(host, port) is None and not _is_public(address):
            raise not_listed(_("%(host)s has a private address.") % {"host": host})


def not_listed(text: str) -> RegistryError:
    """Return the error about a host without an entry."""
    hint = _("An administrator can add the host to REGISTRIES.")
    return RegistryError(f"{text} {hint}")


def invalid_address() -> RegistryError:
    return RegistryError(_("The address of the registry is not valid."))


def _literal(host: str) -> Address | None:
    """Return the address of a host that is one. Raise `RegistryError` for another spelling of one,
    such as `127.1`, which the HTTP client would connect to without resolving it.
    """
    try:
        found = ip_address(host)
    except ValueError:
        if ":" in host or host.replace(".", "").isdigit():
            raise invalid_address() from None
        return None
    if isinstance(found, IPv6Address) and found.scope_id:
        raise invalid_address()
    return found


def _is_forbidden(address: Address) -> bool:
    return (
        address.is_link_local
        or address.is_multicast
        or address.is_unspecified
        or address in _METADATA
        or any(address in one for one in _TRANSLATED)
    )


def _is_public(address: Address) -> bool:
    return address.is_global and not address.is_reserved
