"""A proxy before kube-apiserver that breaks connections in the ways that networks do.

    with CuttingProxy(cluster) as proxy:
        proxy.cut(after=1000)
        proxy.heal()

It has the server's own certificate and so sees every request: `seen` counts them, and `answer` speaks
in the server's place. The faults stay until `heal`, or until they are set otherwise.
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
from tests.controlplane.wire import Answer, Connection, Script, Seen, Upstream, Wire
from tests.ports import LOOPBACK, free_port

__all__ = ["Answer", "CuttingProxy", "Script", "Seen", "refusal"]

_SECONDS = 10.0

T = TypeVar("T")


def refusal(
    code: int,
    reason: str,
    message: str = "scripted",
    *,
    retry_after: int | None = None,
    cause: str = "",
) -> Answer:
    """A `Status`, as kube-apiserver words its refusals."""
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
    return Answer(code, json.dumps(body).encode(), headers)


class CuttingProxy:
    """Runs in a thread of its own. Its methods may be called from any, and return when it is so."""

    def __init__(self, cluster: ControlPlane) -> None:
        self.port = free_port()
        self.url = f"https://{LOOPBACK}:{self.port}"
        self._wire = Wire()
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
    def seen(self) -> list[Seen]:
        """All requests so far, in order; also those whose answers were swallowed or cut."""
        return list(self._wire.seen)

    # Faults

    def heal(self) -> None:
        """Ends all faults; connections that were made half-open stay so."""
        self._wire.script = None
        self._wire.piece = None
        self._wire.hold = 0.0
        self._wire.swallow = False
        self.cut(after=None)
        self.accept()

    def answer(self, script: Script | None) -> None:
        """Lets `script` answer what it wants to."""
        self._wire.script = script

    def reset(self, resource: str = "") -> None:
        """RST on every connection that there is, or on those that were last asked for `resource`."""

        async def reset() -> None:
            for connection in self._asked_for(resource):
                connection.reset()

        self._do(reset())

    def cut(self, *, after: int | None) -> None:
        """RST on each connection once so many more bytes of answers went through it."""
        self._wire.cut_after = after
        self._wire.cuts += 1

    def deliver(self, *, piece: int | None = None, hold: float = 0.0) -> None:
        """Answers in pieces of so many bytes, or so many seconds later and merged."""
        self._wire.piece, self._wire.hold = piece, hold

    def refuse(self) -> None:
        """New connections are refused. Those that there are go on."""

        async def refuse() -> None:
            self._stop_listening()

        self._do(refuse())

    def accept(self) -> None:
        """New connections are accepted again."""

        async def accept() -> None:
            if self._listener is None:
                self._listener = socket.create_server((LOOPBACK, self.port), backlog=100)
                self._listener.setblocking(False)
                # Not `sock_accept`: cancelled while somebody connects, it accepts all the same, keeps
                # nothing of the connection, and logs an error.
                self._loop.add_reader(self._listener, self._accept, self._listener)

        self._do(accept())

    def swallow(self, resource: str = "") -> None:
        """Makes every connection half-open, for ever, and new ones too until `heal`; or only those
        that were last asked for `resource`."""

        async def swallow() -> None:
            self._wire.swallow = not resource
            for connection in self._asked_for(resource):
                connection.dead = True

        self._do(swallow())

    # The proxy's thread.

    def _asked_for(self, resource: str) -> list[Connection]:
        """The connections that were last asked for the resource; for "" all."""
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
            # The client has gone meanwhile.
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
        # What was aborted is closed at the loop's next turns.
        for _ in range(3):
            await asyncio.sleep(0)
