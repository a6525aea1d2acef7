"""Requests share one database thread, and connections are checked after each request."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connections, reset_queries
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpRequest, HttpResponse
from django.urls import path
from pytest_django import Settings

from console.web.handler import READ_LOCK_TIMEOUT_MS, ConsoleHandler, make_handler


def _patience() -> int:
    """Return the busy timeout in milliseconds of a new database connection of this thread."""
    connection = connections.create_connection("default")
    try:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout")
            return int(cursor.fetchone()[0])
    finally:
        BaseDatabaseWrapper.close(connection)


async def _view(request: HttpRequest) -> HttpResponse:
    if "wait" in request.GET:
        await asyncio.sleep(0)
    if "patience" in request.GET:
        return HttpResponse(f"{await sync_to_async(_patience)()}")
    name = await sync_to_async(lambda: threading.current_thread().name)()
    return HttpResponse(f"{name} {request.GET.get('n', '')}")


urlpatterns = [path("", _view)]


@pytest.fixture
def handler(settings: Settings) -> Iterator[ASGIHandler]:
    settings.ROOT_URLCONF = __name__
    settings.ALLOWED_HOSTS = ["localhost"]
    settings.MIDDLEWARE = []
    yield make_handler()
    request_started.connect(reset_queries)
    request_started.connect(close_old_connections)


async def ask(handler: Any, query: str, method: str = "GET") -> str:
    scope = {
        "type": "http", "method": method, "path": "/", "raw_path": b"/", "root_path": "",
        "query_string": query.encode(), "headers": [(b"host", b"localhost")],
    }  # fmt: skip
    sent: list[dict[str, Any]] = []
    bodies = iter([{"type": "http.request", "body": b""}])

    async def receive() -> dict[str, Any]:
        found = next(bodies, None)
        return found if found is not None else await asyncio.Future()

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await handler(scope, receive, send)
    return b"".join(message.get("body", b"") for message in sent).decode()


@pytest.mark.django_db(transaction=True)
async def test_one_thread_serves_all_requests(handler: ASGIHandler) -> None:
    assert isinstance(handler, ConsoleHandler)
    queries = [f"n={n}&wait" for n in range(5)]
    answers = await asyncio.gather(*(ask(handler, query) for query in queries))
    assert [answer.split()[-1] for answer in answers] == ["0", "1", "2", "3", "4"]
    threads = {answer.rsplit(" ", 1)[0] for answer in answers}
    assert len(threads) == 1
    assert threads != {threading.current_thread().name}


@pytest.mark.django_db(transaction=True)
async def test_read_requests_use_a_short_busy_timeout(handler: ASGIHandler) -> None:
    if connections["default"].vendor != "sqlite":
        pytest.skip("only a file is held by somebody")
    assert int(await ask(handler, "patience")) == READ_LOCK_TIMEOUT_MS
    assert int(await ask(handler, "patience", "POST")) > 1_000


async def test_connections_are_checked_once_after_the_response(handler: ASGIHandler) -> None:
    def receivers(signal: Any) -> list[Any]:
        return [found for kind in signal._live_receivers(None) for found in kind]

    assert close_old_connections not in receivers(request_started)
    assert close_old_connections in receivers(request_finished)


async def test_websockets_are_rejected_by_the_http_handler(handler: Any) -> None:
    with pytest.raises(ValueError, match="websocket"):
        await handler({"type": "websocket"}, None, None)
