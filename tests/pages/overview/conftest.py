"""The overview pages of a small cluster, with the users of the generic pages."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.pages.overview.world import Measuring, make_runtime
from tests.support.staticruntime import StaticRuntime
from tests.views.conftest import ClientAs, _site

__all__ = ["_site", "client_as", "metrics", "runtime"]


@pytest.fixture
def metrics() -> Measuring:
    return Measuring()


@pytest.fixture
def runtime(metrics: Measuring) -> Iterator[StaticRuntime]:
    found = make_runtime(datetime.now(UTC).isoformat(), metrics)
    set_host_cluster(found)
    yield found
    unset_host_cluster()


@pytest.fixture
def client_as(runtime: StaticRuntime) -> ClientAs:
    return ClientAs()
