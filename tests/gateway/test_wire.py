"""Requests as bytes: every way to smuggle a request or to act as another user is rejected."""

import json
from urllib.parse import urlsplit

import pytest

from tests.gateway.demo import REVIEW, REVIEWS, Demo, Reply, exchange

pytestmark = pytest.mark.programs

#: Encoded or ambiguous paths. kube-apiserver decodes a path before it splits it.
AMBIGUOUS = (
    "/api/v1/namespaces/default%2Fpods",
    "/api/v1/namespaces/default%252Fpods",
    "/api/v1/namespaces/default/../kube-system/pods",
    "/api/v1/namespaces/default/%2e%2e/kube-system/pods",
    "/api/v1/namespaces/default/..%2fkube-system/pods",
    "/api/v1/namespaces/default/%252e%252e/pods",
    "/api/v1//namespaces",
    "/api//v1/namespaces",
    "/api/v1/namespaces/default/pods/x\\y",
    "/api/v1/namespaces/%00",
    "/api/v1/namespaces/a%0d%0aX-Remote-User:%20admin",
    "/api/v1/namespaces/default/pods/a%2fb/proxy/",
    "/api/clusters/host/v1/namespaces/x%2fy",
    "/clusters/host/api/v1/namespaces/x%2fy",
    "/%61pi/v1/namespaces/x%2Fpods",
)


def is_status(reply: Reply, code: int) -> bool:
    found = reply.object
    return (reply.status, found["kind"], found["code"]) == (code, "Status", code)


@pytest.mark.parametrize("path", AMBIGUOUS)
def test_ambiguous_paths_are_rejected(demo: Demo, path: str) -> None:
    assert is_status(demo.send("GET", path), 400)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("Impersonate-Uid: 1", 403),
        ("Impersonate-Extra-Scopes: view", 403),
        ("impersonate-extra-x%2fy: z", 403),
        ("X-Remote-User: admin", 400),
        ("X-Remote-Group: system:masters", 400),
        ("x-remote-extra-scopes: view", 400),
        ("Connection: Authorization", 400),
        ("Connection: keep-alive, Impersonate-User", 400),
        (
            "Sec-WebSocket-Protocol: v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.eA",
            400,
        ),
        ("Content-Type: application/yaml\r\nContent-Type: application/json", 400),
        ("Impersonate-Group: system:masters", 400),
        ("Impersonate-User: system:masters", 403),
        ("Impersonate-User: system:kube-controller-manager", 403),
        ("Impersonate-User: bob\r\nImpersonate-Group: system:masters", 403),
        ("Impersonate-User: bob\r\nImpersonate-User: alice", 400),
        ("Impersonate-User: ", 400),
    ],
)
def test_headers_that_choose_another_user_are_rejected(demo: Demo, line: str, code: int) -> None:
    assert is_status(demo.send("POST", REVIEWS, line, body=REVIEW), code)


@pytest.mark.parametrize(
    "line",
    ["Impersonate_User: bob", "X_Remote_User: bob", "X-Forwarded-User: bob", "Remote-User: bob"],
)
def test_other_headers_do_not_change_the_user(demo: Demo, line: str) -> None:
    reply = demo.send("POST", REVIEWS, line, user="alice", body=REVIEW)
    assert reply.status == 201
    user = reply.object["status"]["userInfo"]
    assert (user["username"], user["groups"]) == ("alice", ["system:authenticated"])


def _request(demo: Demo, *lines: str) -> bytes:
    head = (f"POST {REVIEWS} HTTP/1.1", f"Host: {urlsplit(demo.url).netloc}")
    bearer = f"Authorization: Bearer {demo.token('admin')}"
    return "\r\n".join((*head, bearer, *lines, "", "")).encode()


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 4", "Content-Length: 5"),
        ("Content-Length: 4", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked, identity",),
        ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: xchunked",),
        ("Content-Length: +4",),
        ("Content-Length: 0x4",),
        ("Content-Length: 4, 4",),
        ("Content-Length : 4",),
    ],
)
def test_conflicting_lengths_are_rejected(demo: Demo, lines: tuple[str, ...]) -> None:
    """The rest is a second request, which must not be answered."""
    second = b"GET /api/v1/namespaces HTTP/1.1\r\nHost: x\r\n\r\n"
    assert demo.raw(_request(demo, *lines) + second).status in (0, 400)


@pytest.mark.parametrize(
    "lines",
    [
        ("Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"),
        ("Upgrade: websocket, h2c",),
        ("Upgrade: websocket\r\nUpgrade: h2c",),
        ("Upgrade: TLS/1.2",),
    ],
)
def test_other_protocols_are_rejected(demo: Demo, lines: tuple[str, ...]) -> None:
    reply = demo.raw(_request(demo, "Connection: Upgrade", *lines, "Content-Length: 0"))
    assert is_status(reply, 400)


