"""The overview pages of a small cluster, with the users of the generic pages."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from rbac.current import no_host, use_host
from tests.pages.overview.world import Measuring, make_runtime
from tests.staticruntime import StaticRuntime
from tests.views.conftest import ClientAs, _site

__all__ = ["_site", "client_as", "metrics", "runtime"]


@pytest.fixture
def metrics() -> Measuring:
    return Measuring()


@pytest.fixture
def runtime(metrics: Measuring) -> Iterator[StaticRuntime]:
    found = make_runtime(datetime.now(UTC).isoformat(), metrics)
    use_host(found)
    yield found
    no_host()


@pytest.fixture
def client_as(runtime: StaticRuntime) -> ClientAs:
    return ClientAs()
