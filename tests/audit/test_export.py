"""Exports of audit records to real receivers: a web server, and syslog servers over UDP, TCP and TLS."""

import hashlib
import hmac
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from console.audit.chain import seal
from console.audit.export import DeliveryError, Target, configured_targets, connect, deliver
from console.audit.models import AuditExport
from tests.audit.rows import recorded
from tests.controlplane.pki import Authority

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "webhook-secret-of-tests"


class Receiver(HTTPServer):
    """Web server that keeps requests. `status` is the status of its responses."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.received: list[tuple[dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook?a=b"

    @property
    def names(self) -> list[str]:
        return [
            one["name"] for _headers, body in self.received for one in json.loads(body)["records"]
        ]


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        assert self.path == "/hook?a=b"
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append((dict(self.headers), body))
        self.send_response(self.server.status)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_args: Any) -> None:
        """Print nothing."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def target(receiver: Receiver, settings: Settings) -> Target:
    settings.AUDIT_WEBHOOK_URL, settings.AUDIT_WEBHOOK_SECRET = receiver.url, SECRET
    recorded("before")
    seal()
    (found,) = configured_targets()
    # The target receives the records that follow.
    assert not deliver(found)
    return found


def due() -> None:
    AuditExport.objects.update(next_try=timezone.now())


def test_a_webhook_receives_signed_records_in_order(receiver: Receiver, target: Target) -> None:
    for number in range(3):
        recorded(f"web-{number}", code=403)
    seal()
    assert deliver(target)
    assert not deliver(target)
    ((headers, body),) = receiver.received
    content = headers["X-Quarterdeck-Timestamp"].encode() + b"." + body
    signature = hmac.new(SECRET.encode(), content, hashlib.sha256).hexdigest()
    assert headers["X-Quarterdeck-Signature"] == f"sha256={signature}"
    records = json.loads(body)["records"]
    assert [(one["name"], one["code"], one["seq"]) for one in records] == [
        (f"web-{number}", 403, number + 2) for number in range(3)
    ]


@pytest.mark.parametrize("status", [302, 404, 500])
def test_a_failed_delivery_is_repeated_later(
    receiver: Receiver, target: Target, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    recorded("web")
    seal()
    receiver.status = status
    assert not deliver(target)
    assert f"the response status is {status}" in caplog.text
    row = AuditExport.objects.get()
    assert (row.failures, row.seq) == (1, 1)
    assert not deliver(target) and len(receiver.received) == 1
    receiver.status = 204
    due()
    assert deliver(target)
    assert receiver.names == ["web", "web"]
    assert AuditExport.objects.get().failures == 0


def test_the_wait_between_attempts_grows_to_five_minutes(
    target: Target, settings: Settings
) -> None:
    recorded("web")
    seal()
    settings.AUDIT_WEBHOOK_URL = "http://127.0.0.1:1/"
    waits = []
    for _attempt in range(10):
        due()
        deliver(target)
        waits.append((AuditExport.objects.get().next_try - timezone.now()).total_seconds())
    assert [round(one) for one in waits[:3]] == [2, 4, 8]
    assert round(waits[-1]) == 300


def test_one_process_delivers_at_a_time(receiver: Receiver, target: Target) -> None:
    recorded("web")
    seal()
    AuditExport.objects.update(next_try=timezone.now() + timedelta(seconds=30))
    assert not deliver(target)
    assert receiver.received == []


@pytest.mark.parametrize("host", ["169.254.169.254", "fe80::1%lo", "224.0.0.1", "0.0.0.0", "::"])  # noqa: S104
def test_addresses_of_no_receiver_are_refused(host: str) -> None:
    with pytest.raises((DeliveryError, OSError), match="not allowed|No route|Invalid|resolution"):
        connect(host, 80, socket.SOCK_STREAM)


def listening(kind: socket.SocketKind) -> socket.socket:
    found = socket.socket(socket.AF_INET, kind)
    found.bind(("127.0.0.1", 0))
    found.settimeout(10)
    if kind is socket.SOCK_STREAM:
        found.listen()
    return found


def all_of(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))


def sent(scheme: str, settings: Settings, read: Callable[[socket.socket], bytes]) -> bytes:
    """Return what a syslog server receives of two records."""
    kind = socket.SOCK_DGRAM if scheme == "udp" else socket.SOCK_STREAM
    with closing(listening(kind)) as server:
        settings.AUDIT_SYSLOG = f"{scheme}://localhost:{server.getsockname()[1]}"
        (target,) = configured_targets()
        assert not deliver(target)
        recorded("web")
        recorded("secret", code=403)
        seal()
        found: list[bytes] = []
        reader = threading.Thread(target=lambda: found.append(read(server)))
        reader.start()
        assert deliver(target)
        reader.join()
    return found[0]


def accepted(server: socket.socket) -> bytes:
    with server.accept()[0] as connection:
        return all_of(connection)


def framed(data: bytes) -> list[bytes]:
    """Split messages with octet counting (RFC 6587, section 3.4.1)."""
    messages = []
    while data:
        size, _space, data = data.partition(b" ")
        messages.append(data[: int(size)])
        data = data[int(size) :]
    return messages


def check(messages: list[bytes]) -> None:
    """Check the format of RFC 5424."""
    names = []
    for message in messages:
        priority, _time, _host, program, process, kind, data, text = message.split(b" ", 7)
        assert (program, process, kind, data) == (b"quarterdeck", b"-", b"delete", b"-")
        record = json.loads(text)
        names.append(record["name"])
        assert priority == (b"<108>1" if record["code"] == 403 else b"<110>1")
    assert names == ["web", "secret"]


def test_syslog_over_udp(settings: Settings) -> None:
    data: list[bytes] = []

    def read(server: socket.socket) -> bytes:
        data.extend(server.recv(65536) for _message in range(2))
        return b""

    sent("udp", settings, read)
    check(data)


def test_syslog_over_tcp(settings: Settings) -> None:
    check(framed(sent("tcp", settings, accepted)))


def test_syslog_over_tls(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path)
    serving = authority.server("syslog", hosts=["localhost"], addresses=[])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*serving)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))

    def read(server: socket.socket) -> bytes:
        connection, _address = server.accept()
        with context.wrap_socket(connection, server_side=True) as secured:
            return all_of(secured)

    check(framed(sent("tls", settings, read)))


def test_an_untrusted_syslog_server_receives_nothing(
    settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving = Authority(tmp_path).server("syslog", hosts=["localhost"], addresses=[])
    context.load_cert_chain(*serving)
    with closing(listening(socket.SOCK_STREAM)) as server:
        settings.AUDIT_SYSLOG = f"tls://localhost:{server.getsockname()[1]}"
        (target,) = configured_targets()
        deliver(target)
        recorded("web")
        seal()

        def read() -> None:
            connection, _address = server.accept()
            with connection, pytest.raises(OSError):
                context.wrap_socket(connection, server_side=True).close()

        reader = threading.Thread(target=read)
        reader.start()
        assert not deliver(target)
        reader.join()
    assert "CERTIFICATE_VERIFY_FAILED" in caplog.text
    assert AuditExport.objects.get().failures == 1
