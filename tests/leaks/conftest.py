"""The console over either cluster, with the real authorizer."""

from collections.abc import Callable, Iterator

import pytest
from pytest_django import Settings

from console.kube.identity import Identity
from console.kube.runtime import set_runtime
from console.live.pacer import Pacer
from console.ui.access import Access
from rbac.middleware import access_of
from tests.kinds.conftest import kind
from tests.leaks.world import Clusters
from tests.views import cast
from tests.views.conftest import ClientAs, _site

__all__ = ["_site", "kind"]


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
        "django.contrib.sessions.middleware.SessionMiddleware",
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
