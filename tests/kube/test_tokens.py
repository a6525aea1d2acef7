"""Requested service account tokens: renewal, and behavior if the server doesn't respond."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
import urllib3
import yaml
from kubernetes import client as official

from console.kube import credentials, tokens
from console.kube.credentials import Credentials
from console.kube.errors import ApiError, Unauthorized, Unavailable
from console.kube.kubeconfig import ISSUER
from console.kube.tokens import RenewedToken, claims_of, is_issuer_token, request_token


def token(**claims: Any) -> str:
    parts = ({"alg": "none"}, claims)
    encoded = [urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts]
    return b".".join((*encoded, b"AA")).decode()


class Server:
    """Issue tokens that are valid for an hour, on a simulated clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.asked = 0
        self.failure: ApiError | None = None
        monkeypatch.setattr(tokens, "time", self)

    def monotonic(self) -> float:
        return self.now

    def ask(self) -> str:
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        return token(iat=5, exp=3605, n=self.asked)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    return Server(monkeypatch)


def test_token_is_used_for_most_of_its_lifetime(server: Server) -> None:
    requested = RenewedToken(server.ask)
    first = requested.get()
    server.now += 2800
    assert requested.get() == first and server.asked == 1
    server.now += 100
    assert requested.get() != first and server.asked == 2


def test_old_token_is_used_while_the_renewal_fails(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    requested = RenewedToken(server.ask)
    first = requested.get()
    server.failure = Unavailable("gone")
    server.now += 3000
    assert requested.get() == first and server.asked == 2
    # The renewal is not retried with every request.
    assert requested.get() == first and server.asked == 2
    assert "Cannot renew the console's token: gone" in caplog.text
    server.now += 700
    with pytest.raises(Unavailable):
        requested.get()
    server.failure, server.now = None, server.now + 3
    assert requested.get() != first


def test_failure_without_a_token_is_raised(server: Server) -> None:
    server.failure = Unauthorized(401, "no")
    requested = RenewedToken(server.ask)
    for _ in range(3):
        with pytest.raises(Unauthorized):
            requested.get()
    assert server.asked == 1


def test_requests_use_the_old_token_during_a_renewal(server: Server) -> None:
    asked, answer = Event(), Event()

    def ask() -> str:
        if server.asked:
            asked.set()
            assert answer.wait(10)
        return server.ask()

    requested = RenewedToken(ask)
    first = requested.get()
    server.now += 3000
    other = Thread(target=requested.get)
    other.start()
    assert asked.wait(10)
    assert requested.get() == first
    answer.set()
    other.join(10)
    assert requested.get() != first and server.asked == 2


def test_suspect_token_is_used_only_while_no_other_is_available(server: Server) -> None:
    requested = RenewedToken(server.ask)
    first = requested.get()
    server.failure = Unavailable("gone")
    requested.invalidate()
    assert requested.get() == first and server.asked == 2
    server.failure, server.now = None, server.now + 3
    assert requested.get() != first and server.asked == 3


def test_rejected_token_is_requested_again(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The account may have been recreated or the signing keys replaced before the token expired."""
    monkeypatch.setattr(credentials, "request_token", lambda _issuer, _role: server.ask())
    monkeypatch.setattr(credentials, "RELOAD_INTERVAL", 0.0)
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(
        yaml.safe_dump(
            {
                "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
                "users": [{"name": "u", "user": {}}],
                "contexts": [{"name": ISSUER, "context": {"cluster": "c", "user": "u"}}],
                "current-context": ISSUER,
            }
        )
    )
    found = Credentials("reader", str(kubeconfig))
    first = found.authorization()
    assert first == found.authorization()
    assert found.reload()
    assert found.authorization() not in (None, first)
    assert server.asked == 2


def test_unresponsive_server_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All page requests wait for the response."""
    asked = []

    def silent(address: Any, *_more: Any, **_options: Any) -> None:
        asked.append(address)
        raise TimeoutError

    monkeypatch.setattr(urllib3.util.connection, "create_connection", silent)
    with pytest.raises(Unavailable):
        request_token(official.Configuration(host="http://127.0.0.1:1"), "reader")
    assert len(asked) == 1


class Refusing(BaseHTTPRequestHandler):
    """Respond with the status code that is the first segment of the path."""

    def do_POST(self) -> None:
        self.send_response(int(self.path.split("/")[1]))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def refusing() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Refusing) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    "code, error", [(401, Unauthorized), (403, Unavailable), (404, Unavailable), (500, Unavailable)]
)
def test_only_an_invalid_credential_is_reported_as_such(
    refusing: str, code: int, error: type[ApiError]
) -> None:
    """Other errors allow no conclusion about the credential or the user's permissions."""
    with pytest.raises(error) as raised:
        request_token(official.Configuration(host=f"{refusing}/{code}"), "reader")
    assert type(raised.value) is error


@pytest.mark.parametrize("text", ["", "x", "a.b.c", "..", "a.b", "é.é.é", token(sub=5), token()])
def test_text_that_is_no_token_has_no_claims(text: str) -> None:
    found = claims_of(text)
    assert (found.subject, found.lifetime) == ("", 0)
    assert not is_issuer_token(text)


def test_issuer_token_is_recognized() -> None:
    account = "system:serviceaccount:quarterdeck-system:quarterdeck-issuer"
    assert is_issuer_token(token(sub=account))
    assert not is_issuer_token(token(sub=f"{account}2"))
