"""A sample world of its own for each way to look at it, as its broken things are mended once.

With SCREENSHOTS set to a folder, what each repair looks like is written there (`make screenshots`).
"""

from collections.abc import Iterator

import pytest

from tests.browser.chromium import Chromium
from tests.browser.console import Embedded, running
from tests.browser.repairs.operator import Operator
from tests.browser.tasks.conftest import LOOKS, somebody
from tests.depth import fewer


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The gate has two looks that differ in everything."""
    if "operator" in metafunc.fixturenames:
        looks = fewer(LOOKS, LOOKS[0], LOOKS[-1])
        metafunc.parametrize("operator", looks, ids=str, indirect=True, scope="package")


@pytest.fixture(scope="package")
def operator(
    request: pytest.FixtureRequest, browser: Chromium, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Operator]:
    cluster = Embedded(tmp_path_factory.mktemp("cluster"), world=True)
    with (
        running(cluster, tmp_path_factory.mktemp("console")) as console,
        somebody(browser, console, request.param) as person,
    ):
        yield Operator(person)
    cluster.stop()
