"""Tokens that are asked for: when, and what happens while nobody answers."""

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
from console.kube.tokens import Requested, claims_of, is_of_issuer, request_token


def token(**claims: Any) -> str:
    parts = ({"alg": "none"}, claims)
    encoded = [urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts]
    return b".".join((*encoded, b"AA")).decode()


class Server:
    """Gives out tokens for an hour, on a clock that is set."""

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


def test_one_serves_until_most_of_its_time_is_over(server: Server) -> None:
    requested = Requested(server.ask)
    first = requested.text()
    server.now += 2800
    assert requested.text() == first and server.asked == 1
    server.now += 100
    assert requested.text() != first and server.asked == 2


def test_the_old_one_serves_while_no_new_one_comes(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    requested = Requested(server.ask)
    first = requested.text()
    server.failure = Unavailable("gone")
    server.now += 3000
    assert requested.text() == first and server.asked == 2
    # Not asked for by every request that comes.
    assert requested.text() == first and server.asked == 2
    assert "is not renewed: gone" in caplog.text
    server.now += 700
    with pytest.raises(Unavailable):
        requested.text()
    server.failure, server.now = None, server.now + 3
    assert requested.text() != first


def test_without_any_the_failure_is_told(server: Server) -> None:
    server.failure = Unauthorized(401, "no")
    requested = Requested(server.ask)
    for _ in range(3):
        with pytest.raises(Unauthorized):
            requested.text()
    assert server.asked == 1


def test_nobody_waits_for_a_new_one_while_the_old_one_counts(server: Server) -> None:
    asked, answer = Event(), Event()

    def ask() -> str:
        if server.asked:
            asked.set()
            assert answer.wait(10)
        return server.ask()

    requested = Requested(ask)
    first = requested.text()
    server.now += 3000
    other = Thread(target=requested.text)
    other.start()
    assert asked.wait(10)
    assert requested.text() == first
    answer.set()
    other.join(10)
    assert requested.text() != first and server.asked == 2


def test_one_in_doubt_serves_only_while_no_other_comes(server: Server) -> None:
    requested = Requested(server.ask)
    first = requested.text()
    server.failure = Unavailable("gone")
    requested.doubt()
    assert requested.text() == first and server.asked == 2
    server.failure, server.now = None, server.now + 3
    assert requested.text() != first and server.asked == 3


def test_one_that_the_server_does_not_take_is_asked_for_anew(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its account may have been made anew, or the keys that sign: its time is not over."""
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


def test_a_server_that_does_not_answer_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody who wants to see a page waits for it."""
    asked = []

    def silent(address: Any, *_more: Any, **_options: Any) -> None:
        asked.append(address)
        raise TimeoutError

    monkeypatch.setattr(urllib3.util.connection, "create_connection", silent)
    with pytest.raises(Unavailable):
        request_token(official.Configuration(host="http://127.0.0.1:1"), "reader")
    assert len(asked) == 1


class Refusing(BaseHTTPRequestHandler):
    """Answers with the code that is the first part of the address."""

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
def test_only_a_credential_that_counts_no_more_is_told_as_that(
    refusing: str, code: int, error: type[ApiError]
) -> None:
    """All else says nothing of the credential, nor of what whoever is served may do."""
    with pytest.raises(error) as raised:
        request_token(official.Configuration(host=f"{refusing}/{code}"), "reader")
    assert type(raised.value) is error


@pytest.mark.parametrize("text", ["", "x", "a.b.c", "..", "a.b", "é.é.é", token(sub=5), token()])
def test_what_is_no_token_says_nothing(text: str) -> None:
    found = claims_of(text)
    assert (found.subject, found.lifetime) == ("", 0)
    assert not is_of_issuer(text)


def test_the_issuer_is_known_by_its_token() -> None:
    account = "system:serviceaccount:quarterdeck-system:quarterdeck-issuer"
    assert is_of_issuer(token(sub=account))
    assert not is_of_issuer(token(sub=f"{account}2"))
