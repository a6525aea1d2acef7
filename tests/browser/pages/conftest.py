"""Fixtures for page tests: a console in front of a cluster. Pods of a test are deleted after it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.chromium import Chromium
from tests.browser.console import Cluster, Console, running, sign_in, started


# The CI run uses only one cluster, because tests/contract compares the responses of both.
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
    """Yield one page without JavaScript for all tests. Without scripts a page stores no state."""
    context = browser.new_context(java_script_enabled=False)
    yield context.new_page()
    context.close()


@pytest.fixture
def plain(_without_scripts: Page, console: Console) -> Page:
    """Return a page without JavaScript, signed in as the administrator."""
    sign_in(_without_scripts, console, "")
    return _without_scripts
