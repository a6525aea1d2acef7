"""Work that takes a core for a while, beside the event loop."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `work` returns or raises, in the language of whoever asked.

    `asyncio.to_thread` leaves that behind: Django keeps it in a `Local` of asgiref, which is one thread's
    until asgiref itself takes it to another.
    """
    return await sync_to_async(work, thread_sensitive=False)(*args, **kwargs)
