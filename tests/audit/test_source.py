"""Source addresses that clients cannot forge."""

from ipaddress import ip_network

import pytest

from console.audit.client_address import client_address, is_trusted

PROXIES = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("198.51.100.7", "", "198.51.100.7"),
        ("198.51.100.7", "203.0.113.9", "198.51.100.7"),
        ("10.1.1.1", "", "10.1.1.1"),
        ("10.1.1.1", "203.0.113.9", "203.0.113.9"),
        ("10.1.1.1", "1.2.3.4, 203.0.113.9", "203.0.113.9"),
        ("10.1.1.1", "1.2.3.4, 203.0.113.9, 10.2.2.2", "203.0.113.9"),
        ("10.1.1.1", "10.3.3.3, 10.2.2.2", "10.3.3.3"),
        ("10.1.1.1", "203.0.113.9, junk", "10.1.1.1"),
        ("10.1.1.1", "203.0.113.9,", "10.1.1.1"),
        ("10.1.1.1", "<script>", "10.1.1.1"),
        ("::ffff:10.1.1.1", "203.0.113.9", "203.0.113.9"),
        ("fd00::1", " 2001:db8::5 ", "2001:db8::5"),
        ("", "203.0.113.9", ""),
    ],
)
def test_the_source_is_the_nearest_untrusted_hop(peer: str, forwarded: str, expected: str) -> None:
    assert client_address(peer, forwarded, PROXIES) == expected


def test_no_peer_is_trusted_without_proxies() -> None:
    assert not is_trusted("10.1.1.1", ())
    assert not is_trusted("unix:", PROXIES)
