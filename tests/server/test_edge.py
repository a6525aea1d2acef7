"""Handling of request headers that describe the client and the proxy path."""

from ipaddress import ip_network
from typing import Any

import pytest
from pytest_django import Settings

from console.web.hardening import harden

HEADERS = [
    (b"host", b"x"),
    (b"x-forwarded-for", b"1.2.3.4"),
    (b"X-Forwarded-Proto", b"https"),
    (b"x-forwarded-host", b"evil"),
    (b"forwarded", b"for=1.2.3.4"),
    (b"x-real-ip", b"1.2.3.4"),
    (b"x-client-ip", b"1.2.3.4"),
]


async def through(scope: dict[str, Any]) -> dict[str, Any]:
    seen: dict[str, Any] = {}

    async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
        seen.update(scope)

    await harden(application)(scope, None, None)
    return seen


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize("client", [["198.51.100.7", 1], None, ["", 0]])
async def test_forwarding_headers_are_accepted_from_trusted_proxies_only(
    settings: Settings, kind: str, client: list[Any] | None
) -> None:
    settings.TRUSTED_PROXIES = (ip_network("10.0.0.0/8"),)
    scope: dict[str, Any] = {
        "type": kind,
        "method": "GET",
        "root_path": "/oauth",
        "headers": HEADERS,
    }
    scope["client"] = client
    seen = await through(scope)
    assert seen["headers"] == [(b"host", b"x")]
    assert seen["root_path"] == ""
    seen = await through({**scope, "client": ["10.1.1.1", 1]})
    assert seen["headers"] == HEADERS
    assert seen["root_path"] == ""
    assert scope["root_path"] == "/oauth"


async def test_other_event_types_pass_unchanged() -> None:
    assert await through({"type": "lifespan"}) == {"type": "lifespan"}


@pytest.mark.parametrize("method", ["HEAD", "head", "GET"])
async def test_head_response_has_no_body(method: str) -> None:
    """Regardless of the number of body parts that Django sends."""
    parts = [
        {"type": "http.response.start", "status": 200, "headers": []},
        {"type": "http.response.body", "body": b"a" * 65536, "more_body": True},
        {"type": "http.response.body", "body": b"b" * 65536, "more_body": True},
        {"type": "http.response.body", "body": b"c", "more_body": False},
    ]
    sent: list[dict[str, Any]] = []

    async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
        for part in parts:
            await send(part)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope: dict[str, Any] = {"type": "http", "method": method, "headers": [], "client": None}
    await harden(application)(scope, None, send)
    if method != "GET":
        assert sent == [parts[0], {**parts[-1], "body": b""}]
    else:
        assert sent == parts
