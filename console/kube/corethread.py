"""The thread that runs the cluster core, with its own event loop."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from threading import Event, Thread
from typing import Any, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")


class CoreThread:
    """A thread with an event loop that starts and stops once.

    `closing` is awaited on the loop after all tasks have ended.
    """

    def __init__(self, closing: Callable[[], Awaitable[None]]) -> None:
        self._closing = closing
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self) -> None:
        """Start the thread and return when its loop runs."""
        started = Event()
        self._thread = Thread(
            target=self._main, args=(started,), name="quarterdeck-core", daemon=True
        )
        self._thread.start()
        started.wait()

    def stop(self) -> None:
        """Cancel all tasks and wait at most 10 seconds for them to end."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._shut_down(), loop).result(timeout=10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=10)

    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run a coroutine until it ends or the thread stops. Callable from any thread."""
        if self._loop is None:
            coroutine.close()
            raise RuntimeError("the runtime has not been started")
        return asyncio.run_coroutine_threadsafe(self._supervised(coroutine), self._loop)

    def _main(self, started: Event) -> None:
        loop = self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        loop.call_soon(started.set)
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    async def _supervised(self, coroutine: Coroutine[Any, Any, T]) -> T:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
        try:
            return await coroutine
        except asyncio.CancelledError:
            raise
        except BaseException:
            log.exception("A task of the cluster core failed")
            raise
        finally:
            if task is not None:
                self._tasks.discard(task)

    async def _shut_down(self) -> None:
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._closing()
