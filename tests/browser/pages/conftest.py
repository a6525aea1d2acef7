"""One console in front of one cluster for all pages; what a test leaves of its pods goes after it."""

from collections.abc import Iterator

import pytest

from tests.browser.console import Cluster, Console, running, started


# What both clusters answer is compared by tests/contract, so the gate looks at one of them.
@pytest.fixture(scope="package", params=[pytest.param("embedded", marks=pytest.mark.deep), "real"])
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    with started(request, tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="package")
def shared_console(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    with running(cluster, tmp_path_factory.mktemp("console")) as console:
        yield console


@pytest.fixture
def console(shared_console: Console) -> Iterator[Console]:
    with shared_console.tidied():
        yield shared_console
