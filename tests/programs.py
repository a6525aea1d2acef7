"""Which tests start other programs: `make quick` leaves those out.

A test is marked `programs` by its folder, by a fixture that it has, or by itself. One that is not marked
and starts a program all the same fails, so that the rule stays true. The embedded cluster is none: it is
a thread of this process.
"""

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

#: Of these every test is about programs or needs one, or waits for a cluster to move.
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
#: A control plane's programs, either cluster with the controllers, a server of websockets.
FIXTURES = {"control_plane_programs", "echo", "real_node", "running"}
#: https://docs.python.org/3/library/audit_events.html
STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec"}

_TESTS = Path(__file__).parent
#: The test that runs, unless it may start programs.
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
