"""Where an attempt comes from, as far as that can be known."""

from dataclasses import dataclass
from ipaddress import IPv6Address, ip_network

from django.conf import settings
from django.http import HttpRequest

from console.audit.source import parse_address, source_address

MAX_ADDRESS, MAX_AGENT = 64, 256


@dataclass(frozen=True, slots=True)
class Origin:
    """`address`: an IP address, or "" for nobody knows. `user_agent`: as sent, cut, without what
    cannot be seen."""

    address: str = ""
    user_agent: str = ""

    @property
    def network(self) -> str:
        """What is counted as one source: an IPv4 address, or the /64 that one IPv6 customer has."""
        found = parse_address(self.address)
        if isinstance(found, IPv6Address):
            return str(ip_network((found, 64), strict=False))
        return str(found) if found is not None else ""


NOWHERE = Origin()


def origin_of(request: HttpRequest) -> Origin:
    """Forwarded addresses count from `TRUSTED_PROXIES` alone."""
    address = source_address(
        request.META.get("REMOTE_ADDR") or "",
        request.headers.get("X-Forwarded-For", ""),
        settings.TRUSTED_PROXIES,
    )
    agent = "".join(c if c.isprintable() else "?" for c in request.headers.get("User-Agent", ""))
    return Origin(address[:MAX_ADDRESS], agent[:MAX_AGENT])
