"""The cluster core at work: one thread with its own event loop, its informers and its clients.

A process has one `Runtime`, made and started by its composition root (`console.asgi`, or the command
that runs the controllers). Everything else gets it from `get_runtime()`.

Promises: an informer is started by its first use and shared by all; `informer()`, `as_user()` and
`console` may be used from any thread; informers run on the core's thread alone. A probe asks
kube-apiserver for a sign of life every few seconds, so that a connection that hangs is noticed, and
wakes what waits for a server that is back.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from threading import Event, Lock, Thread
from typing import Any, Protocol, TypeVar

from console.kube.client import (
    CONSOLE,
    READER,
    WRITER,
    ConsoleClient,
    Credentials,
    ReaderClient,
    Transport,
    UserClient,
)
from console.kube.clock import Clock, SystemClock
from console.kube.errors import ApiError
from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, GVR
from console.kube.identity import Identity
from console.kube.informer import ChangeSignal, Informer
from console.kube.listwatch import ListWatch
from console.kube.projections import DECODERS

log = logging.getLogger(__name__)

#: Seconds between two probes while they are answered, and while they are not.
PROBE_INTERVAL, PROBE_RETRY = 5.0, 1.0

T = TypeVar("T")


class UnknownKind(LookupError):
    """The cache has no projection for this type."""


class Reads(Protocol):
    """What pages, sockets and the authorizer need of a runtime."""

    def informer(self, gvr: GVR) -> Informer[Any]: ...


class Runtime:
    def __init__(self, *, kubeconfig: str | None = None, clock: Clock | None = None) -> None:
        """Reads the credentials; raises `NoCluster` if there are none. Connects nowhere yet."""
        self.clock: Clock = clock or SystemClock()
        self._transports = {
            role: Transport(Credentials(role, kubeconfig)) for role in (READER, WRITER, CONSOLE)
        }
        self._reader = ReaderClient(self._transports[READER])
        self.console = ConsoleClient(self._transports[CONSOLE])
        self._informers: dict[GVR, Informer[Any]] = {}
        #: What must have synced before this process is ready.
        self.required: tuple[GVR, ...] = ()
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._last_answer = self.clock.now()

    # Any thread.

    def start(self) -> None:
        """Starts the core's thread. Returns when it runs."""
        started = Event()
        self._thread = Thread(
            target=self._main, args=(started,), name="quarterdeck-core", daemon=True
        )
        self._thread.start()
        started.wait()

    def stop(self) -> None:
        """Ends all informers and the thread. A stopped runtime cannot be started again."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._shut_down(), loop).result(timeout=10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=10)

    def informer(self, gvr: GVR) -> Informer[Any]:
        """The shared informer of a type, started if this is its first use."""
        informer = self._informers.get(gvr)
        if informer is not None:
            return informer
        decode = DECODERS.get(gvr)
        if decode is None:
            raise UnknownKind(gvr.qualified)
        with self._lock:
            informer = self._informers.get(gvr)
            if informer is None:
                informer = self._informers[gvr] = Informer(gvr, decode, clock=self.clock)
                source = ListWatch(self._reader, gvr)
                self.spawn(informer.run(source))
        return informer

    def require(self, gvrs: Sequence[GVR]) -> None:
        """Starts these now; the process is ready once they have synced."""
        self.required = tuple(gvrs)
        for gvr in gvrs:
            self.informer(gvr)

    def informers(self) -> Mapping[GVR, Informer[Any]]:
        """Those in use."""
        return dict(self._informers)

    def as_user(self, identity: Identity) -> UserClient:
        return UserClient(self._transports[WRITER], identity)

    async def wait_synced(self, gvr: GVR, *, timeout: float) -> bool:
        """True as soon as the informer has its first list; False after `timeout` seconds."""
        informer = self.informer(gvr)
        with ChangeSignal(informer, asyncio.get_running_loop()) as changed:
            try:
                async with asyncio.timeout(timeout):
                    while not informer.freshness.synced:
                        changed.clear()
                        if informer.freshness.synced:
                            break
                        await changed.wait()
            except TimeoutError:
                return False
        return True

    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
        """Runs a coroutine on the core's loop until it ends or the runtime stops."""
        if self._loop is None:
            coroutine.close()
            raise RuntimeError("the runtime is not started")
        return asyncio.run_coroutine_threadsafe(self._supervised(coroutine), self._loop)

    async def close_connections(self) -> None:
        """Closes the calling loop's connections to kube-apiserver."""
        for transport in self._transports.values():
            await transport.close()

    # The core's thread.

    def _main(self, started: Event) -> None:
        loop = self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        loop.call_soon(started.set)
        loop.call_soon(lambda: self.spawn(self._probe()))
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    async def _supervised(self, coroutine: Coroutine[Any, Any, T]) -> T:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
        try:
            return await coroutine
        except asyncio.CancelledError:
            raise
        except BaseException:
            log.exception("A task of the cluster core ended")
            raise
        finally:
            if task is not None:
                self._tasks.discard(task)

    async def _shut_down(self) -> None:
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.close_connections()

    async def _probe(self) -> None:
        """Doubts the informers while kube-apiserver is silent, and wakes them when it answers."""
        self.informer(CUSTOM_RESOURCE_DEFINITIONS).add_listener(lambda _key: self._wake_all())
        silent = False
        while True:
            try:
                await self._reader.ready()
            except ApiError as error:
                silent = True
                if error.code == 503:
                    self._doubt_all()
            else:
                self._last_answer = self.clock.now()
                for informer in self.informers().values():
                    informer.doubt(None)
                if silent:
                    self._wake_all()
                silent = False
            await self.clock.sleep(PROBE_RETRY if silent else PROBE_INTERVAL)

    def _doubt_all(self) -> None:
        for informer in self.informers().values():
            informer.doubt(self._last_answer)

    def _wake_all(self) -> None:
        """Also when a type was defined: an informer may be waiting for it to exist."""
        for informer in self.informers().values():
            informer.wake()


class StaticRuntime:
    """Informers that are already there, for tests of whatever reads a `Runtime`."""

    def __init__(
        self,
        informers: Mapping[GVR, Informer[Any]],
        user_client: Callable[[Identity], UserClient] | None = None,
    ) -> None:
        self._informers = dict(informers)
        self.required = tuple(informers)
        self._user_client = user_client

    def informer(self, gvr: GVR) -> Informer[Any]:
        try:
            return self._informers[gvr]
        except KeyError:
            raise UnknownKind(gvr.qualified) from None

    def informers(self) -> Mapping[GVR, Informer[Any]]:
        return self._informers

    def as_user(self, identity: Identity) -> UserClient:
        if self._user_client is None:
            raise AssertionError("this test has no client")
        return self._user_client(identity)

    async def wait_synced(self, gvr: GVR, *, timeout: float) -> bool:  # noqa: ASYNC109
        return self.informer(gvr).freshness.synced


class CurrentRuntime(Reads, Protocol):
    @property
    def required(self) -> tuple[GVR, ...]: ...
    def informers(self) -> Mapping[GVR, Informer[Any]]: ...
    def as_user(self, identity: Identity) -> UserClient: ...
    async def wait_synced(self, gvr: GVR, *, timeout: float) -> bool: ...


_current: CurrentRuntime | None = None


def set_runtime(runtime: CurrentRuntime | None) -> None:
    """Says which runtime this process has. The composition root's alone, and tests'."""
    global _current
    _current = runtime


def get_runtime() -> CurrentRuntime:
    if _current is None:
        raise RuntimeError("no runtime: console.asgi has not started one")
    return _current
