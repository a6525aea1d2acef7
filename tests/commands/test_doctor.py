"""What the doctor finds without a cluster."""

import pytest

from console.management.commands.doctor import without_address
from console.proxying.address import ProxyBase, read_proxy_base

CONSOLE = "https://console.example.com"


@pytest.mark.parametrize("given", ["", "http://ports.localhost:8000"])
def it_finds_nothing_where_browsers_find_the_way(given: str) -> None:
    console = "http://127.0.0.1:8000" if given else CONSOLE
    assert without_address(read_proxy_base(given, console)) == ""


def it_names_a_host_that_nobody_finds() -> None:
    base = ProxyBase("https", "ports.nowhere.invalid", 443)
    assert without_address(base) == f"{'0' * 32}.ports.nowhere.invalid"
