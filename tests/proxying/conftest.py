import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import yaml
from aiohttp import web
from aiohttp.test_utils import TestServer
from pytest_django import Settings

from console.kube.clients import UserClient
from console.kube.credentials import Credentials
from console.kube.gvr import PODS, Key
from console.kube.identity import Identity
from console.kube.transport import Transport
from console.proxying.address import ProxyBase
from console.proxying.application import ProxyApplication
from console.proxying.store import PortOwner, open_port, redeem_ticket
from console.proxying.target import ProxyTarget
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.logs.conftest import _site, made, release, world
from tests.proxying.browsing import Browser, Person
from tests.proxying.wire import Wire
from tests.ui.support import make_runtime

__all__ = ["_site", "made", "release", "world"]

BASE = ProxyBase("https", "ports.example.com", 443)


@pytest.fixture
def proxying(settings: Settings) -> Iterator[ProxyBase]:
    settings.BASE_URL = "https://console.example.com"
    settings.PROXY_BASE = BASE
    yield BASE


@pytest.fixture
def person() -> Person:
    return Person()


@pytest.fixture
def browser(proxying: ProxyBase, person: Person) -> Browser:
    async def inner(scope: object, receive: object, send: object) -> None:
        raise AssertionError("this is for the console itself")

    return Browser(ProxyApplication(inner, person.presence_of))


@pytest.fixture
async def wire(tmp_path: Path, browser: Browser, person: Person) -> AsyncIterator[Wire]:
    found = Wire(browser, person)
    async with AsyncExitStack() as stack:
        for name, handler in (("url", found.answer), ("elsewhere", found.stray)):
            app = web.Application()
            app.router.add_route("*", "/{tail:.*}", handler)
            server = await stack.enter_async_context(TestServer(app))
            setattr(found, name, str(server.make_url("/")).rstrip("/"))
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(
            yaml.safe_dump(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "clusters": [{"name": "c", "cluster": {"server": found.url}}],
                    "users": [{"name": "u", "user": {"token": "secret-token"}}],
                    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                    "current-context": "c",
                }
            )
        )
        transport = Transport(Credentials("writer", str(kubeconfig)))

        def as_user(identity: Identity) -> UserClient:
            return UserClient(transport, identity)

        set_host_cluster(make_runtime(user_client=as_user))
        label, ticket = await asyncio.to_thread(
            open_port,
            PortOwner("admin", "admin", "s", "host"),
            ProxyTarget(PODS, Key("shop", "web-1"), 80),
            "audit-1",
        )
        browser.host = f"{label}.ports.example.com"
        cookie = await asyncio.to_thread(redeem_ticket, label, ticket)
        browser.cookies = {"__Host-quarterdeck-port": cookie, "sid": "theirs"}
        try:
            yield found
        finally:
            await transport.close()
            unset_host_cluster()
