"""Mark the tests that start other programs; `make quick` deselects them.

A test is marked `programs` by its folder, by one of its fixtures or explicitly. A test without
the mark fails if it starts a program, which keeps the marks correct. The embedded cluster is not
a program: it is a thread of this process.
"""

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

#: Every test in these folders starts a program or waits for a cluster.
FOLDERS = {
    "browser",
    "chaos",
    "commands",
    "contract",
    "controlplane",
    "devcluster",
    "hostile",
    "links",
    "node",
}
#: The programs of a control plane, either cluster with its controllers, a websocket server, a
#: container registry.
FIXTURES = {"control_plane_programs", "echo", "real_node", "registry_program", "running"}
#: https://docs.python.org/3/library/audit_events.html
STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec"}

_TESTS = Path(__file__).parents[1]
#: The ID of the running test if it must not start programs.
_pure: str | None = None


def pytest_configure() -> None:
    sys.addaudithook(_refuse)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        folder = item.path.relative_to(_TESTS).parts[0]
        if folder in FOLDERS or FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("programs")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    global _pure
    _pure = None if item.get_closest_marker("programs") else item.nodeid
    try:
        return (yield)
    finally:
        _pure = None


def _refuse(event: str, given: tuple[object, ...]) -> None:
    if _pure is not None and event in STARTS:
        pytest.fail(f"{_pure} starts {given[:2]} and is not marked `programs`", pytrace=False)
