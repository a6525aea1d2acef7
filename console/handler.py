"""Django's ASGI application, with two threads for the database instead of a new one for each request.

Django gives every request a thread of its own, so that what one thread may not share is not shared
between requests: a connection to the database. That thread, and its connection, would be made and ended
with every page. Here all requests use the same ones: each is asked for one short query at a time, most
often for the session, and no transaction of ours outlasts the function that began it.

Who changes something may have to wait for whoever else writes, for seconds where the database is a file
that somebody holds. So requests that change nothing have a thread of their own, in which nothing waits
for long.
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

#: Milliseconds that a statement waits for others who write, in the thread of those who only read.
READERS_WAIT = 250
_READING = "quarterdeck-reading"


def _line(name: str) -> ThreadSensitiveContext:
    """Whatever is done within it for the database is done by one thread, for as long as the process
    lives."""
    line = ThreadSensitiveContext()
    SyncToAsync.context_to_thread_executor[line] = ThreadPoolExecutor(1, name)
    return line


_reading, _writing = _line(_READING), _line("quarterdeck-writing")


class ConsoleHandler(ASGIHandler):
    #: Bytes of an answer that are sent at a time. A page is whole in memory before its first is sent, so
    #: cutting it into Django's 64 KiB only made more steps of it.
    chunk_size = 1024 * 1024

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise ValueError(f"{scope['type']} is not for Django")
        line = _reading if scope["method"] in SAFE_METHODS else _writing
        SyncToAsync.thread_sensitive_context.set(line)
        await self.handle(scope, receive, send)


def make_handler() -> ConsoleHandler:
    """Sets Django up, too.

    Django looks after connections before and after each request, each time on the database's thread.
    Once is enough, and it is done after the answer, when nobody waits.
    """
    django.setup(set_prefix=False)
    request_started.disconnect(close_old_connections)
    request_started.disconnect(reset_queries)
    connection_created.connect(_be_quick)
    return ConsoleHandler()


def _be_quick(connection: BaseDatabaseWrapper, **_signal: object) -> None:
    if connection.vendor == "sqlite" and threading.current_thread().name.startswith(_READING):
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA busy_timeout = {READERS_WAIT}")
