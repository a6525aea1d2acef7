"""ASGI handler of Django that uses two long-lived database threads instead of one thread per
request.

Django creates a thread for each request because database connections can't be shared between
threads. That would open and close a database connection for every page. Here requests share
threads: each runs short queries, mostly for the session, and no transaction outlasts the
function that started it.

Writes may wait several seconds for a lock, for example on SQLite. Requests with a safe method
therefore use a separate thread.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import django
from asgiref.sync import SyncToAsync, ThreadSensitiveContext
from django.core.handlers.asgi import ASGIHandler
from django.core.signals import request_started
from django.db import close_old_connections, reset_queries
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from console.views.guard import SAFE_METHODS

#: Milliseconds that a statement in the thread for safe methods waits for a database lock.
READ_LOCK_TIMEOUT_MS = 250
_READING = "quarterdeck-reading"


def _line(name: str) -> ThreadSensitiveContext:
    """Return a context whose database calls all run in one thread, which lives as long as the
    process.
    """
    line = ThreadSensitiveContext()
    SyncToAsync.context_to_thread_executor[line] = ThreadPoolExecutor(1, name)
    return line


_reading, _writing = _line(_READING), _line("quarterdeck-writing")


class ConsoleHandler(ASGIHandler):
    #: Size of response chunks in bytes. Pages are complete in memory before they are sent, so
    #: Django's chunks of 64 KiB only add steps.
    chunk_size = 1024 * 1024

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise ValueError(f"unsupported scope type {scope['type']}")
        line = _reading if scope["method"] in SAFE_METHODS else _writing
        SyncToAsync.thread_sensitive_context.set(line)
        await self.handle(scope, receive, send)


def make_handler() -> ConsoleHandler:
    """Set up Django and return its ASGI handler.

    Django's `close_old_connections` also runs before each request, in the database thread. It is
    disconnected there, because running it after the response is sufficient and delays no client.
    """
    django.setup(set_prefix=False)
    request_started.disconnect(close_old_connections)
    request_started.disconnect(reset_queries)
    connection_created.connect(_be_quick)
    return ConsoleHandler()


def _be_quick(connection: BaseDatabaseWrapper, **_signal: object) -> None:
    if connection.vendor == "sqlite" and threading.current_thread().name.startswith(_READING):
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA busy_timeout = {READ_LOCK_TIMEOUT_MS}")
