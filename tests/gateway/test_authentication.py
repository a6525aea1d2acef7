"""Credentials of the gateway's clients: tokens, sessions, and when they end."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from tests.accounts.kubesphere.world import Visitor
from tests.controlplane.waiting import eventually
from tests.gateway.demo import REVIEW, REVIEWS, Demo, download, exchange

pytestmark = pytest.mark.programs

CONFIG_MAPS = "/api/v1/namespaces/payments/configmaps"


def cookie_of(visitor: Visitor) -> str:
    return "; ".join(f"{one.name}={one.value}" for one in visitor.cookies)


def page_token(visitor: Visitor) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', visitor.get("/account")[1])
    assert found
    return found[1]


def bearer(token: str) -> str:
    return f"Authorization: Bearer {token}"


def test_a_browser_that_is_signed_in_reads_the_api(demo: Demo) -> None:
    line = f"Cookie: {cookie_of(demo.visitor('alice'))}"
    reply = demo.send("GET", "/api", line, "Sec-Fetch-Site: none", user="")
    assert (reply.status, reply.object["kind"]) == (200, "APIVersions")
    elsewhere = demo.send("GET", "/api", line, "Sec-Fetch-Site: cross-site", user="")
    assert (elsewhere.status, elsewhere.object["kind"]) == (403, "Status")


def test_a_session_needs_the_token_of_a_page_to_write(demo: Demo) -> None:
    visitor = demo.visitor("alice")
    token = f"X-CSRFToken: {page_token(visitor)}"
    cookie, origin = f"Cookie: {cookie_of(visitor)}", f"Origin: {demo.url}"

    def status(*lines: str) -> int:
        return demo.send("POST", REVIEWS, cookie, *lines, user="", body=REVIEW).status

    assert status(token, origin) == 201
    assert status(origin) == 403
    assert status(token, "Origin: https://elsewhere.example.com") == 403
    assert status(token, origin, "Sec-Fetch-Site: same-site") == 403
    assert status("X-CSRFToken: wrong", origin) == 403
    other = f"X-CSRFToken: {page_token(demo.visitor('bob'))}"
    assert status(other, origin) == 403


def test_a_session_cannot_show_content_of_pods_on_the_console(demo: Demo) -> None:
    line = f"Cookie: {cookie_of(demo.visitor('admin'))}"
    path = "/api/v1/namespaces/payments/pods/x/proxy/"
    assert demo.send("GET", path, line, user="").status == 403


@pytest.mark.parametrize("origin", ["", "Origin: null", "Origin: https://elsewhere.example.com"])
def test_a_websocket_with_a_session_needs_the_origin_of_the_console(
    demo: Demo, origin: str
) -> None:
    visitor = demo.visitor("admin")
    lines = [
        f"GET {CONFIG_MAPS}?watch=true HTTP/1.1",
        f"Host: {urlsplit(demo.url).netloc}",
        *("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"),
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        f"Cookie: {cookie_of(visitor)}",
        *([origin] if origin else []),
    ]
    assert demo.raw("\r\n".join([*lines, "", ""]).encode()).status == 403


def test_a_read_only_token_changes_nothing(demo: Demo) -> None:
    line = bearer(download(demo.visitor("alice"), "read"))
    assert demo.send("GET", CONFIG_MAPS, line, user="").status == 200
    made = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}})
    for method, path in (
        ("POST", CONFIG_MAPS),
        ("DELETE", f"{CONFIG_MAPS}/x"),
        ("GET", "/api/v1/namespaces/payments/pods/x/exec?command=true"),
        ("GET", "/api/v1/namespaces/payments/pods/x/proxy/"),
    ):
        body = made.encode() if method == "POST" else b""
        reply = demo.send(method, path, line, user="", body=body)
        assert (reply.status, "read-only" in reply.object["message"]) == (403, True)


@contextmanager
def watching(demo: Demo, line: str, path: str = CONFIG_MAPS) -> Iterator[object]:
    """Watch with these credentials, and yield a function that returns True while it is open."""
    head = f"GET {path}?watch=true HTTP/1.1\r\nHost: {urlsplit(demo.url).netloc}\r\n"
    with demo.connect() as connection:
        connection.sendall(f"{head}{line}\r\n\r\n".encode())
        first = connection.recv(65536)
        assert first.startswith(b"HTTP/1.1 200 ")
        connection.setblocking(False)

        def is_open() -> bool:
            try:
                return connection.recv(65536) != b""
            except BlockingIOError:
                return True
            except ConnectionResetError:
                return False

        yield is_open


def test_a_watch_ends_when_its_token_is_revoked(demo: Demo) -> None:
    visitor = demo.visitor("bob")
    line = bearer(download(visitor, "full"))
    shown = visitor.get("/account")[1]
    id = re.search(r'name="token" value="([-0-9a-f]{36})"', shown)
    assert id
    with watching(demo, line) as is_open:
        assert is_open()  # type: ignore[operator]
        visitor.post("/account", "/account/tokens/end", token=id[1])
        eventually(lambda: not is_open(), "the watch has ended", timeout=20)  # type: ignore[operator]
    assert demo.send("GET", CONFIG_MAPS, line, user="").status == 401


def test_a_watch_ends_when_its_permission_is_lost(demo: Demo) -> None:
    admin = demo.kubectl(demo.kubeconfig("admin"), "kube-system")
    admin("create", "rolebinding", "bob-views", "--clusterrole=view", "--user=bob")
    line = bearer(download(demo.visitor("bob"), "full"))
    elsewhere = CONFIG_MAPS.replace("payments", "kube-system")
    eventually(lambda: demo.send("GET", elsewhere, line, user="").status == 200, "bob may list")
    with watching(demo, line, elsewhere) as is_open:
        admin("delete", "rolebinding", "bob-views")
        eventually(lambda: not is_open(), "the watch has ended")  # type: ignore[operator]


def test_headers_of_a_watch_arrive_before_its_first_event(demo: Demo) -> None:
    head = f"GET {CONFIG_MAPS}?watch=true&resourceVersion=0&labelSelector=none%3Dnone HTTP/1.1\r\n"
    lines = f"Host: {urlsplit(demo.url).netloc}\r\n{bearer(demo.token('admin'))}\r\n\r\n"
    with demo.connect() as connection:
        connection.sendall(f"{head}{lines}".encode())
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_the_kubeconfig_of_the_account_page_works(demo: Demo) -> None:
    visitor = demo.visitor("alice")
    fields = {"days": "7", "scope": "full"}
    status, text = visitor.post("/account", "/account/kubeconfig/console", **fields)
    assert status == 200
    path = demo.folder / "downloaded.kubeconfig"
    path.write_text(text)
    shown = json.loads(demo.kubectl(path)("auth", "whoami", "-o", "json"))
    assert shown["status"]["userInfo"]["username"] == "alice"
    assert re.match(r"# The token expires on \d{4}-\d\d-\d\d .* UTC\.\n", text)
    bad = visitor.post("/account", "/account/kubeconfig/console", days="x", scope="full")[1]
    assert "Some fields are invalid" in bad


def test_writes_and_connections_are_recorded(demo: Demo) -> None:
    """kubectl sends a new object as protobuf."""
    admin = demo.kubectl(demo.kubeconfig("admin"), "payments")
    admin("create", "configmap", "recorded")
    admin("delete", "configmap", "recorded", "--as", "alice")
    admin("create", "configmap", "not-recorded", "--dry-run=server")
    found = [
        (one["actor"], one["as_user"], one["verb"], one["name"], one["code"])
        for one in demo.records()
        if one["resource"] == "configmaps"
    ]
    assert found[-2:] == [
        ("admin", "admin", "create", "recorded", 201),
        ("admin", "alice", "delete", "recorded", 200),
    ]


def test_two_requests_use_one_connection(demo: Demo) -> None:
    head = f"GET /api HTTP/1.1\r\nHost: {urlsplit(demo.url).netloc}\r\n"
    data = f"{head}{bearer(demo.token('admin'))}\r\n\r\n".encode()
    with demo.connect() as connection:
        for _ in range(2):
            assert exchange(connection, data).status == 200