def test_an_upgrade_with_a_body_is_rejected(demo: Demo) -> None:
    lines = ("Connection: Upgrade", "Upgrade: websocket", "Content-Length: 4")
    assert is_status(demo.raw(_request(demo, *lines) + b"abcd"), 400)


def test_a_refused_upgrade_does_not_open_a_tunnel(demo: Demo) -> None:
    """The second request on the connection is authenticated on its own."""
    head = f"GET /api/v1/namespaces/default HTTP/1.1\r\nHost: {urlsplit(demo.url).netloc}\r\n"
    upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n"
    with demo.connect() as connection:
        bearer = f"Authorization: Bearer {demo.token('admin')}\r\n"
        first = exchange(connection, f"{head}{upgrade}{bearer}\r\n".encode())
        assert first.status == 200
        assert first.object["metadata"]["name"] == "default"
        second = exchange(connection, f"{head}\r\n".encode())
    assert is_status(second, 401)


def test_requests_without_credentials_are_challenged(demo: Demo) -> None:
    for path in ("/api", "/apis", "/version", "/openapi/v3", "/clusters/host/healthz"):
        reply = demo.send("GET", path, "Accept: text/html", user="")
        assert is_status(reply, 401)
        assert reply.headers["www-authenticate"].startswith("Bearer realm=")
        assert reply.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "lines",
    [("Authorization: Basic YWRtaW46UEA4OHcwcmQ=",), ("Authorization: Bearer wrong",)],
)
def test_other_credentials_are_refused(demo: Demo, lines: tuple[str, ...]) -> None:
    assert is_status(demo.send("GET", "/api", *lines, user=""), 401)


def test_repeated_credentials_are_rejected(demo: Demo) -> None:
    line = f"Authorization: Bearer {demo.token('alice')}"
    assert is_status(demo.send("GET", "/api", line), 400)
    assert is_status(demo.send("GET", "/api", "Cookie: quarterdeck=x"), 400)
    assert is_status(demo.send("GET", f"/api?access_token={demo.token('admin')}", user=""), 400)


def test_large_bodies_are_refused_with_a_status(demo: Demo) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large"}}
    large = json.dumps({**made, "data": {"x": "y" * 4 * 2**20}}).encode()
    # The limit of kube-apiserver, and then that of the console.
    assert is_status(demo.send("POST", path, body=large), 413)
    assert is_status(demo.send("POST", path, body=large * 4), 413)
    assert is_status(demo.send("POST", path, body=large, user=""), 413)


def test_unknown_hosts_clusters_and_methods_are_refused(demo: Demo) -> None:
    bearer = f"Authorization: Bearer {demo.token('admin')}"
    head = f"GET /api HTTP/1.1\r\nHost: elsewhere.example.com\r\n{bearer}\r\n\r\n"
    assert is_status(demo.raw(head.encode()), 400)
    assert is_status(demo.send("GET", "/clusters/nowhere/api"), 404)
    assert is_status(demo.send("GET", "/api/clusters/nowhere/v1/pods"), 404)
    assert is_status(demo.send("TRACE", "/api"), 405)


def test_addresses_with_a_cluster_are_the_same_as_without(demo: Demo) -> None:
    plain = demo.send("GET", "/api/v1/namespaces/payments").object
    for path in (
        "/clusters/host/api/v1/namespaces/payments",
        "/api/clusters/host/v1/namespaces/payments",
    ):
        assert demo.send("GET", path).object == plain
    grouped = demo.send("GET", "/apis/clusters/host/apps/v1/namespaces/payments/deployments")
    assert grouped.object["kind"] == "DeploymentList"


def test_responses_cannot_act_on_the_console(demo: Demo) -> None:
    headers = demo.send("GET", "/api").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in headers["content-security-policy"]
    assert not {"set-cookie", "access-control-allow-origin", "strict-transport-security"} & set(
        headers
    )


def test_the_tls_port_serves_only_the_gateway(demo: Demo) -> None:
    for path in ("/login", "/dashboard", "/livez"):
        with demo.connect_tls() as connection:
            head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            assert is_status(exchange(connection, head.encode()), 401)


def _user_of_certificate(demo: Demo, name: str) -> str:
    """Return the user of a request with a client certificate, "" if the gateway refuses it."""
    head = f"POST {REVIEWS} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    with demo.connect_tls(name) as connection:
        data = f"{head}Content-Length: {len(REVIEW)}\r\n\r\n".encode() + REVIEW
        reply = exchange(connection, data)
    if reply.status == 401:
        return ""
    return str(reply.object["status"]["userInfo"]["username"])


def test_a_certificate_of_the_cluster_identifies_a_user(demo: Demo) -> None:
    assert _user_of_certificate(demo, "alice") == "alice"
    assert _user_of_certificate(demo, "nobody") == ""
    assert _user_of_certificate(demo, "system:kube-scheduler") == ""
