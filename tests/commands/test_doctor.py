"""Checks of the doctor command that need no cluster."""

import pytest

from console.management.commands.doctor import unresolvable_host
from console.proxying.address import ProxyBase, read_proxy_base

CONSOLE = "https://console.example.com"


@pytest.mark.parametrize("given", ["", "http://ports.localhost:8000"])
def test_resolvable_proxy_base_is_accepted(given: str) -> None:
    console = "http://127.0.0.1:8000" if given else CONSOLE
    assert unresolvable_host(read_proxy_base(given, console)) == ""


def test_unresolvable_proxy_host_is_reported() -> None:
    base = ProxyBase("https", "ports.nowhere.invalid", 443)
    assert unresolvable_host(base) == f"{'0' * 32}.ports.nowhere.invalid"
