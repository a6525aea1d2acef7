"""Django's ASGI application, with one thread for the database instead of a new one for each request.

Django gives every request a thread of its own, so that what one thread may not share is not shared
between requests: a connection to the database. That thread, and its connection, would be made and ended
with every page. Here all requests use the same one: it is asked for one short query at a time, most
often for the session, and no transaction of ours outlasts the function that began it.
"""

from typing import Any

import django
from django.core.handlers.asgi import ASGIHandler
from django.core.signals import request_started
from django.db import close_old_connections, reset_queries


class ConsoleHandler(ASGIHandler):
    #: Bytes of an answer that are sent at a time. A page is whole in memory before its first is sent, so
    #: cutting it into Django's 64 KiB only made more steps of it.
    chunk_size = 1024 * 1024

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise ValueError(f"{scope['type']} is not for Django")
        await self.handle(scope, receive, send)


def make_handler() -> ConsoleHandler:
    """Sets Django up, too.

    Django looks after connections before and after each request, each time on the database's thread.
    Once is enough, and it is done after the answer, when nobody waits.
    """
    django.setup(set_prefix=False)
    request_started.disconnect(close_old_connections)
    request_started.disconnect(reset_queries)
    return ConsoleHandler()
