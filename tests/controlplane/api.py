"""A small HTTP client for kube-apiserver, so that tests of the console do not test with it."""

import http.client
import json
import select
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

__all__ = ["Answer", "Api"]


@dataclass(frozen=True)
class Answer:
    """What came back, whatever the status."""

    status: int
    body: bytes

    def json(self) -> Any:
        """The decoded body."""
        return json.loads(self.body)


class Api:
    """Requests as one identity: a client certificate in `tls`, or a bearer token, or nobody.

    Connections are kept for the next request: tests look again and again, and to open one takes both
    sides longer than most answers.
    """

    def __init__(self, url: str, tls: ssl.SSLContext, token: str | None = None) -> None:
        self._address = urlsplit(url)
        self._tls = tls
        self._headers = {"User-Agent": "quarterdeck-tests", "Accept": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        #: Of whichever thread.
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
    ) -> Answer:
        """OSError if there is no answer in time."""
        connection = self._kept(timeout) or self._connection(timeout)
        try:
            data = None if body is None else json.dumps(body).encode()
            connection.request(method, path, data, {**self._headers, "Content-Type": content_type})
            response = connection.getresponse()
            answer = Answer(response.status, response.read())
        except BaseException:
            connection.close()
            raise
        # One that the server wants closed has no socket any more.
        if connection.sock is not None:
            self._idle.append(connection)
        return answer

    def get(self, path: str, *, timeout: float = 30.0) -> Answer:
        """The commonest request."""
        return self.request("GET", path, timeout=timeout)

    def watch(self, path: str, *, timeout: float = 30.0) -> Iterator[dict[str, Any]]:
        """The events of a watch until the server ends it; TimeoutError after a silence.

        `path` carries the query. An answer other than 200 comes as one ERROR event, as it does
        when a watch fails after it began, so that a caller looks for errors in one place.
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
        """One on which the server has not said anything since, such as that it goes."""
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
