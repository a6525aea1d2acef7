"""A real control plane with the console's identities, policies and controllers, and the console's
pages.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from asgiref.sync import markcoroutinefunction
from pytest_django import Settings

from console.kube import controller
from console.kube.clients import ConsoleClient
from console.kube.credentials import Credentials
from console.kube.identity import Identity
from console.kube.kubeconfig import write_console_kubeconfig
from console.kube.runtime import Runtime
from console.kube.transport import Transport
from console.management.commands.install import install_into
from console.ui.core.clusters import clusters
from rbac.authorizer import SOURCES
from rbac.controllers import FACTORIES as PROJECTION
from rbac.middleware import access_of
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.controlplane.cluster import ControlPlane
from workspaces.controllers import FACTORIES


class PersonMiddleware:
    """Authenticate requests by the header `X-Person`. Permissions are evaluated as usual."""

    async_capable = True
    sync_capable = False

    def __init__(self, get_response):  # type: ignore[no-untyped-def]
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request):  # type: ignore[no-untyped-def]
        name = request.headers.get("X-Person", "")
        request.account = name or None
        request.cluster = clusters.host
        request.access = access_of(Identity(name) if name else None, clusters.host)
        request.csp_nonce, request.request_id = "nonce", "request-1"
        return await self.get_response(request)


@pytest.fixture
def site(settings: Settings) -> None:
    """Configure the pages without authentication middleware."""
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


@dataclass(frozen=True)
class Installed:
    """A control plane with the console's identities and policies, and the console's kubeconfig."""

    cluster: ControlPlane
    kubeconfig: Path


@dataclass(frozen=True)
class Tenancy(Installed):
    """An installed control plane with running workspace controllers."""

    runtime: Runtime


@pytest.fixture(scope="package")
def installed(
    control_plane_programs: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installed]:
    """The control plane shared by all files. Each file uses its own workspaces and users."""
    with ControlPlane() as cluster:
        kubeconfig = tmp_path_factory.mktemp("console") / "kubeconfig"
        tokens = asyncio.run(_install(cluster))
        write_console_kubeconfig(kubeconfig, cluster.url, Path(cluster.ca_file), tokens)
        yield Installed(cluster, kubeconfig)


@pytest.fixture(scope="module")
def tenancy(installed: Installed) -> Iterator[Tenancy]:
    """Run the workspace controllers for one file. Other files run other controllers, which would
    conflict.
    """
    with ExitStack() as stack:
        runtime = Runtime(kubeconfig=str(installed.kubeconfig))
        runtime.start()
        stack.callback(runtime.stop)
        runtime.require(SOURCES)
        for factory in (*PROJECTION, *FACTORIES):
            runtime.spawn(controller.run(runtime, factory(runtime)))
        set_host_cluster(runtime)
        stack.callback(unset_host_cluster)
        yield Tenancy(installed.cluster, installed.kubeconfig, runtime)


async def _install(cluster: ControlPlane) -> dict[str, str]:
    transport = Transport(Credentials("admin", str(cluster.kubeconfig)))
    try:
        return await install_into(ConsoleClient(transport), admin_password="P@88w0rd")
    finally:
        await transport.close()
