"""One console in front of one cluster for all pages; what a test leaves of its pods goes after it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.chromium import Chromium
from tests.browser.console import Cluster, Console, running, sign_in, started


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


@pytest.fixture(scope="package")
def _without_scripts(browser: Chromium, shared_console: Console) -> Iterator[Page]:
    """The one for all tests that have none: without scripts no page stores anything."""
    context = browser.new_context(java_script_enabled=False)
    yield context.new_page()
    context.close()


@pytest.fixture
def plain(_without_scripts: Page, console: Console) -> Page:
    """The administrator's, without scripts."""
    sign_in(_without_scripts, console, "")
    return _without_scripts
