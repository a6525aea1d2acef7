"""URLs of pages, for code that links to them."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from console.ui.core.clusters import Cluster
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.support.staticruntime import StaticRuntime


@pytest.fixture(autouse=True)
def _urls(settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.views.urls"


@pytest.fixture
def host() -> Iterator[Cluster]:
    """An empty cluster that URLs can reference."""
    yield set_host_cluster(StaticRuntime({}))
    unset_host_cluster()
