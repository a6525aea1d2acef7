"""Client address of a request."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Networks = Sequence[IPv4Network | IPv6Network]


def parse_address(text: str) -> Address | None:
    """Parse an address without port. Drop zone and brackets, and convert IPv4-mapped IPv6 addresses
    to IPv4.
    """
    try:
        address = ip_address(text.strip().strip("[]").partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address


def is_trusted(peer: str, proxies: Networks) -> bool:
    """Return True if `peer` is a proxy whose `X-Forwarded-*` headers are trusted."""
    address = parse_address(peer)
    return address is not None and any(address in network for network in proxies)


def client_address(peer: str, forwarded_for: str, proxies: Networks) -> str:
    """Return the peer's address or, if the peer is a trusted proxy, the nearest address that is not
    a trusted proxy.

    `forwarded_for` contains the values of `X-Forwarded-For` in order. Each proxy appends the
    address of its peer, so only the entries up to the first untrusted address from the right are
    reliable. An invalid entry stops the search, because entries left of it are not reliable
    either.
    """
    source = peer
    for hop in reversed(forwarded_for.split(",") if forwarded_for else []):
        if not is_trusted(source, proxies):
            break
        address = parse_address(hop)
        if address is None:
            break
        source = str(address)
    return source
