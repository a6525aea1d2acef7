"""TLS proxy in front of a console, because kube-apiserver sends webhook requests over TLS only."""

import socket
import ssl
from contextlib import suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread
from types import TracebackType
from typing import Self

from tests.controlplane.pki import KeyPair


class TLSProxy(ThreadingTCPServer):
    """Forwards connections on `port` to a local port until the block ends."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, pair: KeyPair, to: int) -> None:
        self.to = to
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(pair.certificate, pair.key)
        super().__init__(("127.0.0.1", 0), _Connection)
        self.port = int(self.server_address[1])

    def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
        connection, peer = super().get_request()
        connection = self._tls.wrap_socket(
            connection, server_side=True, do_handshake_on_connect=False
        )
        return connection, peer

    def __enter__(self) -> Self:
        Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.shutdown()
        self.server_close()


class _Connection(BaseRequestHandler):
    server: TLSProxy
    request: socket.socket

    def handle(self) -> None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.server.to)) as inside:
            back = Thread(target=_pump, args=(inside, self.request), daemon=True)
            back.start()
            _pump(self.request, inside)
            back.join()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
