"""A small HTTP client for kube-apiserver that is independent of the console's client."""

import http.client
import json
import select
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

__all__ = ["Api", "Response"]


@dataclass(frozen=True)
class Response:
    """A response with any status code."""

    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Api:
    """HTTP client with one identity: a client certificate in `tls`, a bearer token, or anonymous.

    Connections are reused, because tests poll often and opening a connection takes longer than
    most responses.
    """

    def __init__(self, url: str, tls: ssl.SSLContext, token: str | None = None) -> None:
        self._address = urlsplit(url)
        self._tls = tls
        self._headers = {"User-Agent": "quarterdeck-tests", "Accept": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        #: Idle connections, shared by all threads.
        self._idle: list[http.client.HTTPSConnection] = []

    def __del__(self) -> None:
        for connection in self._idle:
            connection.close()

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        timeout: float = 30.0,
    ) -> Response:
        """Send a request. Raise OSError if there is no response in time."""
        connection = self._kept(timeout) or self._connection(timeout)
        try:
            data = None if body is None else json.dumps(body).encode()
            connection.request(method, path, data, {**self._headers, "Content-Type": content_type})
            response = connection.getresponse()
            answer = Response(response.status, response.read())
        except BaseException:
            connection.close()
            raise
        # The socket is None if the server requested to close the connection.
        if connection.sock is not None:
            self._idle.append(connection)
        return answer

    def get(self, path: str, *, timeout: float = 30.0) -> Response:
        return self.request("GET", path, timeout=timeout)

    def watch(self, path: str, *, timeout: float = 30.0) -> Iterator[dict[str, Any]]:
        """Yield the events of a watch until the server closes it. Raise TimeoutError if no data
        arrives in time.

        `path` includes the query. A response other than 200 is yielded as one ERROR event, like
        errors that occur during a watch, so that callers handle errors in one place.
        """
        connection = self._connection(timeout)
        try:
            connection.request("GET", path, headers=self._headers)
            response = connection.getresponse()
            if response.status != http.client.OK:
                yield {"type": "ERROR", "object": json.loads(response.read())}
                return
            while line := response.readline():
                yield json.loads(line)
        finally:
            connection.close()

    def _kept(self, timeout: float) -> http.client.HTTPSConnection | None:
        """Return an idle connection that the server has not closed, or None."""
        while self._idle:
            connection = self._idle.pop()
            poll = select.poll()
            poll.register(connection.sock, select.POLLIN)
            if not poll.poll(0):
                connection.sock.settimeout(timeout)
                return connection
            connection.close()
        return None

    def _connection(self, timeout: float) -> http.client.HTTPSConnection:
        host, port = self._address.hostname or "", self._address.port
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=self._tls)
