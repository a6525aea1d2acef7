"""The pytest fixtures of the real control plane, and the account of what a run left out.

A machine without Go skips what needs a control plane, one without root what needs a node, and the last
lines of the run say so.
With `REQUIRE_REAL_CLUSTER=1` that is a failure instead: a run that is to prove something must not
pass by leaving out the proof.
"""

import os
import sys
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.controlplane.build import TOOLS, BuildError, ensure, find
from tests.controlplane.cluster import ControlPlane
from tests.node.box import Unavailable
from tests.node.node import RealNode

__all__ = ["StartControlPlane", "left_out", "missing"]

#: Starts a control plane of one test's own, with the arguments of `ControlPlane`.
StartControlPlane = Callable[..., ControlPlane]

_REQUIRE = "REQUIRE_REAL_CLUSTER"
_left_out: dict[str, str] = {}


def left_out(what: str, why: str) -> None:
    """Notes for the end of the run that `what` could not be tested here; for any fixture."""
    _left_out[what] = why


def missing(what: str, why: str) -> NoReturn:
    """Leaves `what` out; where a real cluster is required, that is a failure."""
    if os.environ.get(_REQUIRE, "0") not in ("", "0"):
        pytest.fail(f"{_REQUIRE} is set, but {why}", pytrace=False)
    left_out(what, why)
    pytest.skip(why)


@pytest.fixture(scope="session")
def control_plane_programs(pytestconfig: pytest.Config) -> Mapping[str, Path]:
    """The programs, built if they are missing: once per run, also when that fails."""
    names = [name for name in TOOLS if name != "kubelet"]
    with _building(pytestconfig, names):
        try:
            return ensure(names, _say)
        except BuildError as error:
            missing("tests on a real control plane", str(error))


@pytest.fixture(scope="session")
def control_plane(control_plane_programs: Mapping[str, Path]) -> Iterator[ControlPlane]:
    """One for all tests that leave it whole: with controllers and scheduler, without nodes."""
    with ControlPlane() as cluster:
        yield cluster


@pytest.fixture
def fresh_control_plane(
    control_plane_programs: Mapping[str, Path],
) -> Iterator[StartControlPlane]:
    """Starts control planes that the test may break; they end with the test."""
    with ExitStack() as running:

        def start(**options: object) -> ControlPlane:
            return running.enter_context(ControlPlane(**options))  # type: ignore[arg-type]

        yield start


@pytest.fixture(scope="session")
def real_node(pytestconfig: pytest.Config) -> Iterator[RealNode]:
    """One for all tests that leave it whole: a control plane with a node on which pods really run."""
    try:
        with _building(pytestconfig, ["kubelet"]):
            node = RealNode(report=_say)
        node.start()
    except (BuildError, Unavailable) as error:
        missing("tests on a real node", str(error))
    yield node
    node.stop()


@contextmanager
def _building(config: pytest.Config, names: Collection[str]) -> Iterator[None]:
    """What is said meanwhile is seen at once."""
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else nullcontext():
        if any(find(name) is None for name in names):
            # pytest is in the middle of a line of dots.
            _say("\n")
        yield


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """One of several processes tells the one that they all report to."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = _left_out


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    _left_out.update(getattr(node, "workeroutput", {}).get("left_out", {}))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter,
) -> Generator[None, None, None]:
    """Around all other summaries, so that this one is the last before the line of counts."""
    yield
    if _left_out:
        terminalreporter.section("left out on this machine")
        for what, why in _left_out.items():
            terminalreporter.line(f"{what}: {why}")
