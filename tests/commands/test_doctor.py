"""Checks of the doctor command that need no cluster."""

import pytest

from console.kube.compatibility import LIMITATIONS, ServerVersion
from console.management.commands.doctor import server_lines, unresolvable_host
from console.proxying.address import ProxyBase, read_proxy_base

CONSOLE = "https://console.example.com"


@pytest.mark.parametrize("given", ["", "http://ports.localhost:8000"])
def test_resolvable_proxy_base_is_accepted(given: str) -> None:
    console = "http://127.0.0.1:8000" if given else CONSOLE
    assert unresolvable_host(read_proxy_base(given, console)) == ""


def test_unresolvable_proxy_host_is_reported() -> None:
    base = ProxyBase("https", "ports.nowhere.invalid", 443)
    assert unresolvable_host(base) == f"{'0' * 32}.ports.nowhere.invalid"


@pytest.mark.parametrize(
    ("minor", "text"),
    [
        (20, "Kubernetes v1.20.0 is not supported. Supported versions: 1.21 to 1.36"),
        (21, "Kubernetes v1.21.0 is supported (versions 1.21 to 1.36)"),
        (37, "Kubernetes v1.37.0 is newer than the tested versions, 1.21 to 1.36"),
    ],
)
def test_version_of_the_server_is_reported(minor: int, text: str) -> None:
    assert [*server_lines(ServerVersion((1, minor), f"v1.{minor}.0"), ())] == [text]
    assert "could not be read" in next(server_lines(None, ()))


def test_missing_protections_are_reported() -> None:
    [_version, *lines, hint] = server_lines(ServerVersion((1, 21), "v1.21.0"), LIMITATIONS)
    assert len(lines) == len(LIMITATIONS)
    assert lines[0].startswith("Missing protection before Kubernetes 1.30: No admission policy ")
    assert lines[-1].startswith("Limitation before Kubernetes 1.22: The cluster's signer ")
    assert "docs/kubernetes-versions.md" in hint
