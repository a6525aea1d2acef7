"""Where a request comes from, as far as that can be known."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Networks = Sequence[IPv4Network | IPv6Network]


def parse_address(text: str) -> Address | None:
    """An address without port, zone or brackets; IPv4 written as IPv6 is IPv4."""
    try:
        address = ip_address(text.strip().strip("[]").partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address


def is_trusted(peer: str, proxies: Networks) -> bool:
    """True if `peer` is a proxy whose `X-Forwarded-*` headers are believed."""
    address = parse_address(peer)
    return address is not None and any(address in network for network in proxies)


def source_address(peer: str, forwarded_for: str, proxies: Networks) -> str:
    """The socket's peer or, if that is a trusted proxy, the nearest hop that is not.

    `forwarded_for`: the values of `X-Forwarded-For` in their order. Each proxy appends the peer that it
    saw, so only what stands right of the first untrusted hop, counted from the right, is a witness's
    word. A hop that is no address ends the search: nothing left of it can be believed either.
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
