"""A plain HTTP client, so that a test sees exactly what a server responds.

Unlike the client of the real control plane's tests, it sends custom headers, exposes the
response headers, and reuses its connection because these tests send thousands of small requests.
"""

import base64
import contextlib
import http.client
import json
import ssl
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import yaml

Obj = dict[str, Any]
Params = Mapping[str, str | int | bool]
Headers = Sequence[tuple[str, str]]

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

#: kube-apiserver derives the default field manager from the User-Agent.
AGENT = "quarterdeck-tests"
_ANSWER_SECONDS = 30.0


@dataclass(frozen=True)
class Credentials:
    """A client's credentials: a bearer token, a certificate with its key in PEM, or none
    (anonymous).
    """

    token: str = ""
    certificate: bytes = b""
    key: bytes = b""

    @classmethod
    def from_kubeconfig(cls, path: Path) -> "Credentials":
        """Read the credentials of the file's first user. They must be embedded in the file."""
        user = yaml.safe_load(path.read_text())["users"][0]["user"]
        return cls(
            user.get("token", ""),
            base64.b64decode(user.get("client-certificate-data", "")),
            base64.b64decode(user.get("client-key-data", "")),
        )


@dataclass(frozen=True)
class Answer:
    """A response of any status."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def reason(self) -> str:
        """The `reason` of a Status, or an empty string for any other body."""
        return str(self.json.get("reason", ""))

    def ok(self) -> Any:
        """Return the decoded body of a success. Raise AssertionError with the server's message
        otherwise.
        """
        assert 200 <= self.status < 300, (self.status, self.body.decode())
        return self.json


def tls_context(ca_file: Path, who: Credentials) -> ssl.SSLContext:
    """Return a context that trusts only this certificate authority and presents the client
    certificate, if one is given.
    """
    context = ssl.create_default_context(cafile=str(ca_file))
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    if who.certificate:
        # The ssl module loads keys only from files.
        with tempfile.NamedTemporaryFile() as pair:
            pair.write(who.certificate + b"\n" + who.key)
            pair.flush()
            context.load_cert_chain(pair.name)
    return context


@dataclass
class Transport:
    """A connection to one server that is reused between requests."""

    url: str
    tls: ssl.SSLContext
    _kept: http.client.HTTPSConnection | None = field(default=None, repr=False)

    def send(self, method: str, path: str, data: bytes | None, headers: Headers) -> Answer:
        """Send a request. Retry it once on a new connection if the server closed the idle
        connection.
        """
        try:
            return self._send(method, path, data, headers)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            self.close()
            return self._send(method, path, data, headers)
        except TimeoutError:
            # Close the connection: a late response would be read as the response to the next
            # request.
            self.close()
            raise

    def _send(self, method: str, path: str, data: bytes | None, headers: Headers) -> Answer:
        if self._kept is None:
            self._kept = self.connect(_ANSWER_SECONDS)
        connection = self._kept
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        if data is not None:
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, found, response.read())

    def connect(self, timeout: float) -> http.client.HTTPSConnection:
        """Return a new connection that the caller closes."""
        address = urlsplit(self.url)
        host, port = address.hostname or "", address.port
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=self.tls)

    def close(self) -> None:
        if self._kept:
            self._kept.close()
            self._kept = None


@dataclass(frozen=True)
class Client:
    """Send requests as one identity. Not thread-safe. `extra` headers are sent with each request."""

    transport: Transport
    token: str = ""
    extra: Headers = ()

    def with_headers(self, *extra: tuple[str, str]) -> "Client":
        """Return a client with the same identity that sends additional headers with each request."""
        return Client(self.transport, self.token, (*self.extra, *extra))

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: Params | None = None,
        content_type: str = JSON,
    ) -> Answer:
        """Send a request. A body of bytes is sent unchanged, any other body as JSON."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        typed = () if data is None else (("Content-Type", content_type),)
        target = with_params(path, params)
        return self.transport.send(method, target, data, (*self._headers(), *typed))

    def get(self, path: str, **params: str | int | bool) -> Answer:
        return self.request("GET", path, params=params)

    def post(self, path: str, body: Any, **params: str | int | bool) -> Answer:
        return self.request("POST", path, body, params=params)

    def put(self, path: str, body: Any, **params: str | int | bool) -> Answer:
        return self.request("PUT", path, body, params=params)

    def delete(self, path: str, body: Any = None, **params: str | int | bool) -> Answer:
        return self.request("DELETE", path, body, params=params)

    def patch(self, path: str, body: Any, kind: str, **params: str | int | bool) -> Answer:
        return self.request("PATCH", path, body, params=params, content_type=kind)

    def apply(self, path: str, body: Obj, manager: str, **params: str | int | bool) -> Answer:
        return self.patch(path, body, APPLY_PATCH, fieldManager=manager, **params)

    @contextlib.contextmanager
    def stream(
        self, path: str, params: Params, timeout: float
    ) -> Iterator[http.client.HTTPResponse]:
        """Send a request on a separate connection and yield the response for reading in chunks."""
        connection = self.transport.connect(timeout)
        try:
            headers = dict(self._headers())
            connection.request("GET", with_params(path, params), headers=headers)
            with connection.getresponse() as response:
                yield response
        finally:
            connection.close()

    def _headers(self) -> Headers:
        first = [("User-Agent", AGENT)]
        if all(name != "Accept" for name, _ in self.extra):
            first.append(("Accept", JSON))
        if self.token:
            first.append(("Authorization", f"Bearer {self.token}"))
        return (*first, *self.extra)


def with_params(path: str, params: Params | None) -> str:
    """Return the path with its query string. Booleans are written as `true` and `false`, as
    Kubernetes expects.
    """
    if not params:
        return path
    query = {key: _text(value) for key, value in params.items()}
    return f"{path}?{urlencode(query)}"


def _text(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
