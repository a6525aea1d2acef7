"""kube-apiserver gets a new certificate, possibly from another authority, without restarting the
console.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest
import yaml
from aiohttp import web

from console.kube import credentials
from console.kube.clients import ConsoleClient, ReaderClient, UserClient
from console.kube.credentials import Credentials
from console.kube.errors import ApiError, UntrustedCertificate
from console.kube.gvr import CONFIG_MAPS, PODS
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.kube.listwatch import ListWatch
from console.kube.transport import Transport
from tests.controlplane.pki import Authority
from tests.kube import generic
from tests.support.ports import LOOPBACK, free_port

STORED = {"metadata": {"name": "a", "namespace": "shop", "uid": "u", "resourceVersion": "1"}}


class Server:
    """A TLS server. `authority` signed its certificate; the file at `trusted` contains the
    authority its clients trust.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._number, self.port = folder, 0, free_port()
        self.trusted, self.names = folder / "trusted.crt", ["a"]
        self._running: web.AppRunner | None = None
        self._over, self.watched = asyncio.Event(), asyncio.Event()
        self.authority = self.another()

    def another(self) -> Authority:
        self._number += 1
        folder = self._folder / f"authority-{self._number}"
        folder.mkdir()
        return Authority(folder)

    def trust(self, authority: Authority) -> None:
        self.trusted.write_bytes(authority.certificate.read_bytes())

    async def serve(self, authority: Authority) -> None:
        """Serve with a new certificate of this authority and close existing connections."""
        await self.stop()
        self._over = asyncio.Event()
        pair = authority.server("server", hosts=["localhost"], addresses=[LOOPBACK])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.certificate, pair.key)
        app = web.Application()
        app.router.add_get("/api/v1/pods", self._pods)
        app.router.add_get("/{tail:.*}", self._stored)
        self._running = web.AppRunner(app, shutdown_timeout=0)
        await self._running.setup()
        await web.TCPSite(self._running, LOOPBACK, self.port, ssl_context=context).start()

    async def stop(self) -> None:
        if self._running is not None:
            self._over.set()
            await self._running.cleanup()

    async def _stored(self, _request: web.Request) -> web.Response:
        return web.json_response(STORED)

    async def _pods(self, request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            items = [{"metadata": {**STORED["metadata"], "name": name}} for name in self.names]
            return web.json_response({"metadata": {"resourceVersion": "1"}, "items": items})
        response = web.StreamResponse()
        await response.prepare(request)
        self.watched.set()
        await self._over.wait()
        return response


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    found = Server(tmp_path)
    found.trust(found.authority)
    await found.serve(found.authority)
    yield found
    await found.stop()


@pytest.fixture
async def way(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Transport]:
    monkeypatch.setattr(credentials, "RELOAD_INTERVAL", 0.0)
    kubeconfig = tmp_path / "kubeconfig"
    cluster = {
        "server": f"https://{LOOPBACK}:{server.port}",
        "certificate-authority": str(server.trusted),
    }
    kubeconfig.write_text(
        yaml.safe_dump(
            {
                "clusters": [{"name": "c", "cluster": cluster}],
                "users": [{"name": "u", "user": {}}],
                "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                "current-context": "x",
            }
        )
    )
    transport = Transport(Credentials("reader", str(kubeconfig)))
    yield transport
    await transport.close()


async def get(way: Transport) -> None:
    await ConsoleClient(way).get(CONFIG_MAPS, namespace="shop", name="a")


async def test_new_certificate_of_the_same_authority_is_accepted(
    server: Server, way: Transport
) -> None:
    await get(way)
    await server.serve(server.authority)
    await get(way)


async def test_new_authority_is_accepted_once_it_is_trusted(server: Server, way: Transport) -> None:
    """Until then, requests fail."""
    await get(way)
    other = server.another()
    await server.serve(other)
    with pytest.raises(UntrustedCertificate):
        await get(way)
    server.trusted.write_bytes(b"half a file")
    with pytest.raises(ApiError):
        await get(way)
    server.trust(other)
    await get(way)


async def test_transport_with_shared_credentials_uses_the_new_authority(
    server: Server, way: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    sharing = Transport(way.credentials)
    await get(way)
    await get(sharing)
    other = server.another()
    await server.serve(other)
    server.trust(other)
    await get(way)
    # The first transport has just read them, so they are not read again.
    monkeypatch.setattr(credentials, "RELOAD_INTERVAL", 60.0)
    await get(sharing)
    await sharing.close()


async def test_open_stream_survives_a_reload(server: Server, way: Transport) -> None:
    """A reader waiting on a closed connection would not be notified."""
    async with way.open("GET", "/api/v1/pods?watch", total_timeout=None) as response:
        # As after a 401 of another call.
        assert await way.reload()
        await get(way)
        more = asyncio.create_task(response.content.readany())
        await asyncio.wait((more,), timeout=0.1)
        assert not more.done()
        await server.serve(server.authority)
        with suppress(aiohttp.ClientError):
            async with asyncio.timeout(5):
                assert await more == b""


async def test_streaming_request_uses_the_new_authority(server: Server, way: Transport) -> None:
    """A log, an exec or a port: no other request may have been sent meanwhile."""

    async def follow() -> None:
        client = UserClient(way, Identity("jane"))
        async with client.stream("/api/v1/namespaces/shop/pods/a/log"):
            pass

    await follow()
    other = server.another()
    await server.serve(other)
    with pytest.raises(UntrustedCertificate):
        await follow()
    server.trust(other)
    await follow()


async def test_first_list_uses_the_new_authority(server: Server, way: Transport) -> None:
    """A type that is followed for the first time has no version to request."""
    await get(way)
    other = server.another()
    await server.serve(other)
    informer = Informer(PODS, generic.decode)
    following = asyncio.create_task(informer.follow({"": ListWatch(ReaderClient(way), PODS)}))
    async with asyncio.timeout(20):
        while not informer.freshness.problem:
            await asyncio.sleep(0.02)
        server.trust(other)
        while not informer.freshness.synced:
            informer.wake()
            await asyncio.sleep(0.02)
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)


async def test_watches_are_resumed(server: Server, way: Transport) -> None:
    informer = Informer(PODS, generic.decode)
    following = asyncio.create_task(informer.follow({"": ListWatch(ReaderClient(way), PODS)}))

    async def until(fresh: bool) -> None:
        def is_so() -> bool:
            return informer.freshness.synced and (informer.freshness.stale_since is None) is fresh

        async with asyncio.timeout(20):
            while not is_so():
                await asyncio.sleep(0.02)

    await until(fresh=True)
    # The condition is met once the list is loaded. A connection being established can't be closed
    # by the server.
    async with asyncio.timeout(20):
        await server.watched.wait()
    other = server.another()
    await server.serve(other)
    await until(fresh=False)
    server.trust(other)
    informer.wake()
    await until(fresh=True)
    assert not following.done()
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
