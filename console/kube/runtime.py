"""The cluster core: one thread with its own event loop, the informers and the clients.

A process has one `Runtime` per cluster, created and started by its composition root
(`console.asgi` or the command that runs the controllers). Code that reads objects gets it from
the cluster (`console.ui.core.clusters`); `console.kube.host_runtime` has the runtime of the host cluster.

Informers are started on first use, shared, and stopped when unused (see `console.kube.factory`).
`informer()`, `as_user()`, `live_list()` and `console` may be used from any thread. Informers run
only on the core thread. kube-apiserver is probed every few seconds to detect hanging connections
and to retry as soon as the server is back.
"""

import ctypes
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from datetime import datetime
from functools import partial
from typing import Any, Protocol, TypeVar

from console.kube.cachewait import wait_until
from console.kube.clients import ConsoleClient, ReaderClient, UserClient
from console.kube.clock import Clock, SystemClock
from console.kube.compatibility import ApiVersions
from console.kube.corethread import CoreThread
from console.kube.credentials import Credentials
from console.kube.custom_types import CustomTypes
from console.kube.errors import Forbidden
from console.kube.factory import IDLE, InformerFactory
from console.kube.gvr import (
    API_SERVICES,
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CUSTOM_RESOURCE_DEFINITIONS,
    GVR,
    POD_METRICS,
    ROLE_BINDINGS,
    ROLES,
    WORKLOADS,
    Key,
)
from console.kube.heartbeat import Heartbeat
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.kube.informerbuilder import ClusterInformerBuilder, TypeWatch
from console.kube.kubeconfig import CONSOLE, READER, WRITER
from console.kube.livelist import LiveList, LiveObject, UserReader, UserSource
from console.kube.recent_events import RecentEvents
from console.kube.recentdeletions import RecentDeletions
from console.kube.scopes import configured_namespaces, is_builtin_cluster_scoped
from console.kube.served_types import ServedTypes
from console.kube.stats import STEP, EventRates
from console.kube.tables import TableObject, TableReader, TableReading, table_sources
from console.kube.transport import Endpoint, Transport
from console.kube.uncached import UNCACHED
from console.kube.usage import UsageReader

#: Types that define the reader's permissions. An informer may be waiting for such a change.
RIGHTS = (ROLES, ROLE_BINDINGS, CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS)

#: Constants of malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
#: Bytes. Free memory at the end of a heap above the first value is returned. Blocks above the
#: second value are allocated with mmap. A batch of a list, which is allocated repeatedly, is
#: between the two.
_TRIM, _MMAP = 1024 * 1024, 4 * 1024 * 1024

T = TypeVar("T")


class Reads(Protocol):
    """The part of a runtime that pages, websockets and the authorizer use."""

    def informer(self, gvr: GVR) -> Informer[Any]: ...


