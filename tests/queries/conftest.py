"""The console with all kinds and its middleware, in front of a cluster that only answers reads."""

from collections.abc import Callable
from typing import Any

import pytest
from pytest_django import Settings

from console import settings as shipped
from console.kube.errors import NotFound
from console.kube.factory import NeverCached, UnknownKind
from console.kube.gvr import GVR, Key
from rbac.process_clusters import set_host_cluster
from tests.leaks.conftest import _real_rights, clusters
from tests.leaks.world import Clusters
from tests.support.staticruntime import StaticRuntime
from tests.views.conftest import _site

__all__ = ["_real_rights", "_site", "clusters"]

#: Middleware of static files and of sign-in, which `tests.views.viewers.CastMiddleware` replaces.
_LEFT_OUT = ("servestatic", "accounts.middleware", "accounts.impersonation", "rbac.middleware")


class ReadingClient:
    """A client that reads objects of the cache. All other requests return 404."""

    def __init__(self, runtime: StaticRuntime) -> None:
        self._runtime = runtime

    async def get(self, gvr: GVR, *, namespace: str = "", name: str) -> dict[str, Any]:
        try:
            entry = self._runtime.informer(gvr).store.get(Key(namespace, name))
        except (NeverCached, UnknownKind):
            entry = None
        if entry is None:
            raise NotFound(404, "not found")
        return dict(entry.original())

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def refuse(*_arguments: object, **_options: object) -> Any:
            raise NotFound(404, "not found")

        return refuse


@pytest.fixture(autouse=True)
def console(_real_rights: None, settings: Settings, clusters: Clusters) -> StaticRuntime:
    settings.ROOT_URLCONF = shipped.ROOT_URLCONF
    settings.MIDDLEWARE = [
        "tests.views.viewers.CastMiddleware" if "accounts.oauth.middleware.Bearer" in name else name
        for name in shipped.MIDDLEWARE
        if not name.startswith(_LEFT_OUT)
    ]
    runtime = clusters.runtime(False)
    client: Any = ReadingClient(runtime)
    runtime._user_client = lambda _identity: client
    set_host_cluster(runtime)
    return runtime
