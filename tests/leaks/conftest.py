"""The console over either cluster, with the real authorizer."""

from collections.abc import Callable, Iterator

import pytest
from pytest_django import Settings

from console.kube.identity import Identity
from console.kube.runtime import set_runtime
from console.live.pacer import Pacer
from console.ui.access import Access
from console.ui.kind import ResourceKind
from console.ui.registry import kinds
from rbac.middleware import access_of
from tests.leaks.world import KINDS, Clusters
from tests.views import cast
from tests.views.conftest import ClientAs, _site

__all__ = ["_site"]


class Anybody(dict[str, Callable[[], Access | None]]):
    """Signs in whoever is named."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __missing__(self, name: str) -> Callable[[], Access | None]:
        return lambda: access_of(Identity(name))


@pytest.fixture(autouse=True)
def _real_rights(
    _site: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    settings.MIDDLEWARE = [
        "console.inline.InlineSessionMiddleware",
        *settings.MIDDLEWARE,
    ]
    monkeypatch.setattr(cast, "CAST", Anybody())
    monkeypatch.setattr(Pacer, "flush_seconds", 0.01)
    yield
    set_runtime(None)


@pytest.fixture
def client_as() -> ClientAs:
    return ClientAs()


@pytest.fixture(scope="session")
def clusters() -> Clusters:
    return Clusters()


@pytest.fixture(params=sorted(kind.segment for kind in KINDS))
def kind(request: pytest.FixtureRequest, clusters: Clusters) -> ResourceKind:
    """Each that is declared, and those of types that only the clusters know."""
    set_runtime(clusters.runtime(False))
    found = kinds.find(request.param)
    assert found is not None
    return found
