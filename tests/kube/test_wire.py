"""Requests to kube-apiserver and handling of its responses, at the HTTP level."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from aiohttp.test_utils import TestServer

from console.kube.clients import UserClient
from console.kube.credentials import Credentials
from console.kube.errors import (
    ApiError,
    Forbidden,
    NodeRefused,
    ServerError,
    UnsupportedProtocol,
)
from console.kube.gvr import PODS
from console.kube.identity import Identity
from console.kube.transport import Transport
from console.terminals.command import PROTOCOLS

#: Any other header could change the identity or permissions of the console.
HEADERS = {
    *("Accept", "Accept-Encoding", "Audit-ID", "Content-Length", "Content-Type", "Host"),
    *("Impersonate-Group", "Impersonate-User", "User-Agent"),
}
WHERE: dict[str, Any] = {"namespace": "shop", "name": "web"}


@dataclass
class Program:
    """Record requests and respond with `status`."""

    status: int = 200
    text: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    seen: list[web.Request] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        self.seen.append(request)
        if self.text is not None:
            return web.Response(text=self.text, status=self.status, headers=self.headers)
        found = {"metadata": {"uid": "1", "resourceVersion": "1"}}
        return web.json_response(found, status=self.status, headers=self.headers)


@dataclass
class Wire:
    """`cluster` is a fake kube-apiserver, `other` a server that must not receive requests."""

    client: UserClient
    cluster: Program
    other: Program


@pytest.fixture
async def wire(tmp_path: Path) -> AsyncIterator[Wire]:
    async with AsyncExitStack() as stack:
        urls = []
        programs = Program(), Program()
        for program in programs:
            app = web.Application()
            app.router.add_route("*", "/{tail:.*}", program.answer)
            server = await stack.enter_async_context(TestServer(app))
            urls.append(str(server.make_url("/")).rstrip("/"))
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(
            yaml.safe_dump(
                {
                    "clusters": [{"name": "c", "cluster": {"server": urls[0]}}],
                    "users": [{"name": "u", "user": {}}],
                    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                    "current-context": "x",
                }
            )
        )
        transport = Transport(Credentials("writer", str(kubeconfig)))
        stack.push_async_callback(transport.close)
        programs[0].headers["Location"] = f"{urls[1]}/api/v1/secrets"
        yield Wire(UserClient(transport, Identity("jane", ("a", "b"))), *programs)


async def test_only_expected_headers_are_sent(wire: Wire) -> None:
    body = {"metadata": {"name": "web", "resourceVersion": "1"}}
    await wire.client.get(PODS, **WHERE, audit_id="1")
    await wire.client.create(PODS, body, namespace="shop", audit_id="2")
    await wire.client.patch(PODS, body, **WHERE, audit_id="3")
    await wire.client.delete(PODS, **WHERE, audit_id="4")
    assert len(wire.cluster.seen) == 4
    for request in wire.cluster.seen:
        assert set(request.headers) <= HEADERS
        assert request.headers.getall("Impersonate-User") == ["jane"]
        groups = request.headers.getall("Impersonate-Group")
        assert set(groups) == {"a", "b", "system:authenticated"}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_not_followed(wire: Wire, status: int) -> None:
    wire.cluster.status = status
    for call in (
        wire.client.get(PODS, **WHERE),
        wire.client.patch(PODS, {}, **WHERE),
        wire.client.delete(PODS, **WHERE),
    ):
        with pytest.raises(ServerError) as caught:
            await call
        assert caught.value.page_code == 502
    assert len(wire.cluster.seen) == 3 and wire.other.seen == []


#: kube-apiserver's own refusal, an older server that doesn't know the subprotocols, and a kubelet that
#: rejects kube-apiserver.
DENIED = '{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden"}'
REFUSALS: list[tuple[str, type[ApiError]]] = [
    (DENIED, Forbidden),
    ("", UnsupportedProtocol),
    ("requested protocol(s) are not supported: [v9]", UnsupportedProtocol),
    (
        "Forbidden (user=kube-apiserver, verb=create, resource=nodes, subresource=proxy)",
        NodeRefused,
    ),
]


@pytest.mark.parametrize(("text", "kind"), REFUSALS)
async def test_reason_of_a_refused_websocket_is_reported(
    wire: Wire, text: str, kind: type[ApiError]
) -> None:
    wire.cluster.status, wire.cluster.text = 403, text
    with pytest.raises(kind):
        async with wire.client.connect("/api/v1/x/exec", PROTOCOLS):
            pass
    [request] = wire.cluster.seen
    assert request.headers["Sec-WebSocket-Protocol"] == "v5.channel.k8s.io,v4.channel.k8s.io"


@pytest.mark.parametrize("status", [200, 301, 302, 303, 307, 308, 403, 500])
async def test_failed_websocket_handshake_raises_an_error(wire: Wire, status: int) -> None:
    wire.cluster.status, wire.cluster.text = status, DENIED
    with pytest.raises(ApiError) as caught:
        async with wire.client.connect("/api/v1/x/exec", ["v5.channel.k8s.io"], audit_id="1"):
            pass
    assert caught.value.code == (status if status >= 400 else 502)
    (request,) = wire.cluster.seen
    handshake = {"Connection", "Upgrade", "Sec-WebSocket-Version", "Sec-WebSocket-Key"}
    assert set(request.headers) <= HEADERS | handshake | {"Sec-WebSocket-Protocol"}
    assert wire.other.seen == []
