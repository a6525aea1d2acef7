"""Addresses of the network."""

import socket
import sys
from typing import Any

from console.kube.store import Entry
from console.ui.columns.texts import TextColumn


def ip_order(address: str) -> tuple[int, bytes, str]:
    """IPv4 by number, then IPv6, then what is no address, then none."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            return family, socket.inet_pton(family, address), ""
        except (OSError, ValueError):
            continue
    return sys.maxsize - bool(address), b"", address


class IpColumn(TextColumn):
    """An IP address, sorted by its number."""

    def sort_key(self, entry: Entry[Any]) -> tuple[int, bytes, str]:
        return ip_order(self.get(entry.projection))
