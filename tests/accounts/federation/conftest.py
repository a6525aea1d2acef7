"""Sign-in over preloaded users, with identity providers in a file and a console client that can
create users.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from pytest_django import Settings

from accounts.providers import options
from console.audit.models import AuditRecord
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLE_BINDINGS,
    LOGIN_RECORDS,
    NAMESPACES,
    NODES,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    USERS,
)
from console.kube.informer import Informer
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.accounts.federation.servers import Serve, local_server
from tests.rbac.fakes import FakeConsole
from tests.rbac.objects import admin_role, admins, binding
from tests.support.informers import preloaded
from tests.support.staticruntime import StaticRuntime

Manifest = dict[str, Any]


class Providers:
    """The configuration file. `write` replaces it atomically, as an operator would."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, *entries: Manifest) -> None:
        content = {"authentication": {"oauthOptions": {"identityProviders": list(entries)}}}
        fresh = self.path.with_suffix(".new")
        fresh.write_text(yaml.safe_dump(content))
        fresh.replace(self.path)


def entry(name: str, kind: str, fields: Manifest, **more: Any) -> Manifest:
    """Return a provider entry that creates users immediately, unless overridden by `more`."""
    found = {"mappingMethod": "auto", "disableLoginConfirmation": True, **more}
    return {"name": name, "type": kind, "provider": fields, **found}


@pytest.fixture(autouse=True)
def providers(settings: Settings, tmp_path: Path) -> Iterator[Providers]:
    path = tmp_path / "authentication.yaml"
    settings.AUTHENTICATION_CONFIG = str(path)
    options.clear_cache()
    yield Providers(path)
    options.clear_cache()


@pytest.fixture
def role_bindings() -> Informer[Any]:
    return preloaded(ROLE_BINDINGS)


@pytest.fixture(autouse=True)
def runtime(users: Informer[Any], role_bindings: Informer[Any]) -> Iterator[StaticRuntime]:
    found = StaticRuntime(
        {
            USERS: users,
            GLOBAL_ROLE_BINDINGS: preloaded(
                GLOBAL_ROLE_BINDINGS, [binding("admins", ("User", "admin"))]
            ),
            CLUSTER_ROLE_BINDINGS: preloaded(CLUSTER_ROLE_BINDINGS, admins("admin")),
            CLUSTER_ROLES: preloaded(CLUSTER_ROLES, [admin_role()]),
            LOGIN_RECORDS: preloaded(LOGIN_RECORDS),
            ROLE_BINDINGS: role_bindings,
            ROLES: preloaded(ROLES),
            PODS: preloaded(PODS),
            NAMESPACES: preloaded(NAMESPACES),
            NODES: preloaded(NODES),
        }
    )
    set_host_cluster(found)
    yield found
    unset_host_cluster()


@pytest.fixture
def console(runtime: StaticRuntime, users: Informer[Any]) -> FakeConsole:
    found = runtime.console = FakeConsole({USERS: users})
    return found


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start a server on the loopback interface and return its URL."""
    async with AsyncExitStack() as running:

        async def start(application: web.Application, **options: Any) -> str:
            return await running.enter_async_context(local_server(application, **options))

        yield start


async def reasons() -> list[tuple[int | None, str]]:
    """Return code and reason of the audited sign-ins, oldest first."""
    rows = AuditRecord.objects.filter(verb="login").order_by("pk")
    return [(row.code, row.reason) async for row in rows]
