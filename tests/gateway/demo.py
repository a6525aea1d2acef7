"""The demo with its gateway, and clients of the gateway."""

import json
import socket
import sqlite3
import ssl
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from devcluster.pki import Authority, write_private
from tests.accounts.kubesphere.world import Visitor
from tests.browser.console import kubectl_program
from tests.contract.cluster import Kubectl
from tests.support.demo import PASSWORD

REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = b'{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'


@dataclass
class Reply:
    """A response, or the end of the connection if `status` is 0."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def object(self) -> Any:
        return json.loads(self.body)


@dataclass
class Demo:
    """`url` is the console's own address, `folder` the state of the demo."""

    url: str
    folder: Path

    def kubeconfig(self, user: str) -> Path:
        """Return the kubeconfig that uses the gateway."""
        return self.folder / f"{user}.kubeconfig"

    def direct_kubeconfig(self, user: str) -> Path:
        """Return a kubeconfig that uses the embedded cluster itself, with a client certificate."""
        authority = Authority(self.folder / "cluster" / "pki")
        found = yaml.safe_load((self.folder / "kubeconfig").read_text())
        pair = authority.issue_client(user, ())
        files = [self.folder / f"direct-{user}.{one}" for one in ("crt", "key")]
        for path, data in zip(files, (pair.certificate, pair.key), strict=True):
            write_private(path, data)
        found["users"][0]["user"] = {
            "client-certificate": str(files[0]),
            "client-key": str(files[1]),
        }
        path = self.folder / f"direct-{user}.kubeconfig"
        write_private(path, yaml.safe_dump(found).encode())
        return path

    def kubectl(self, kubeconfig: Path, namespace: str = "default") -> Kubectl:
        return Kubectl(kubectl_program(), kubeconfig, self.folder, namespace)

    def token(self, user: str) -> str:
        found = yaml.safe_load(self.kubeconfig(user).read_text())
        return str(found["users"][0]["user"]["token"])

    def records(self) -> list[dict[str, Any]]:
        """Return the audit records, oldest first."""
        with closing(sqlite3.connect(self.folder / "quarterdeck.sqlite3")) as database:
            database.row_factory = sqlite3.Row
            rows = database.execute("SELECT * FROM audit_auditrecord ORDER BY id")
            return [dict(row) for row in rows]

    def visitor(self, user: str) -> Visitor:
        found = Visitor(self.url)
        assert found.sign_in(user, PASSWORD)
        return found

    @cached_property
    def tls_port(self) -> int:
        found = yaml.safe_load(self.kubeconfig("admin").read_text())
        return urlsplit(found["clusters"][0]["cluster"]["server"]).port or 443

    def send(
        self, method: str, path: str, *lines: str, user: str = "admin", body: bytes = b""
    ) -> Reply:
        """Send a request with header `lines`, as a user if `user` is not empty."""
        head = [f"{method} {path} HTTP/1.1", f"Host: {urlsplit(self.url).netloc}", *lines]
        if user:
            head.append(f"Authorization: Bearer {self.token(user)}")
        if body:
            head += [f"Content-Length: {len(body)}", "Content-Type: application/json"]
        return self.raw("\r\n".join([*head, "Connection: close", "", ""]).encode() + body)

    def raw(self, data: bytes) -> Reply:
        """Send bytes and read the first response."""
        with self.connect() as connection:
            return exchange(connection, data)

    def connect(self) -> socket.socket:
        port = urlsplit(self.url).port
        return socket.create_connection(("127.0.0.1", port), timeout=20)

    def connect_tls(self, user: str = "") -> ssl.SSLSocket:
        """Connect to the TLS port, with a client certificate of a user."""
        authority = Authority(self.folder / "cluster" / "pki")
        context = ssl.create_default_context(cafile=str(authority.certificate_file))
        if user:
            self.direct_kubeconfig(user)
            files = (self.folder / f"direct-{user}.{one}" for one in ("crt", "key"))
            context.load_cert_chain(next(files), next(files))
        plain = socket.create_connection(("127.0.0.1", self.tls_port), timeout=20)
        return context.wrap_socket(plain, server_hostname="127.0.0.1")


def download(visitor: Visitor, scope: str) -> str:
    """Return the token in a kubeconfig for the console that the account page creates."""
    status, text = visitor.post("/account", "/account/kubeconfig/console", days="7", scope=scope)
    assert status == 200, text
    return str(yaml.safe_load(text)["users"][0]["user"]["token"])


def exchange(connection: socket.socket, data: bytes) -> Reply:
    """Send bytes and read a response until its end."""
    # The server may refuse before it has read everything.
    with suppress(OSError):
        connection.sendall(data)
    raw = b""
    try:
        while b"\r\n\r\n" not in raw:
            piece = connection.recv(65536)
            if not piece:
                return Reply(0)
            raw += piece
        reply, rest = _head(raw)
        length = reply.headers.get("content-length")
        while length is None or len(rest) < int(length):
            piece = connection.recv(65536)
            if not piece:
                break
            rest += piece
    except ConnectionResetError:
        return Reply(0)
    chunked = reply.headers.get("transfer-encoding", "").lower() == "chunked"
    reply.body = _joined_chunks(rest) if chunked else rest
    return reply


def _joined_chunks(raw: bytes) -> bytes:
    """Return a body in chunks, of which the last one may be missing (RFC 9112, section 7.1)."""
    found = b""
    while raw:
        size, _end, rest = raw.partition(b"\r\n")
        length = int(size, 16)
        found += rest[:length]
        raw = rest[length + 2 :] if length else b""
    return found


def _head(raw: bytes) -> tuple[Reply, bytes]:
    head, _end, rest = raw.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(": ") for line in lines)
    return Reply(int(status.split()[1]), {n.lower(): value for n, _mark, value in pairs}), rest
