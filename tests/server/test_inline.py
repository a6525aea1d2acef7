"""Django's middleware runs inline on the event loop with unchanged behavior."""

import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.contrib import messages
from django.contrib.messages import get_messages
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.test import AsyncClient
from django.urls import path
from django.utils.translation import get_language
from pytest_django import Settings

from accounts.signin.session_rows import SessionStore
from console.web.async_middleware import InlineSessionMiddleware

INLINE = [
    "console.web.async_middleware.InlineSessionMiddleware",
    "console.web.async_middleware.InlineLocaleMiddleware",
    "console.web.async_middleware.InlineCsrfMiddleware",
    "console.web.async_middleware.InlineMessageMiddleware",
]
DJANGOS = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]


async def _view(request: HttpRequest) -> HttpResponse:
    text = f"{get_language()} {','.join(str(m) for m in get_messages(request))}"
    if "say" in request.GET:
        messages.info(request, "said")
    if "count" in request.GET:
        request.session["count"] = await request.session.aget("count", 0) + 1
        text += str(request.session["count"])
    if "token" in request.GET:
        text = get_token(request)
    return HttpResponse(text)


urlpatterns = [path("", _view)]
handler500 = "console.views.errors.server_error"


@pytest.fixture(params=[INLINE, DJANGOS], ids=["inline", "django's"])
def client(request: pytest.FixtureRequest, settings: Settings) -> AsyncClient:
    settings.ROOT_URLCONF = __name__
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.MIDDLEWARE = request.param
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = False
    return AsyncClient(enforce_csrf_checks=True)


async def test_locale_middleware_selects_the_language(client: AsyncClient) -> None:
    response = await client.get("/", headers={"Accept-Language": "zh-hans"})
    assert response.content.decode().startswith("zh-hans")
    assert response["Content-Language"] == "zh-hans"
    assert (await client.get("/")).content.decode().startswith("en")


async def test_messages_are_shown_once(client: AsyncClient) -> None:
    await client.get("/?say")
    assert (await client.get("/")).content == b"en said"
    assert (await client.get("/")).content == b"en "


@pytest.mark.django_db(transaction=True)
async def test_sessions_are_saved(client: AsyncClient) -> None:
    assert [(await client.get("/?count")).content for _ in range(3)] == [b"en 1", b"en 2", b"en 3"]


async def test_post_requires_the_csrf_token(client: AsyncClient, settings: Settings) -> None:
    assert (await client.post("/", {})).status_code == 403
    token = (await client.get("/?token")).content.decode()
    assert (await client.post("/", {"csrfmiddlewaretoken": "wrong"})).status_code == 403
    assert (await client.post("/", {"csrfmiddlewaretoken": token})).status_code == 200
    large = {"text": "x" * 100_000}
    assert (await client.post("/", large)).status_code == 403
    assert (await client.post("/", {**large, "csrfmiddlewaretoken": token})).status_code == 200
    assert (await client.post("/", {}, headers={"X-CSRFToken": token})).status_code == 200


@pytest.fixture
async def threads(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[bool]]:
    """Record for each finished session whether it was processed on the event loop's thread."""
    found: list[bool] = []
    original = InlineSessionMiddleware.process_response

    def noted(self: Any, request: HttpRequest, response: Any) -> Any:
        found.append(threading.current_thread() is threading.main_thread())
        return original(self, request, response)

    monkeypatch.setattr(InlineSessionMiddleware, "process_response", noted)
    yield found


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("client", [INLINE], indirect=True)
async def test_only_saving_a_session_uses_another_thread(
    client: AsyncClient, threads: list[bool]
) -> None:
    await client.get("/")
    await client.get("/?count")
    await client.get("/")
    assert threads == [True, False, True]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("client", [INLINE], indirect=True)
async def test_failing_session_store_returns_503(
    client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise DatabaseError("database or disk is full")

    with monkeypatch.context() as full:
        full.setattr(SessionStore, "save", fail)
        answer = await client.get("/?count")
        assert answer.status_code == 503
        assert "The database is not available." in answer.content.decode()
        assert (await client.get("/")).status_code == 200
    assert (await client.get("/?count")).content == b"en 1"
