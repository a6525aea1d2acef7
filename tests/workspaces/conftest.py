"""A real control plane with the console's identities, policies and controllers, and its pages."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from asgiref.sync import markcoroutinefunction
from pytest_django import Settings

from console.kube import controller
from console.kube.client import ConsoleClient, Credentials, Transport
from console.kube.identity import Identity
from console.kube.kubeconfig import write_console_kubeconfig
from console.kube.runtime import Runtime, set_runtime
from console.management.commands._installing import install_into
from rbac.authorizer import SOURCES
from rbac.controllers import FACTORIES as PROJECTION
from rbac.middleware import access_of
from tests.controlplane.cluster import ControlPlane
from workspaces.controllers import FACTORIES


class PersonMiddleware:
    """Signs requests in by the header `X-Person`; what they may do is worked out as always."""

    async_capable = True
    sync_capable = False

    def __init__(self, get_response):  # type: ignore[no-untyped-def]
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request):  # type: ignore[no-untyped-def]
        name = request.headers.get("X-Person", "")
        request.account = name or None
        request.access = access_of(Identity(name) if name else None)
        request.csp_nonce, request.request_id = "nonce", "request-1"
        return await self.get_response(request)


@pytest.fixture
def site(settings: Settings) -> None:
    """The pages, without what signs people in."""
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.MIDDLEWARE = [
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.locale.LocaleMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "django_htmx.middleware.HtmxMiddleware",
        "tests.workspaces.conftest.PersonMiddleware",
    ]
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }


class Tenancy:
    def __init__(self, cluster: ControlPlane, runtime: Runtime) -> None:
        self.cluster, self.runtime = cluster, runtime


@pytest.fixture(scope="module")
def tenancy(
    control_plane_programs: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Tenancy]:
    with ControlPlane() as cluster, ExitStack() as stack:
        kubeconfig = console_kubeconfig(cluster, tmp_path_factory)
        runtime = Runtime(kubeconfig=str(kubeconfig))
        runtime.start()
        stack.callback(runtime.stop)
        runtime.require(SOURCES)
        for factory in (*PROJECTION, *FACTORIES):
            runtime.spawn(controller.run(runtime, factory(runtime)))
        set_runtime(runtime)
        stack.callback(set_runtime, None)
        yield Tenancy(cluster, runtime)


def console_kubeconfig(cluster: ControlPlane, folders: pytest.TempPathFactory) -> Path:
    """Installs the console in the cluster; the file with its identities."""
    path = folders.mktemp("console") / "kubeconfig"
    tokens = asyncio.run(_install(cluster))
    write_console_kubeconfig(path, cluster.url, Path(cluster.ca_file), tokens)
    return path


async def _install(cluster: ControlPlane) -> dict[str, str]:
    transport = Transport(Credentials("admin", str(cluster.kubeconfig)))
    try:
        return await install_into(ConsoleClient(transport), admin_password="P@88w0rd")
    finally:
        await transport.close()
