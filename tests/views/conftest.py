"""The generic pages over a few preloaded objects, with test users who need no sign-in."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import ParseResult, unquote

import pytest
from django.test import AsyncClient
from pytest_django import Settings

from console.kube.gvr import PODS
from console.kube.informer import Informer
from console.views import authorization
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import make_runtime


@pytest.fixture(autouse=True)
def _site(settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.views.urls"
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.ORIGINS = frozenset({"http://testserver"})
    settings.MIDDLEWARE = [
        "console.web.async_middleware.InlineLocaleMiddleware",
        "accounts.csrf.CsrfMiddleware",
        "console.web.async_middleware.InlineMessageMiddleware",
        "django_htmx.middleware.HtmxMiddleware",
        "tests.views.viewers.CastMiddleware",
    ]
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }


@pytest.fixture(autouse=True)
def _confirms_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Permissions that stay unconfirmed are waited for only briefly."""
    monkeypatch.setattr(authorization, "CONFIRM_WITHIN", 0.1)


@pytest.fixture
def runtime() -> Iterator[StaticRuntime]:
    found = make_runtime()
    set_host_cluster(found)
    yield found
    unset_host_cluster()


@pytest.fixture
def pods(runtime: StaticRuntime) -> Informer[Any]:
    return runtime.informer(PODS)


@pytest.fixture
def client_as(runtime: StaticRuntime) -> "ClientAs":
    return ClientAs()


class ClientAs:
    """Return a client for a user: `client_as("alice").get(...)`. With "" the client is anonymous."""

    def __call__(self, name: str, **headers: str) -> "SignedIn":
        return SignedIn({**({"X-Cast": name} if name else {}), **headers})


class Utf8Client(AsyncClient):
    """Encode paths like browsers do; Django's client reads them as Latin-1."""

    def _get_path(self, parsed: ParseResult) -> str:
        return unquote(parsed.path) or "/"


class SignedIn:
    """A client that sends the same headers with each request. `csrf` enables CSRF checks."""

    def __init__(self, headers: dict[str, str], *, csrf: bool = False) -> None:
        self._client = Utf8Client(raise_request_exception=False, enforce_csrf_checks=csrf)
        self._headers = headers

    async def get(self, path: str) -> Any:
        return await self._client.get(path, headers=self._headers)

    async def head(self, path: str) -> Any:
        return await self._client.head(path, headers=self._headers)

    async def post(self, path: str, data: dict[str, Any] | None = None) -> Any:
        return await self._client.post(path, data or {}, headers=self._headers)
