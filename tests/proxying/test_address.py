"""Validation of PROXY_BASE_URL, and the recognition of requests to open ports."""

import os
import subprocess
import sys

import pytest

from console.proxying.address import ProxyBase, read_proxy_base

LABEL = "0123456789abcdef0123456789abcdef"
CONSOLE = "https://console.example.com"
DEMO = "http://127.0.0.1:8000"


@pytest.mark.parametrize(
    ("given", "base", "found"),
    [
        ("", CONSOLE, None),
        ("https://ports.example.com", CONSOLE, ProxyBase("https", "ports.example.com", 443)),
        ("https://ports.example.com/", CONSOLE, ProxyBase("https", "ports.example.com", 443)),
        ("https://Ports.Example.net:8443", CONSOLE, ProxyBase("https", "ports.example.net", 8443)),
        ("http://ports.localhost:8000", DEMO, ProxyBase("http", "ports.localhost", 8000)),
    ],
)
def test_valid_proxy_base_url_is_accepted(given: str, base: str, found: ProxyBase | None) -> None:
    assert read_proxy_base(given, base) == found


@pytest.mark.parametrize(
    ("given", "base"),
    [
        # The console's own host, its parent domains and its subdomains.
        (CONSOLE, CONSOLE),
        ("https://console.example.com:8443", CONSOLE),
        ("https://CONSOLE.example.com", CONSOLE),
        ("https://ports.console.example.com", CONSOLE),
        ("https://example.com", CONSOLE),
        ("http://ports.localhost:8000", "http://localhost:8000"),
        # Without TLS, anyone on the network path can set cookies. Only this machine may use plain
        # HTTP.
        ("http://ports.example.com", CONSOLE),
        ("http://ports.example.com", "http://console.example.com"),
        ("https://ports.example.com", DEMO),
        ("http://ports.example.com", DEMO),
        # Hosts that can't have subdomains.
        ("https://localhost", CONSOLE),
        ("https://10.0.0.1", CONSOLE),
        ("https://[::1]", CONSOLE),
        ("https://ports..example.com", CONSOLE),
        ("https://-ports.example.com", CONSOLE),
        ("https://pörts.example.com", CONSOLE),
        ("https://", CONSOLE),
        # Not the URL of a host.
        ("ports.example.com", CONSOLE),
        ("ftp://ports.example.com", CONSOLE),
        ("https://ports.example.com/console", CONSOLE),
        ("https://ports.example.com?a=b", CONSOLE),
        ("https://ports.example.com#a", CONSOLE),
        ("https://admin@ports.example.com", CONSOLE),
        ("https://ports.example.com:port", CONSOLE),
        ("https://ports.example.com:99999", CONSOLE),
        ("https://[ports", CONSOLE),
    ],
)
def test_base_url_that_shares_cookies_or_origin_with_the_console_is_refused(
    given: str, base: str
) -> None:
    with pytest.raises(ValueError, match="PROXY_BASE_URL"):
        read_proxy_base(given, base)


@pytest.mark.parametrize(
    ("host", "label"),
    [
        (f"{LABEL}.ports.example.com", LABEL),
        (f"{LABEL.upper()}.PORTS.example.com", LABEL),
        (f"{LABEL}.ports.example.com:443", LABEL),
        ("ports.example.com", ""),
        ("nothing.ports.example.com", ""),
        (f"x.{LABEL}.ports.example.com", ""),
        (f"{LABEL}{LABEL}.ports.example.com", ""),
        (f"{LABEL}.ports.example.com:8443", None),
        (f"{LABEL}.ports.example.com.", None),
        (f"{LABEL}ports.example.com", None),
        ("console.example.com", None),
        ("example.com", None),
        ("", None),
        (":443", None),
    ],
)
def test_label_of_the_host_identifies_the_port(host: str, label: str | None) -> None:
    assert ProxyBase("https", "ports.example.com", 443).label_of(host) == label


def test_non_default_port_is_part_of_the_origin() -> None:
    base = ProxyBase("http", "ports.localhost", 8000)
    assert base.origin(LABEL) == f"http://{LABEL}.ports.localhost:8000"
    assert base.label_of(f"{LABEL}.ports.localhost:8000") == LABEL
    assert base.label_of(f"{LABEL}.ports.localhost") is None


@pytest.mark.programs
def test_serve_does_not_start_with_an_invalid_proxy_base_url() -> None:
    environment = {**os.environ, "BASE_URL": CONSOLE, "PROXY_BASE_URL": CONSOLE}
    done = subprocess.run(
        [sys.executable, "manage.py", "serve"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.strip().startswith(
        "PROXY_BASE_URL (console.example.com) must not be the host"
    )
