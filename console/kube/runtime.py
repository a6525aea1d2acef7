"""The cluster core at work: one thread with its own event loop, its informers and its clients.

A process has one `Runtime` for each cluster, made and started by its composition root (`console.asgi`, or
the command that runs the controllers). Whoever reads objects has it from their cluster
(`console.ui.clusters`); `console.kube.current` has the host's.

Promises: an informer is started by its first use, shared by all, and stopped when nobody has used it
for a while (`console.kube.factory` has the details); `informer()`, `as_user()`, `live_list()` and
`console` may be used from any thread; informers run on the core's thread alone. A probe asks
kube-apiserver for a sign of life every few seconds, so that a connection that hangs is noticed, and
wakes what waits for a server that is back.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from datetime import datetime
from functools import partial
from typing import Any, Protocol, TypeVar

from console.kube.allocator import give_back_what_is_freed
from console.kube.cachewait import wait_until
from console.kube.client import ConsoleClient, Endpoint, ReaderClient, Transport, UserClient
from console.kube.clock import Clock, SystemClock
from console.kube.corethread import CoreThread
from console.kube.credentials import Credentials
from console.kube.discovery import Types
from console.kube.errors import Forbidden
from console.kube.factory import IDLE, Factory
from console.kube.gvr import (
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
from console.kube.history import STEP, History
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.kube.informerbuilder import ClusterInformerBuilder
from console.kube.kubeconfig import CONSOLE, READER, WRITER
from console.kube.livelist import LiveList, UserReader, UserSource
from console.kube.liveobject import LiveObject
from console.kube.recentdeletions import RecentDeletions
from console.kube.scopes import configured_namespaces, is_the_clusters
from console.kube.typewatch import TypeWatch
from console.kube.uncached import UNCACHED
from console.kube.usage import Usage
from console.kube.window import Window

#: Types whose objects say what the reader may list: a change may be what an informer waits for.
RIGHTS = (ROLES, ROLE_BINDINGS, CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS)

T = TypeVar("T")


class Reads(Protocol):
    """What pages, sockets and the authorizer need of a runtime."""

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
        """Reads the credentials; raises `NoCluster` if there are none. Connects nowhere yet.

        `namespaces`: those to which this console is confined, none for the whole cluster; what the
        environment says unless given. `idle`: seconds after which a kind that nobody uses stops.
        """
        self.clock: Clock = clock or SystemClock()
        given = configured_namespaces() if namespaces is None else tuple(namespaces)
        self._transports = {
            role: Transport(Credentials(role, kubeconfig)) for role in (READER, WRITER, CONSOLE)
        }
        reader = ReaderClient(self._transports[READER])
        self.console = ConsoleClient(self._transports[CONSOLE])
        self._thread = CoreThread(self.close_connections)
        self._builder = ClusterInformerBuilder(reader, given, self.clock)
        self.types: Types = self._builder.types
        self.recent_deletions = RecentDeletions(lambda gvr: self.informers().get(gvr), self.clock)
        self._factory = Factory(
            self._builder,
            self.spawn,
            self.clock,
            idle=idle,
            notify={
                **dict.fromkeys(RIGHTS, self._rights_changed),
                CUSTOM_RESOURCE_DEFINITIONS: self._definition_changed,
                **{gvr: partial(self.recent_deletions.note, gvr) for gvr in WORKLOADS},
            },
        )
        # Its connection is its own and as old as the watches': when it is dead, so are they.
        self._transports["heartbeat"] = Transport(self._transports[READER].credentials)
        heartbeat = ReaderClient(self._transports["heartbeat"])
        self._heartbeat = Heartbeat(heartbeat, lambda: self.informers().values(), self.clock)
        self._type_watch = TypeWatch(self.types, self._factory)
        self.history = History(self.clock)
        self.usage = Usage(
            reader,
            self.clock,
            namespaces=self._builder.namespaces_of(POD_METRICS),
            whole=not given,
        )
        #: What must have synced before this process is ready.
        self.required: tuple[GVR, ...] = ()
        self._confined = bool(given)
        #: Told of what kube-apiserver forbids people, by path.
        self.on_refusal: Callable[[str, Forbidden], None] | None = None

    # Any thread.

    def start(self) -> None:
        """Starts the core's thread. Returns when it runs."""
        give_back_what_is_freed()
        self._thread.start()
        self._factory.keep(CUSTOM_RESOURCE_DEFINITIONS)
        self.spawn(self._heartbeat.run())
        self.spawn(self._keep_house())
        self.spawn(self.usage.run())

    def stop(self) -> None:
        """Ends all informers and the thread. A stopped runtime cannot be started again."""
        self._thread.stop()

    def informer(self, gvr: GVR) -> Informer[Any]:
        """The shared informer of a type, started if nobody follows it: ask for it at each use.

        Any type that has a projection, and any custom resource that the cluster defines. Raises
        `NeverCached` for what `live_list` is for, `UnknownKind` for all else.
        """
        return self._factory.get(gvr)

    def require(self, gvrs: Sequence[GVR]) -> None:
        """Follows these now and for ever; the process is ready once they have synced.

        Of a console that is confined to namespaces the readiness does not wait for what only rights
        on the whole cluster allow.
        """
        self.required = tuple(gvr for gvr in gvrs if not (self._confined and is_the_clusters(gvr)))
        for gvr in gvrs:
            self._factory.keep(gvr)

    def informers(self) -> Mapping[GVR, Informer[Any]]:
        """Those in use."""
        return self._factory.informers()

    @property
    def answered(self) -> datetime:
        """When kube-apiserver last gave a sign of life."""
        return self._heartbeat.answered

    def live_list(
        self, gvr: GVR, identity: Identity, namespaces: Sequence[str] = ("",)
    ) -> LiveList[Any]:
        """A list read as a person, of these namespaces; "" is all of them. Use it in a `with` block.

        Raises `UnknownKind`.
        """
        private = UNCACHED.get(gvr)
        decode = private.decode if private else self._builder.decoder(gvr)
        reader = UserReader(self._transports[WRITER], identity)
        redact = private.redact if private else None
        sources = {name: UserSource(reader, gvr, name, redact) for name in namespaces}
        return LiveList(gvr, decode, sources, self.spawn, clock=self.clock)

    def live_object(self, gvr: GVR, identity: Identity, key: Key) -> LiveList[Any]:
        """One object read as a person, for whoever may not list it. Use it in a `with` block.

        Raises `UnknownKind`.
        """
        private = UNCACHED.get(gvr)
        decode = private.decode if private else self._builder.decoder(gvr)
        redact = private.redact if private else None
        client = self.as_user(identity)
        return LiveObject(gvr, decode, key, client, self.spawn, redact, clock=self.clock)

    def as_user(self, identity: Identity) -> UserClient:
        return UserClient(self._transports[WRITER], identity, on_refusal=self.on_refusal)

    def endpoint(self) -> Endpoint:
        """For people's own programs. Raises OSError if the authority's file cannot be read."""
        credentials = self._transports[WRITER].credentials
        authority = credentials.ca_file.read_text() if credentials.ca_file else ""
        return Endpoint(credentials.host, authority, credentials.tls_server_name or "")

    async def wait_synced(self, gvr: GVR, *, timeout: float) -> bool:
        """True as soon as the informer has its first list; False after `timeout` seconds, and at once
        if kube-apiserver refuses it."""
        informer = self.informer(gvr)
        if informer.freshness.synced:
            # Nearly always, and every page asks.
            return True
        await wait_until(
            informer, lambda: informer.freshness.synced or informer.refusal is not None, timeout
        )
        return informer.freshness.synced

    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
        """Runs a coroutine on the core's loop until it ends or the runtime stops."""
        return self._thread.spawn(coroutine)

    async def close_connections(self) -> None:
        """Closes the calling loop's connections to kube-apiserver."""
        for transport in self._transports.values():
            await transport.close()

    @property
    def tokens_end(self) -> bool:
        """Whether what it works with ends by itself within the hour."""
        return all(one.credentials.are_requested for one in self._transports.values())

    # The core's thread.

    async def _keep_house(self) -> None:
        """Every few seconds: stops what is idle, empties windows, counts events."""
        while True:
            await self.clock.sleep(STEP)
            self._factory.sweep()
            informers = self.informers()
            for informer in informers.values():
                if isinstance(informer, Window):
                    informer.tidy()
            self.history.sample(informers)

    def _rights_changed(self, _key: Key) -> None:
        self._heartbeat.wake_soon()

    def _definition_changed(self, key: Key) -> None:
        self._type_watch.changed(key)
        self._heartbeat.wake_soon()
