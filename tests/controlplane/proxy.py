"""A proxy in front of kube-apiserver that simulates network faults.

    with CuttingProxy(cluster) as proxy:
        proxy.cut(after=1000)
        proxy.heal()

The proxy uses the server's certificate and therefore sees all requests: `seen` lists them, and
`answer` replaces responses. Faults remain active until `heal` or until they are changed.
"""

import asyncio
import json
import socket
import ssl
from collections.abc import Coroutine
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

from tests.controlplane.cluster import ControlPlane
from tests.controlplane.wire import (
    Connection,
    Faults,
    RecordedRequest,
    Script,
    ScriptedResponse,
    Upstream,
)
from tests.support.ports import LOOPBACK, free_port

__all__ = ["CuttingProxy", "RecordedRequest", "Script", "ScriptedResponse", "refusal"]

_SECONDS = 10.0

T = TypeVar("T")


def refusal(
    code: int,
    reason: str,
    message: str = "scripted",
    *,
    retry_after: int | None = None,
    cause: str = "",
) -> ScriptedResponse:
    """Return an error response with a `Status` like kube-apiserver's."""
    details: dict[str, Any] = {}
    if retry_after is not None:
        details["retryAfterSeconds"] = retry_after
    if cause:
        details["causes"] = [{"reason": cause, "message": message}]
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": details,
        "code": code,
    }
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return ScriptedResponse(code, json.dumps(body).encode(), headers)


class CuttingProxy:
    """Proxy that runs in its own thread. Methods can be called from any thread and return when the
    change is in effect.
    """

    def __init__(self, cluster: ControlPlane) -> None:
        self.port = free_port()
        self.url = f"https://{LOOPBACK}:{self.port}"
        self._wire = Faults()
        self._serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._serving.load_cert_chain(*cluster.serving)
        address = urlsplit(cluster.url)
        calling = ssl.create_default_context(cafile=str(cluster.ca_file))
        self._upstream = Upstream(address.hostname or "", address.port or 0, calling)
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._main, name="cutting-proxy", daemon=True)
        self._listener: socket.socket | None = None
        self._connections: dict[Connection, asyncio.Task[None]] = {}

    def __enter__(self) -> Self:
        started = Event()
        self._loop.call_soon(started.set)
        self._thread.start()
        started.wait(_SECONDS)
        self.accept()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._do(self._shut_down())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_SECONDS)

    @property
    def seen(self) -> list[RecordedRequest]:
        """All requests in order, including those whose responses were dropped or cut."""
        return list(self._wire.seen)

    # Faults

    def heal(self) -> None:
        """Remove all faults. Half-open connections stay half-open."""
        self._wire.script = None
        self._wire.piece = None
        self._wire.hold = 0.0
        self._wire.swallow = False
        self.cut(after=None)
        self.accept()

    def answer(self, script: Script | None) -> None:
        """Let `script` replace responses."""
        self._wire.script = script

    def reset(self, resource: str = "") -> None:
        """Reset (RST) all connections, or those whose last request was for `resource`."""

        async def reset() -> None:
            for connection in self._asked_for(resource):
                connection.reset()

        self._do(reset())

    def cut(self, *, after: int | None) -> None:
        """Reset (RST) each connection after this many more response bytes."""
        self._wire.cut_after = after
        self._wire.cuts += 1

    def deliver(self, *, piece: int | None = None, hold: float = 0.0) -> None:
        """Send responses in pieces of this many bytes, or delayed by this many seconds and merged."""
        self._wire.piece, self._wire.hold = piece, hold

    def refuse(self) -> None:
        """Refuse new connections. Existing connections are not affected."""

        async def refuse() -> None:
            self._stop_listening()

        self._do(refuse())

    def accept(self) -> None:
        """Accept new connections again."""

        async def accept() -> None:
            if self._listener is None:
                self._listener = socket.create_server((LOOPBACK, self.port), backlog=100)
                self._listener.setblocking(False)
                # Don't use `sock_accept`: if it is canceled while a client connects, it accepts the
                # connection, loses it and logs an error.
                self._loop.add_reader(self._listener, self._accept, self._listener)

        self._do(accept())

    def swallow(self, resource: str = "") -> None:
        """Make all connections half-open permanently, and new ones until `heal`. With `resource`,
        affect only the connections whose last request was for it.
        """

        async def swallow() -> None:
            self._wire.swallow = not resource
            for connection in self._asked_for(resource):
                connection.dead = True

        self._do(swallow())

    # Methods that run on the proxy's thread

    def _asked_for(self, resource: str) -> list[Connection]:
        """Return the connections whose last request was for the resource, or all for ""."""
        return [
            one
            for one in self._connections
            if not resource or (one.last is not None and one.last.resource == resource)
        ]

    def _main(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def _do(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(_SECONDS)

    def _stop_listening(self) -> None:
        if self._listener is not None:
            self._loop.remove_reader(self._listener)
            self._listener.close()
            self._listener = None

    def _accept(self, listener: socket.socket) -> None:
        try:
            client, _ = listener.accept()
        except OSError:
            # The client disconnected in the meantime.
            return
        client.setblocking(False)
        connection = Connection(self._wire, client, self._serving, self._upstream)
        task = self._loop.create_task(connection.run())
        self._connections[connection] = task
        task.add_done_callback(lambda _: self._connections.pop(connection, None))

    async def _shut_down(self) -> None:
        self._stop_listening()
        tasks = [*self._connections.values()]
        for task in tasks:
            task.cancel()
        connections = list(self._connections)
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in connections:
            connection.reset()
        # Aborted transports are closed in the next iterations of the event loop.
        for _ in range(3):
            await asyncio.sleep(0)
