"""Fixtures for streaming tests: a cluster with one node and pods, and a websocket client."""

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import (
    AddrInfoType,
    ClientSession,
    ClientWebSocketResponse,
    ClientWSTimeout,
    TCPConnector,
    WSMsgType,
)

from devcluster.server import DevCluster
from tests.controlplane.waiting import eventually
from tests.devcluster.conftest import Api, Obj

PODS = "/api/v1/namespaces/default/pods"
V4, V5 = "v4.channel.k8s.io", "v5.channel.k8s.io"
Query = Sequence[tuple[str, str]]
_SECONDS = 20.0


@dataclass
class ReceivedData:
    """Received websocket data by channel, the final Status and the close code."""

    channels: dict[int, bytes] = field(default_factory=dict)
    first: bytes = b""
    close: int | None = None

    @property
    def out(self) -> str:
        return self.channels.get(1, b"").decode()

    @property
    def status(self) -> Obj:
        return dict(json.loads(self.channels[3]))

    @property
    def code(self) -> int:
        """Exit code of the command."""
        if self.status["status"] == "Success":
            return 0
        assert self.status["reason"] == "NonZeroExitCode", self.status
        return int(self.status["details"]["causes"][0]["message"])


@dataclass
class StreamConnection:
    """An open websocket connection."""

    websocket: ClientWebSocketResponse
    heard: ReceivedData = field(default_factory=ReceivedData)

    async def send(self, channel: int, data: bytes | str) -> None:
        body = data.encode() if isinstance(data, str) else data
        await self.websocket.send_bytes(bytes([channel]) + body)

    async def next(self) -> bool:
        """Receive one message. Return False if the connection is closed."""
        message = await self.websocket.receive(_SECONDS)
        if message.type is not WSMsgType.BINARY:
            self.heard.close = self.websocket.close_code
            return False
        channel, data = message.data[0], message.data[1:]
        self.heard.first = self.heard.first or message.data
        self.heard.channels[channel] = self.heard.channels.get(channel, b"") + data
        return True

    async def shows(self, text: str, channel: int = 1) -> None:
        """Wait for the text and discard the data up to and including it."""
        data = text.encode()
        while data not in self.heard.channels.get(channel, b""):
            assert await self.next(), self.heard
        found = self.heard.channels[channel]
        self.heard.channels[channel] = found[found.index(data) + len(data) :]

    async def end(self) -> ReceivedData:
        """Receive messages until the connection is closed."""
        while await self.next():
            pass
        return self.heard


@dataclass(frozen=True)
class PodClient:
    """Client for the cluster's pods, as the administrator or another user."""

    cluster: DevCluster
    token: str

    def of(self, user: str) -> "PodClient":
        return PodClient(self.cluster, self.cluster.issue_token(user))

    @property
    def api(self) -> Api:
        return Api(self.cluster, self.token)

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[ClientSession]:
        headers = {"Authorization": f"Bearer {self.token}"}
        opened: list[socket.socket] = []

        def make(address: AddrInfoType) -> socket.socket:
            opened.append(socket.socket(*address[:3]))
            return opened[-1]

        connector = TCPConnector(socket_factory=make)
        async with ClientSession(self.cluster.url, headers=headers, connector=connector) as session:
            yield session
        # Wait until TLS connections are closed, because aiohttp does not wait for it.
        async with asyncio.timeout(_SECONDS):
            while any(one.fileno() >= 0 for one in opened):
                await asyncio.sleep(0)

    @property
    def _tls(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.cluster.ca_file))

    @asynccontextmanager
    async def open(
        self, path: str, query: Query, protocols: Sequence[str] = (V5,)
    ) -> AsyncIterator[StreamConnection]:
        async with (
            self._session() as session,
            session.ws_connect(
                f"{PODS}/{path}",
                params=list(query),
                protocols=protocols,
                ssl=self._tls,
                timeout=ClientWSTimeout(ws_close=_SECONDS),
            ) as websocket,
        ):
            yield StreamConnection(websocket)

    async def rejected(
        self, path: str, query: Query = (), method: str = "GET", **headers: str
    ) -> tuple[int, str]:
        """Return the status code and body of a rejected websocket request."""
        asked: Mapping[str, str] = {
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "MDEyMzQ1Njc4OTAxMjM0NQ==",
            "Sec-WebSocket-Protocol": V5,
        }
        wanted = {name: value for name, value in {**asked, **headers}.items() if value}
        async with (
            self._session() as session,
            session.request(
                method, f"{PODS}/{path}", params=list(query), headers=wanted, ssl=self._tls
            ) as answer,
        ):
            return answer.status, await answer.text()

    async def run(
        self,
        pod: str,
        *command: str,
        stdin: bytes | None = None,
        protocol: str = V5,
        container: str = "",
    ) -> ReceivedData:
        """Run a command until it exits."""
        query = command_query(*command, stdin=stdin is not None, container=container)
        async with self.open(f"{pod}/exec", query, (protocol,)) as door:
            if stdin is not None:
                await door.send(0, stdin)
                await door.send(255, b"\0")
            return await door.end()


def command_query(
    *command: str, stdin: bool = False, tty: bool = False, container: str = ""
) -> Query:
    found = [("command", word) for word in command]
    found += [("container", container)] if container else []
    asked = {"stdin": stdin, "stdout": True, "stderr": not tty, "tty": tty}
    return [*found, *((name, "true") for name, there in asked.items() if there)]


def body(name: str, **spec: Any) -> Obj:
    container = {"name": "main", "image": "example/web:1"}
    return {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}


def start(api: Api, pod: Obj) -> str:
    """Create the pod, wait until it is running, and return its name."""
    name = str(api.post(PODS, pod)["metadata"]["name"])
    eventually(
        lambda: api.get(f"{PODS}/{name}").get("status", {}).get("phase") == "Running",
        f"{name} is running",
    )
    return name


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevCluster]:
    with DevCluster(tmp_path_factory.mktemp("streams")) as cluster:
        address = {"type": "InternalIP", "address": "10.1.0.1"}
        node: Obj = {"metadata": {"name": "node-1"}, "spec": {"podCIDR": "10.244.9.0/24"}}
        room = {"cpu": "4", "memory": "8Gi", "pods": "90"}
        node["status"] = {
            "addresses": [address],
            "conditions": [{"type": "Ready", "status": "True"}],
            "allocatable": room,
        }
        Api.of(cluster).post("/api/v1/nodes", node)
        yield cluster


@pytest.fixture(scope="module")
def pods(served: DevCluster) -> PodClient:
    return PodClient(served, Api.of(served).token)


@pytest.fixture(scope="module")
def web(pods: PodClient) -> str:
    """A pod with one container that has a shell."""
    return start(pods.api, body("web"))


@pytest.fixture(scope="module")
def two(pods: PodClient) -> str:
    """A pod with two containers: `a` without a shell, and `b` with a shell and a server on port
    8080.
    """
    containers = [
        {"name": "a", "image": "example/distroless:1"},
        {"name": "b", "image": "alpine:3", "ports": [{"containerPort": 8080}]},
    ]
    return start(pods.api, body("two", containers=containers))
