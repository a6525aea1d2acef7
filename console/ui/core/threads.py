"""CPU-bound work outside the event loop's thread."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work` in a thread with the caller's language, and return its result.

    `asyncio.to_thread` would lose the language: Django keeps it in an asgiref `Local`, which
    only asgiref transfers between threads.
    """
    return await sync_to_async(work, thread_sensitive=False)(*args, **kwargs)
