"""What every test shares: the real control plane, what was left out, and further chances."""

from pathlib import Path

import pytest

pytest_plugins = ["tests.controlplane.plugin"]

#: Tests of several real programs that run side by side. A busy machine may stop one of them for longer
#: than the test waits, so they are tried again, at most twice; the run's last lines list each that was.
_SIDE_BY_SIDE = (
    "accounts",
    "browser",
    "chaos",
    "commands",
    "contract",
    "controlplane",
    "hostile",
    "live",
    "rbac",
    "server",
    "workspaces",
)
_FOLDER = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.relative_to(_FOLDER).parts[0] in _SIDE_BY_SIDE:
            item.add_marker(pytest.mark.flaky(reruns=2, reruns_delay=2))
