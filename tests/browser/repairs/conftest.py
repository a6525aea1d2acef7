"""Sample data with broken objects that each test fixes once. There is one cluster per look, if a
test runs in several looks.

If SCREENSHOTS is set to a directory, a screenshot of each repair is written to it (`make
screenshots`).
"""

from collections.abc import Iterator

import pytest

from tests.browser.chromium import Chromium
from tests.browser.console import ROOT, Console, Embedded, running
from tests.browser.repairs.operator import Operator
from tests.browser.tasks.conftest import GATE, LOOKS, somebody
from tests.support.depth import DEEP, choice


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """In the CI run, each test runs in one of two looks that differ in every value, selected by the
    test's name, and all tests share one cluster.
    """
    if "operator" not in metafunc.fixturenames:
        return
    desk = "at_a_desk" in metafunc.fixturenames
    looks, both = ([one for one in among if not (desk and one.phone)] for among in (LOOKS, GATE))
    gate = choice(metafunc.function.__name__, both)
    params = [
        pytest.param(
            look if DEEP else None,
            look,
            id=str(look),
            marks=() if look == gate else pytest.mark.deep,
        )
        for look in looks
    ]
    metafunc.parametrize(("console", "operator"), params, indirect=True, scope="package")


@pytest.fixture
def at_a_desk() -> None:
    """Mark a test that does not run on a phone."""


@pytest.fixture(scope="package")
def console(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Console]:
    """Start a new console and cluster for each parameter."""
    cluster = Embedded(tmp_path_factory.mktemp("cluster"), world=True)
    folder = tmp_path_factory.mktemp("console")
    shells = "quarterdeck-shells"
    with running(
        cluster, folder, opens_ports=True, node_shells=shells, controllers=False
    ) as console:
        console.kubectl("apply", "-f", str(ROOT / "manifests" / "node-shells.yaml"))
        yield console
    cluster.stop()


@pytest.fixture(scope="package")
def operator(
    request: pytest.FixtureRequest, browser: Chromium, console: Console
) -> Iterator[Operator]:
    with somebody(browser, console, request.param) as person:
        yield Operator(person)
