"""A console with two clusters that contain the same namespaces and names but different objects."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import markcoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from django.test import AsyncClient
from pytest_django import Settings

from console.kube.clients import ConsoleClient
from console.kube.credentials import Credentials
from console.kube.gvr import USERS
from console.kube.identity import Identity
from console.kube.runtime import Runtime
from console.kube.transport import Transport
from console.live.scheduler import Scheduler
from console.management.commands.install import install_into
from console.ui.core.clusters import HOST, Cluster, clusters
from devcluster.server import DevCluster
from rbac.authorizer import SOURCES
from rbac.live_access import LiveAccess
from rbac.process_clusters import create_cluster, set_host_cluster, unset_host_cluster
from tests.devcluster.conftest import Api
from tests.live.conftest import Browser
from tests.rbac.objects import native_binding, native_role, rule, user

MEMBER = "member"
#: Permissions of the users. Zoe has none.
PEOPLE = {"ann": (HOST,), "bea": (HOST, MEMBER), "mel": (MEMBER,), "zoe": ()}
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"


_numbers = count()


@dataclass(frozen=True)
class Part:
    """One of the two clusters.

    `token` is a word that occurs in every object of this cluster only. `server` and `api` modify
    the cluster directly.
    """

    cluster: Cluster
    token: str
    server: DevCluster
    api: Api

    @property
    def name(self) -> str:
        return self.cluster.name

    def url(self, rest: str) -> str:
        return f"/clusters/{self.name}/{rest}"

    def add_pod(self) -> str:
        """Add a pod with a unique name and return the name."""
        name = f"new-{next(_numbers)}-{self.token}"
        self.api.post("/api/v1/namespaces/shop/pods", pod(name, self.token))
        return name

    def allow(self, who: str) -> None:
        self.api.post(BINDINGS, new(native_binding(f"all-{who}", "everything", f"User {who}")))

    def forbid(self, who: str) -> None:
        self.api.call("DELETE", f"{BINDINGS}/all-{who}")


@dataclass(frozen=True)
class Two:
    host: Part
    member: Part

    def __iter__(self) -> Iterator[Part]:
        return iter((self.host, self.member))

    def other(self, part: Part) -> Part:
        return self.member if part is self.host else self.host


def new(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return an object without the fields that the server sets."""
    names = {"name": manifest["metadata"]["name"]}
    return {**manifest, "metadata": names}


def pod(name: str, token: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "labels": {"from": token}},
        "spec": {"containers": [{"name": "app", "image": f"registry.example/{token}:1"}]},
    }


