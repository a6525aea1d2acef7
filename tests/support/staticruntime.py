"""A runtime without a cluster."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, TypeVar

from console.kube.clients import UserClient
from console.kube.clock import SystemClock
from console.kube.custom_types import CustomTypes
from console.kube.errors import NotFound
from console.kube.factory import NeverCached, UnknownKind
from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, GVR, Key
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.kube.livelist import LiveList
from console.kube.metrics_server import Lister
from console.kube.recentdeletions import RecentDeletions
from console.kube.runtime import Runtime
from console.kube.served_types import ServedTypes
from console.kube.stats import EventRates
from console.kube.tables import TableReading
from console.kube.throttledreader import Chunks
from console.kube.transport import Endpoint
from console.kube.uncached import UNCACHED
from console.kube.usage import UsageReader
from tests.support.informers import preloaded

T = TypeVar("T")


class StaticRuntime(Runtime):
    """A runtime with preloaded informers.

    `types` are built from the CustomResourceDefinitions among them. `live_lists` returns the
    result of `live_list`. `metrics` is the source of usage readings; only the test takes
    readings (`usage.take`). `console` is the console's own client and is unset by default.
    """

    console: Any = None
    clock: Any

    def __init__(
        self,
        informers: Mapping[GVR, Informer[Any]],
        user_client: Callable[[Identity], UserClient] | None = None,
        live_lists: Callable[[GVR, Identity, Sequence[str]], LiveList[Any]] | None = None,
        metrics: Lister | None = None,
    ) -> None:
        self._informers = dict(informers)
        self.required = tuple(informers)
        self._user_client = user_client
        self._live_lists = live_lists
        definitions = self._informers.get(CUSTOM_RESOURCE_DEFINITIONS)
        self.types = CustomTypes(definitions or preloaded(CUSTOM_RESOURCE_DEFINITIONS))
        self.served = ServedTypes(self.types)
        self.history = EventRates(SystemClock())
        self.usage = UsageReader(metrics or NoMetrics(), SystemClock())
        self.recent_deletions = RecentDeletions(self._informers.get, SystemClock())

    @property
    def last_response(self) -> datetime:
        return SystemClock().now()

    def informer(self, gvr: GVR) -> Informer[Any]:
        if gvr in UNCACHED:
            raise NeverCached(gvr.qualified)
        try:
            return self._informers[gvr]
        except KeyError:
            raise UnknownKind(gvr.qualified) from None

    def informers(self) -> Mapping[GVR, Informer[Any]]:
        return self._informers

    def live_list(
        self,
        gvr: GVR,
        identity: Identity,
        namespaces: Sequence[str] = ("",),
        table: TableReading | None = None,
    ) -> LiveList[Any]:
        if self._live_lists is None:
            raise AssertionError("this test has no live lists")
        return self._live_lists(gvr, identity, namespaces)

    def live_object(
        self, gvr: GVR, identity: Identity, key: Key, table: TableReading | None = None
    ) -> LiveList[Any]:
        found = self.live_list(gvr, identity, (key.namespace,))
        found.store.evict([other for other in found.store.snapshot().entries if other != key])
        return found

    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run a coroutine synchronously if it never suspends. Without `console`, close it unrun."""
        future: Future[T] = Future()
        if self.console is None:
            coroutine.close()
            return future
        try:
            coroutine.send(None)
        except StopIteration as end:
            future.set_result(end.value)
        return future

    def as_user(self, identity: Identity) -> UserClient:
        if self._user_client is None:
            return NoClient()  # type: ignore[return-value]
        return self._user_client(identity)

    async def close_connections(self) -> None: ...

    def endpoint(self) -> Endpoint:
        return Endpoint("https://127.0.0.1:6443")

    async def wait_synced(self, gvr: GVR, *, timeout: float) -> bool:  # noqa: ASYNC109
        return self.informer(gvr).freshness.synced


class NoClient:
    """A client for tests that send no requests as a user. Searches find nothing with it."""

    async def list_metadata(self, gvr: GVR, namespace: str, limit: int) -> bytes:
        return b'{"metadata":{},"items":[]}'

    def __getattr__(self, name: str) -> object:
        raise AssertionError("this test has no client")


class NoMetrics:
    """A cluster without metrics-server."""

    @asynccontextmanager
    async def stream(
        self, gvr: GVR, namespace: str, params: Sequence[tuple[str, str]], *, read_timeout: float
    ) -> AsyncGenerator[Chunks, None]:
        raise NotFound(404, "the server could not find the requested resource")
        yield