class Runtime:
    def __init__(
        self,
        *,
        kubeconfig: str | None = None,
        clock: Clock | None = None,
        namespaces: Sequence[str] | None = None,
        idle: float = IDLE,
    ) -> None:
        """Read the credentials without connecting. Raise `NoCluster` if there are none.

        `namespaces` restricts the console to these namespaces; empty means the whole cluster. It
        defaults to the environment variable. `idle` is the number of seconds after which an
        unused kind stops.
        """
        self.clock: Clock = clock or SystemClock()
        given = configured_namespaces() if namespaces is None else tuple(namespaces)
        self._transports = {
            role: Transport(Credentials(role, kubeconfig)) for role in (READER, WRITER, CONSOLE)
        }
        reader = ReaderClient(self._transports[READER], self._api_versions)
        self.console = ConsoleClient(self._transports[CONSOLE], versions=self._api_versions)
        self._thread = CoreThread(self.close_connections)
        self._builder = ClusterInformerBuilder(reader, given, self.clock)
        self.types: CustomTypes = self._builder.types
        self.served: ServedTypes = self._builder.served
        self.recent_deletions = RecentDeletions(lambda gvr: self.informers().get(gvr), self.clock)
        self._factory = InformerFactory(
            self._builder,
            self.spawn,
            self.clock,
            idle=idle,
            notify={
                **dict.fromkeys(RIGHTS, self._rights_changed),
                CUSTOM_RESOURCE_DEFINITIONS: self._definition_changed,
                API_SERVICES: lambda _key: self.served.change_expected(),
                **{gvr: partial(self.recent_deletions.note, gvr) for gvr in WORKLOADS},
            },
        )
        # Separate connections of the same age as the watches': when these are dead, the watches are
        # dead too.
        self._transports["heartbeat"] = Transport(self._transports[READER].credentials)
        heartbeat = ReaderClient(self._transports["heartbeat"])
        self._heartbeat = Heartbeat(heartbeat, lambda: self.informers().values(), self.clock)
        self._type_watch = TypeWatch(self.served, self._builder.waiting, self._factory)
        self.served.add_listener(lambda _key: None, self._type_watch.discovered)
        self.history = EventRates(self.clock)
        self.usage = UsageReader(
            reader,
            self.clock,
            namespaces=self._builder.namespaces_of(POD_METRICS),
            whole=not given,
        )
        #: Kinds that must be synced before this process is ready.
        self.required: tuple[GVR, ...] = ()
        self._confined = bool(given)
        #: Called with the path and the error when kube-apiserver forbids a user's request.
        self.on_refusal: Callable[[str, Forbidden], None] | None = None

    # Any thread.

    def start(self) -> None:
        """Start the core thread and return when it runs."""
        fix_malloc_thresholds()
        self._thread.start()
        self._factory.pin(CUSTOM_RESOURCE_DEFINITIONS)
        self._factory.pin(API_SERVICES)
        self.spawn(self.served.run())
        self.spawn(self._heartbeat.run())
        self.spawn(self._keep_house())
        self.spawn(self.usage.run())

    def stop(self) -> None:
        """Stop all informers and the thread. A stopped runtime cannot be restarted."""
        self._thread.stop()

    def informer(self, gvr: GVR) -> Informer[Any]:
        """Return the shared informer of a type and start it if necessary. Call this for each use.

        All types with a projection and all custom resources of the cluster are available. Raise
        `NeverCached` for types that require `live_list`, `UnknownKind` for all other types.
        """
        return self._factory.get(gvr)

    def require(self, gvrs: Sequence[GVR]) -> None:
        """Follow these kinds permanently. The process is ready when they are synced.

        If the console is restricted to namespaces, readiness does not wait for cluster-scoped
        kinds.
        """
        self.required = tuple(
            gvr for gvr in gvrs if not (self._confined and is_builtin_cluster_scoped(gvr))
        )
        for gvr in gvrs:
            self._factory.pin(gvr)

    def informers(self) -> Mapping[GVR, Informer[Any]]:
        """Return the informers in use."""
        return self._factory.informers()

    @property
    def last_response(self) -> datetime:
        """Return the time of kube-apiserver's last response."""
        return self._heartbeat.last_response

    def live_list(
        self,
        gvr: GVR,
        identity: Identity,
        namespaces: Sequence[str] = ("",),
        table: TableReading | None = None,
    ) -> LiveList[Any]:
        """Return a list that is read on behalf of a user, optionally as a table. Use it in a `with`
        block.

        "" in `namespaces` means all namespaces. Raise `UnknownKind`.
        """
        if table is not None:
            client = TableReader(self._transports[WRITER], identity)
            parser, tables = table_sources(client, gvr, namespaces, table, self.clock)
            return LiveList(gvr, parser.decode, tables, self.spawn, clock=self.clock)
        private = UNCACHED.get(gvr)
        decode = private.decode if private else self._builder.decoder(gvr)
        reader = UserReader(self._transports[WRITER], identity)
        redact = private.redact if private else None
        sources = {name: UserSource(reader, gvr, name, redact) for name in namespaces}
        return LiveList(gvr, decode, sources, self.spawn, clock=self.clock)

    def live_object(
        self, gvr: GVR, identity: Identity, key: Key, table: TableReading | None = None
    ) -> LiveList[Any]:
        """Return one object that is read on behalf of a user who may not list its type, optionally
        as a table. Use it in a `with` block.

        Raise `UnknownKind`.
        """
        if table is not None:
            return TableObject(
                gvr, key, self.as_user(identity), self.spawn, table, clock=self.clock
            )
        private = UNCACHED.get(gvr)
        decode = private.decode if private else self._builder.decoder(gvr)
        redact = private.redact if private else None
        client = self.as_user(identity)
        return LiveObject(gvr, decode, key, client, self.spawn, redact, clock=self.clock)

    def as_user(self, identity: Identity) -> UserClient:
        return UserClient(
            self._transports[WRITER],
            identity,
            on_refusal=self.on_refusal,
            versions=self._api_versions,
        )

    def endpoint(self) -> Endpoint:
        """Return the endpoint for users' own programs. Raise OSError if the CA file cannot be read."""
        credentials = self._transports[WRITER].credentials
        authority = credentials.ca_file.read_text() if credentials.ca_file else ""
        return Endpoint(credentials.host, authority, credentials.tls_server_name or "")

    async def wait_synced(self, gvr: GVR, *, timeout: float) -> bool:
        """Return True as soon as the informer has its first list.

        Return False after `timeout` seconds, or immediately if kube-apiserver forbids the list or
        does not serve the type.
        """
        informer = self.informer(gvr)
        if informer.freshness.synced:
            # The common case, checked by every page.
            return True
        await wait_until(
            informer,
            lambda: (
                informer.freshness.synced or informer.refusal is not None or informer.not_installed
            ),
            timeout,
        )
        return informer.freshness.synced

    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run a coroutine on the core loop until it ends or the runtime stops."""
        return self._thread.spawn(coroutine)

    async def close_connections(self) -> None:
        """Close the calling loop's connections to kube-apiserver."""
        for transport in self._transports.values():
            await transport.close()

    def _api_versions(self) -> ApiVersions:
        return self.served.api_versions

    @property
    def tokens_expire(self) -> bool:
        """Return True if all credentials are requested tokens, which expire within an hour."""
        return all(one.credentials.uses_requested_tokens for one in self._transports.values())

    # Core thread only.

    async def _keep_house(self) -> None:
        """Periodically stop idle informers, remove old events and sample event rates."""
        while True:
            await self.clock.sleep(STEP)
            self._factory.sweep()
            informers = self.informers()
            for informer in informers.values():
                if isinstance(informer, RecentEvents):
                    informer.tidy()
            self.history.sample(informers)

    def _rights_changed(self, _key: Key) -> None:
        self._heartbeat.wake_soon()

    def _definition_changed(self, key: Key) -> None:
        self._type_watch.changed(key)
        self._heartbeat.wake_soon()


def fix_malloc_thresholds() -> None:
    """Make glibc return freed memory to the kernel. Do nothing with other C libraries.

    glibc raises its mmap and trim thresholds whenever a large block is freed (mallopt(3), "dynamic
    mmap threshold"), and decoding a list frees many. Afterwards megabytes stay at the top of a
    thread's heap, where `malloc_trim` does not look. The amount differs between runs. With fixed
    thresholds the process only keeps the memory it needs.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, _TRIM)
        mallopt(_M_MMAP_THRESHOLD, _MMAP)
