"""The console with its real authorizer."""

from collections.abc import Callable, Iterator

import pytest
from pytest_django import Settings

from console.kube.identity import Identity
from console.live.scheduler import Scheduler
from console.ui.core.access import Access
from console.ui.core.clusters import clusters as console_clusters
from console.ui.core.kind import ResourceKind
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.leaks.world import KINDS, Clusters
from tests.views import viewers
from tests.views.conftest import ClientAs, _site

__all__ = ["_site"]


class Anybody(dict[str, Callable[[], Access | None]]):
    """A cast that signs in any username."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __missing__(self, name: str) -> Callable[[], Access | None]:
        return lambda: console_clusters.host.access_for(Identity(name))


@pytest.fixture(autouse=True)
def _real_rights(
    _site: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    settings.MIDDLEWARE = [
        "console.web.async_middleware.InlineSessionMiddleware",
        *settings.MIDDLEWARE,
    ]
    monkeypatch.setattr(viewers, "VIEWERS", Anybody())
    monkeypatch.setattr(Scheduler, "flush_seconds", 0.01)
    yield
    unset_host_cluster()


@pytest.fixture
def client_as() -> ClientAs:
    return ClientAs()


@pytest.fixture(scope="session")
def clusters() -> Clusters:
    return Clusters()


@pytest.fixture(params=sorted(kind.segment for kind in KINDS))
def kind(request: pytest.FixtureRequest, clusters: Clusters) -> ResourceKind:
    """Return each registered kind and each kind of the custom types."""
    found = set_host_cluster(clusters.runtime(False)).kinds.find(request.param)
    assert found is not None
    return found
