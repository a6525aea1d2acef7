"""A runtime without a cluster, for tests of whatever reads one."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from console.kube.client import UserClient
from console.kube.clock import SystemClock
from console.kube.discovery import Types
from console.kube.factory import NeverCached, UnknownKind
from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, GVR
from console.kube.history import History
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.kube.livelist import LiveList
from console.kube.private import PRIVATE


class StaticRuntime:
    """Informers that are already there. `types` are those of the CustomResourceDefinitions among them.

    `live_lists` makes what `live_list` returns. `console` writes nowhere unless it is set.
    """

    console: Any = None

    def __init__(
        self,
        informers: Mapping[GVR, Informer[Any]],
        user_client: Callable[[Identity], UserClient] | None = None,
        live_lists: Callable[[GVR, Identity, Sequence[str]], LiveList[Any]] | None = None,
    ) -> None:
        self._informers = dict(informers)
        self.required = tuple(informers)
        self._user_client = user_client
        self._live_lists = live_lists
        self.types = Types(self._informers.get(CUSTOM_RESOURCE_DEFINITIONS))
        self.history = History(SystemClock())

    @property
    def answered(self) -> datetime:
        return SystemClock().now()

    def informer(self, gvr: GVR) -> Informer[Any]:
        if gvr in PRIVATE:
            raise NeverCached(gvr.qualified)
        try:
            return self._informers[gvr]
        except KeyError:
            raise UnknownKind(gvr.qualified) from None

    def informers(self) -> Mapping[GVR, Informer[Any]]:
        return self._informers

    def live_list(
        self, gvr: GVR, identity: Identity, namespaces: Sequence[str] = ("",)
    ) -> LiveList[Any]:
        if self._live_lists is None:
            raise AssertionError("this test has no live lists")
        return self._live_lists(gvr, identity, namespaces)

    def as_user(self, identity: Identity) -> UserClient:
        if self._user_client is None:
            raise AssertionError("this test has no client")
        return self._user_client(identity)

    async def wait_synced(self, gvr: GVR, *, timeout: float) -> bool:  # noqa: ASYNC109
        return self.informer(gvr).freshness.synced
