"""The real URLconf and middleware over preloaded users, without static files and scripts."""

from collections.abc import Iterator
from typing import Any, cast

import bcrypt
import pytest
from django.test import AsyncClient
from pytest_django import Settings

from accounts import time as accounts_time
from accounts.signin import passwords
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLE_BINDINGS,
    GROUP_BINDINGS,
    GROUPS,
    GVR,
    LIMIT_RANGES,
    LOGIN_RECORDS,
    NAMESPACES,
    NODES,
    PODS,
    RESOURCE_QUOTAS,
    ROLE_BINDINGS,
    ROLES,
    USERS,
    WORKLOADS,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
)
from console.kube.informer import Informer
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.rbac.fakes import FakeConsole, MovableClock
from tests.rbac.objects import admin_role, admins, binding, user
from tests.support.gateway import GatewayHandler
from tests.support.informers import preloaded
from tests.support.staticruntime import StaticRuntime

PASSWORD = "P@88w0rd"
#: Types that workspace pages read. They are empty here.
TENANCY = (
    GROUPS,
    GROUP_BINDINGS,
    LIMIT_RANGES,
    RESOURCE_QUOTAS,
    WORKSPACES,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLES,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_TEMPLATES,
)
ORIGIN = "https://console.example.com"


def hashed(password: str, cost: int = 4) -> str:
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(cost)).decode()


HASH = hashed(PASSWORD)
#: Hash with the cost that the product uses.
DEAR = hashed(PASSWORD, passwords.COST)


@pytest.fixture
def real_hashes() -> None:
    """Use the product's hash cost in a test."""


@pytest.fixture(autouse=True)
def _cheap_hashes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a low cost for new hashes and for the dummy hash, so that each takes about a millisecond."""
    if "real_hashes" not in request.fixturenames:
        monkeypatch.setattr(passwords, "COST", 4)
        monkeypatch.setattr(passwords, "_DUMMY", HASH.encode())


@pytest.fixture(autouse=True)
def _site(settings: Settings) -> None:
    settings.BASE_URL = ORIGIN
    settings.ORIGINS = frozenset({ORIGIN})
    settings.ALLOWED_HOSTS = ["console.example.com"]
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if "servestatic" not in name]
    settings.SESSION_COOKIE_NAME = "__Host-quarterdeck"
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    settings.CSRF_COOKIE_NAME = "__Host-quarterdeck-csrf"
    settings.CSRF_TRUSTED_ORIGINS = [ORIGIN]
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> MovableClock:
    """The clock of sign-in and sessions, starting now, because the database uses its own clock."""
    found = MovableClock()
    found.time = accounts_time.now()
    monkeypatch.setattr(accounts_time, "clock", found)
    return found


@pytest.fixture
def users() -> Informer[Any]:
    return preloaded(
        USERS,
        [
            user("admin", password=HASH),
            user("alice", password=HASH),
            user("bob", password=HASH, state=None),
            user("disabled", password=HASH, state="Disabled"),
            user("locked", password=HASH, state="AuthLimitExceeded"),
            user("plain", password=PASSWORD),
            user("provider", labels={"iam.kubesphere.io/identify-provider": "ldap"}),
            user("going", password=HASH, deletionTimestamp="2026-03-01T12:00:00Z"),
            user("twin-a", password=HASH, email="twins@example.com"),
            user("twin-b", password=HASH, email="twins@example.com"),
            user("no-mail", password=HASH, email=""),
        ],
    )


@pytest.fixture(autouse=True)
def runtime(users: Informer[Any]) -> Iterator[StaticRuntime]:
    informers: dict[GVR, Informer[Any]] = {
        USERS: users,
        GLOBAL_ROLE_BINDINGS: preloaded(
            GLOBAL_ROLE_BINDINGS, [binding("admins", ("User", "admin"))]
        ),
        LOGIN_RECORDS: preloaded(LOGIN_RECORDS),
        ROLES: preloaded(ROLES),
        CLUSTER_ROLES: preloaded(CLUSTER_ROLES, [admin_role()]),
        ROLE_BINDINGS: preloaded(ROLE_BINDINGS),
        CLUSTER_ROLE_BINDINGS: preloaded(CLUSTER_ROLE_BINDINGS, admins("admin")),
        PODS: preloaded(PODS),
        NAMESPACES: preloaded(NAMESPACES),
        NODES: preloaded(NODES),
        **{gvr: preloaded(gvr) for gvr in (*TENANCY, *WORKLOADS)},
    }
    found = StaticRuntime(informers, user_client=lambda identity: cast(Any, found.console))
    found.console = FakeConsole(informers)
    set_host_cluster(found)
    yield found
    unset_host_cluster()


class OneHost(AsyncClient):
    """Client that sends only the given Host header. Django's client also adds its own. Requests for
    the gateway's paths reach the gateway.
    """

    def __init__(self, enforce_csrf_checks: bool = False, **options: Any) -> None:
        super().__init__(enforce_csrf_checks, **options)
        self.handler = GatewayHandler(enforce_csrf_checks)

    def _base_scope(self, **request: Any) -> dict[str, Any]:
        scope: dict[str, Any] = super()._base_scope(**request)  # type: ignore[misc]
        scope["headers"] = list(dict(scope["headers"]).items())
        return scope


class Browser:
    """Client that keeps cookies and sends the headers of a same-origin form."""

    def __init__(self, **defaults: str) -> None:
        self.client = OneHost(raise_request_exception=True)
        self.headers = {"Host": "console.example.com", **defaults}

    async def get(self, path: str, **headers: str) -> Any:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.get(path, headers={**self.headers, **given})

    async def post(self, path: str, data: dict[str, str] | None = None, **headers: str) -> Any:
        given = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin", **self.headers}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.post(path, data or {}, headers=given)

    async def login(self, username: str, password: str = PASSWORD, next: str = "") -> Any:
        return await self.post("/login", {"username": username, "password": password, "next": next})

    @property
    def key(self) -> str | None:
        morsel = self.client.cookies.get("__Host-quarterdeck")
        return morsel.value if morsel is not None and morsel.value else None

    @key.setter
    def key(self, value: str) -> None:
        self.client.cookies["__Host-quarterdeck"] = value


@pytest.fixture
def browser() -> Browser:
    return Browser()
