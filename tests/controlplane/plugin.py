"""Pytest fixtures of the real control plane, and a summary of skipped tests.

Tests that need a control plane are skipped on a machine without Go, and tests that need a real
node without root. The summary at the end of the run lists them. With `REQUIRE_REAL_CLUSTER=1`,
they fail instead, so that a run that requires these tests cannot pass
without them.
"""

import os
import sys
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.controlplane.build import OLD, TOOLS, BuildError, ensure, find
from tests.controlplane.cluster import ControlPlane
from tests.node.box import Unavailable
from tests.node.node import RealNode

__all__ = ["StartControlPlane", "report_skipped", "skip_or_fail"]

#: Starts a control plane for a single test, with the arguments of `ControlPlane`.
StartControlPlane = Callable[..., ControlPlane]

_REQUIRE = "REQUIRE_REAL_CLUSTER"
_left_out: dict[str, str] = {}


def report_skipped(what: str, why: str) -> None:
    """Record that `what` was skipped, for the summary. Any fixture can call this."""
    _left_out[what] = why


def skip_or_fail(what: str, why: str) -> NoReturn:
    """Skip the test, or fail it if a real cluster is required."""
    if os.environ.get(_REQUIRE, "0") not in ("", "0"):
        pytest.fail(f"{_REQUIRE} is set, but {why}", pytrace=False)
    report_skipped(what, why)
    pytest.skip(why)


@pytest.fixture(scope="session")
def control_plane_programs(pytestconfig: pytest.Config) -> Mapping[str, Path]:
    """The programs, built if missing. The build is tried only once per run, even if it fails."""
    names = [tool.name for tool in TOOLS.values() if not tool.module and tool.name != "kubelet"]
    return _built(pytestconfig, names, "tests on a real control plane")


def _built(config: pytest.Config, names: Collection[str], what: str) -> Mapping[str, Path]:
    """Build missing programs, or skip the tests `what`."""
    with _building(config, names):
        try:
            return ensure(names, _say)
        except BuildError as error:
            skip_or_fail(what, str(error))


@pytest.fixture(scope="session")
def control_plane(control_plane_programs: Mapping[str, Path]) -> Iterator[ControlPlane]:
    """Shared control plane for tests that don't break it: with controllers and scheduler, without
    nodes.
    """
    with ControlPlane() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def old_control_plane_programs(
    pytestconfig: pytest.Config, control_plane_programs: Mapping[str, Path]
) -> Mapping[str, Path]:
    """The programs of Kubernetes 1.24, built if missing."""
    names = [name for name in TOOLS if name.endswith(OLD)]
    return _built(pytestconfig, names, "tests on an old control plane")


@pytest.fixture(scope="session")
def registry_program(pytestconfig: pytest.Config) -> Path:
    """The program of a container registry, built if missing."""
    return _built(pytestconfig, ["registry"], "tests with a container registry")["registry"]


@pytest.fixture(scope="session")
def old_control_plane(old_control_plane_programs: Mapping[str, Path]) -> Iterator[ControlPlane]:
    """Like `control_plane`, with Kubernetes 1.24."""
    with ControlPlane(old=True) as cluster:
        yield cluster


@pytest.fixture
def fresh_control_plane(
    control_plane_programs: Mapping[str, Path],
) -> Iterator[StartControlPlane]:
    """Start control planes that the test may break. They stop at the end of the test."""
    with ExitStack() as running:

        def start(**options: object) -> ControlPlane:
            return running.enter_context(ControlPlane(**options))  # type: ignore[arg-type]

        yield start


@pytest.fixture(scope="session")
def real_node(pytestconfig: pytest.Config) -> Iterator[RealNode]:
    """Shared control plane with a real node that runs pods, for tests that don't break it."""
    try:
        with _building(pytestconfig, ["kubelet"]):
            node = RealNode(report=_say)
        node.start()
    except (BuildError, Unavailable) as error:
        skip_or_fail("tests on a real node", str(error))
    yield node
    node.stop()


@contextmanager
def _building(config: pytest.Config, names: Collection[str]) -> Iterator[None]:
    """Disable output capturing, so that build progress is visible immediately."""
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else nullcontext():
        if any(find(name) is None for name in names):
            # End pytest's current line of dots.
            _say("\n")
        yield


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the list of skipped parts from an xdist worker to the controller."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["report_skipped"] = _left_out


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    _left_out.update(getattr(node, "workeroutput", {}).get("report_skipped", {}))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter,
) -> Generator[None, None, None]:
    """Print the summary after all other summaries, directly before the line with the counts."""
    yield
    if _left_out:
        terminalreporter.section("skipped on this machine")
        for what, why in _left_out.items():
            terminalreporter.line(f"{what}: {why}")