def definition(version: str, column: str) -> dict[str, Any]:
    """Return the definition of widgets, which differs between the two clusters."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.x.org"},
        "spec": {
            "group": "x.org",
            "scope": "Namespaced",
            "names": {
                "plural": "widgets",
                "singular": "widget",
                "kind": "Widget",
                "listKind": "WidgetList",
            },
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    "additionalPrinterColumns": [
                        {"name": column, "type": "string", "jsonPath": ".spec.note"}
                    ],
                }
            ],
        },
    }


def fill(api: Api, token: str, version: str, column: str) -> None:
    api.post("/api/v1/namespaces", {"metadata": {"name": "shop"}})
    for name in ("web-1", "web-2", f"lone-{token}"):
        api.post("/api/v1/namespaces/shop/pods", pod(name, token))
    settings = {"metadata": {"name": "settings", "labels": {"from": token}}, "data": {"a": token}}
    api.post("/api/v1/namespaces/shop/configmaps", settings)
    api.post(CRDS, definition(version, column))
    widget = {
        "apiVersion": f"x.org/{version}",
        "kind": "Widget",
        "metadata": {"name": "gear", "namespace": "shop"},
        "spec": {"note": token},
    }
    api.post(f"/apis/x.org/{version}/namespaces/shop/widgets", widget)
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    api.post(roles, new(native_role("everything", rule("*", "*", "*"))))


async def _install(server: DevCluster) -> None:
    transport = Transport(Credentials("admin", str(server.kubeconfig)))
    try:
        await install_into(ConsoleClient(transport), admin_password="P@88w0rd")  # noqa: S106
    finally:
        await transport.close()


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    with ExitStack() as stack:
        host = _started(stack, tmp_path_factory.mktemp("host"))
        asyncio.run(_install(host))
        member = _started(stack, tmp_path_factory.mktemp("member"))
        parts = Two(
            Part(set_host_cluster(_runtime(stack, host)), "amber", host, Api.of(host)),
            Part(create_cluster(MEMBER, _runtime(stack, member)), "birch", member, Api.of(member)),
        )
        stack.callback(unset_host_cluster)
        clusters.add(parts.member.cluster)
        stack.callback(clusters.remove, MEMBER)
        fill(parts.host.api, parts.host.token, "v1", "Color")
        fill(parts.member.api, parts.member.token, "v2", "Size")
        for name, places in PEOPLE.items():
            parts.host.api.post(
                "/apis/iam.kubesphere.io/v1alpha2/users", new(user(name, state=None))
            )
            for part in parts:
                if part.name in places:
                    part.allow(name)
        parts.host.cluster.runtime.informer(USERS)
        yield parts


def _started(stack: ExitStack, folder: Path) -> DevCluster:
    return stack.enter_context(DevCluster(folder))


def _runtime(stack: ExitStack, server: DevCluster) -> Runtime:
    runtime = Runtime(kubeconfig=str(server.kubeconfig))
    runtime.start()
    stack.callback(runtime.stop)
    for gvr in SOURCES:
        if gvr != USERS:
            runtime.informer(gvr)
    return runtime


class PersonMiddleware:
    """Authenticate requests by the header `X-Person`. Permissions are evaluated as usual."""

    async_capable, sync_capable = True, False

    def __init__(self, get_response: Callable[[HttpRequest], Awaitable[HttpResponseBase]]) -> None:
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: Any) -> HttpResponseBase:
        name = request.headers.get("X-Person", "")
        request.account = name or None
        request.identity = request.own_identity = Identity(name) if name else None
        request.csp_nonce, request.request_id = "nonce", "request-1"
        return await self.get_response(request)


@pytest.fixture(autouse=True)
def _site(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.MIDDLEWARE = [
        "console.web.async_middleware.InlineSessionMiddleware",
        "console.web.async_middleware.InlineLocaleMiddleware",
        "console.web.async_middleware.InlineMessageMiddleware",
        "django_htmx.middleware.HtmxMiddleware",
        "tests.clusters.conftest.PersonMiddleware",
        "rbac.middleware.AccessMiddleware",
    ]
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    monkeypatch.setattr(Scheduler, "flush_seconds", 0.01)


class Person:
    """A user with a browser."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._client = AsyncClient()

    async def get(self, url: str) -> Any:
        return await self._client.get(url, headers={"X-Person": self.name})

    async def post(self, url: str, data: dict[str, str]) -> Any:
        return await self._client.post(url, data, headers={"X-Person": self.name})

    async def text(self, url: str, status: int = 200) -> str:
        return await told(await self.get(url), status)


async def told(response: Any, status: int = 200) -> str:
    """Return the text of the response, which must have this status."""
    pieces = [piece async for piece in response] if response.streaming else [response.content]
    text = b"".join(pieces).decode()
    assert response.status_code == status, text[:2000]
    return text


class Socket(Browser):
    """A user's websocket, with the permissions that websockets evaluate."""

    def __init__(self, name: str) -> None:
        super().__init__(None)
        self._socket.scope["account"] = name
        self._socket.scope["access_in"] = lambda cluster: LiveAccess(
            name, cluster, clusters.host.runtime
        )


def without_picker(text: str) -> str:
    """Return a page without the cluster pickers of the header and of the menu on phones, which link
    to all clusters.
    """
    pickers = r'<div id="cluster-menu".*?</div>|<ul class="levels".*?</ul>'
    return re.sub(pickers, "", text, flags=re.DOTALL)
