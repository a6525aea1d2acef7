"""A running API server: a thread with an event loop, from start to stop."""

import asyncio
import socket
import sqlite3
import ssl
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from aiohttp import web

from devcluster.audit import RequestLog
from devcluster.cluster import Cluster
from devcluster.database import Database
from devcluster.gateway import BODY_LIMIT, Gateway
from devcluster.manager import ControllerManager
from devcluster.pki import Authority
from devcluster.releases import Release
from devcluster.sample_data import SampleOptions

_START_SECONDS = 120.0
_STOP_SECONDS = 10.0
_HANG_UP_SECONDS = 1.0
T = TypeVar("T")


class ServerThread:
    """Run the cluster in its own thread, and take ownership of the listening socket and the
    database.

    `sample` is None for a cluster without sample data.
    """

    def __init__(
        self,
        listener: socket.socket,
        tls: ssl.SSLContext,
        database: Database,
        token_file: Path,
        authority: Authority,
        audit: RequestLog,
        sample: SampleOptions | None,
        release: Release,
    ) -> None:
        self._listener, self._tls, self._database = listener, tls, database
        self._token_file, self._audit, self._sample = token_file, audit, sample
        self._authority, self._release = authority, release
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._main, name="devcluster", daemon=True)
        self._loop: asyncio.AbstractEventLoop
        self._cluster: Cluster
        self._manager: ControllerManager
        self._end: asyncio.Event
        self._abruptly = False

    def start(self) -> None:
        """Start the thread and wait until requests are accepted. Re-raise errors of the start."""
        self._thread.start()
        try:
            self._ready.result(_START_SECONDS)
        except sqlite3.Error:
            self._thread.join(_STOP_SECONDS)
            raise

    def stop(self, *, abruptly: bool) -> None:
        self._abruptly = abruptly
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(_STOP_SECONDS)

    def call(self, function: Callable[[Cluster], T]) -> T:
        """Run the function on the cluster's thread and return its result."""

        async def run() -> T:
            return function(self._cluster)

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(_STOP_SECONDS)

    def wait_until_idle(self, seconds: float) -> None:
        """Wait until the controllers are idle. Raise TimeoutError after `seconds`."""
        waiting = asyncio.run_coroutine_threadsafe(self._manager.wait_until_idle(), self._loop)
        try:
            waiting.result(seconds)
        except TimeoutError:
            waiting.cancel()
            raise

    def _main(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - re-raised by start()
            if not self._ready.done():
                self._ready.set_exception(error)
        finally:
            self._listener.close()
            self._database.close()

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        self._cluster = Cluster(self._database, self._token_file, self._audit, self._release)
        self._manager = ControllerManager(self._cluster, self._authority, sample=self._sample)
        gateway = Gateway(self._cluster)
        application = web.Application(client_max_size=BODY_LIMIT)
        application.router.add_route("*", "/{path:.*}", gateway.handle)
        runner = web.AppRunner(
            application, access_log=None, shutdown_timeout=1.0, handler_cancellation=True
        )
        await runner.setup()
        await self._manager.start()
        await web.SockSite(runner, self._listener, ssl_context=self._tls).start()
        self._ready.set_result(None)
        await self._end.wait()
        await self._manager.stop()
        if self._abruptly and runner.server:
            self._abort_connections(runner.server)
        for answer in tuple(gateway.open_streams):
            answer.close()
        sockets = [one.get_extra_info("socket") for one in _transports(runner.server)]
        await runner.cleanup()
        await _hang_up(sockets)

    def _abort_connections(self, server: web.Server) -> None:
        """Abort all connections without closing them properly, like a killed process."""
        self._listener.close()
        for transport in _transports(server):
            transport.abort()


def _transports(server: web.Server | None) -> list[asyncio.Transport]:
    """Return the transports of the open connections."""
    if server is None:
        return []
    return [one.transport for one in server.connections if one.transport is not None]


async def _hang_up(sockets: list[socket.socket]) -> None:
    """Close connections that still wait for the client to complete the TLS shutdown.

    A client may not be reading. Sockets that are open when the loop stops would stay open.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(_HANG_UP_SECONDS):
            while left := [one for one in sockets if one.fileno() >= 0]:
                for one in left:
                    with suppress(OSError):
                        one.shutdown(socket.SHUT_RDWR)
                await asyncio.sleep(0)
