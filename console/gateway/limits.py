"""Limits of the gateway's requests, per user and per process.

Short requests wait for one of the process's slots in a queue per user. Free slots are given to the
users in turn, so a user with many requests doesn't delay the others. A request that waits too
long, and a long one (a watch, a followed log, a connection to a container) above the limit, is
answered with 429 and `Retry-After`.
"""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from django.utils.translation import gettext as _

from console.gateway.errors import Refusal
from console.live.perloop import PerLoop

#: Short requests that are sent at the same time, in total and per user, and how many of a user wait.
#: kubectl asks for all API groups at the same time.
AT_ONCE, USER_AT_ONCE, USER_WAITING = 256, 64, 256
#: Long requests, in total and per user.
LONG, USER_LONG = 4_000, 400
#: Bytes of request bodies in memory, in total and per user.
BODIES, USER_BODIES = 128 * 2**20, 32 * 2**20
WAIT_SECONDS = 10.0
RETRY_AFTER = "1"


class FairSlots:
    """Slots for short requests. Use it on one event loop only."""

    def __init__(
        self, total: int = AT_ONCE, user: int = USER_AT_ONCE, waiting: int = USER_WAITING
    ) -> None:
        self._total, self._user, self._most_waiting = total, user, waiting
        self._running: Counter[str] = Counter()
        #: Users with waiting requests. The first one is served next.
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def slot(self, user: str, seconds: float = WAIT_SECONDS) -> AsyncIterator[None]:
        """Wait for a slot, and hold it for the duration of the block. Raise `Refusal` after
        `seconds`.
        """
        if user in self._waiting or not self._is_free(user):
            await self._wait(user, seconds)
        else:
            self._running[user] += 1
        try:
            yield
        finally:
            self._release(user)

    def _is_free(self, user: str) -> bool:
        return self._running.total() < self._total and self._running[user] < self._user

    async def _wait(self, user: str, seconds: float) -> None:
        queue = self._waiting.setdefault(user, deque())
        if len(queue) >= self._most_waiting:
            raise too_many_requests()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            async with asyncio.timeout(seconds):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                # The slot was given to this request while the wait ended.
                self._release(user)
            else:
                self._forget(user, turn)
            if isinstance(error, TimeoutError):
                raise too_many_requests() from error
            raise

    def _forget(self, user: str, turn: "asyncio.Future[None]") -> None:
        queue = self._waiting[user]
        queue.remove(turn)
        if not queue:
            del self._waiting[user]

    def _release(self, user: str) -> None:
        self._running[user] -= 1
        if not self._running[user]:
            del self._running[user]
        for waiting in list(self._waiting):
            if self._running.total() >= self._total:
                return
            while waiting in self._waiting and self._is_free(waiting):
                self._start(waiting)
                if self._running.total() >= self._total or len(self._waiting) > 1:
                    break

    def _start(self, user: str) -> None:
        queue = self._waiting[user]
        queue.popleft().set_result(None)
        self._running[user] += 1
        if queue:
            self._waiting.move_to_end(user)
        else:
            del self._waiting[user]


class LongRequests:
    """Counts the long requests. Use it on one event loop only."""

    def __init__(self, total: int = LONG, user: int = USER_LONG) -> None:
        self._total, self._user = total, user
        self._running: Counter[str] = Counter()

    @asynccontextmanager
    async def slot(self, user: str) -> AsyncIterator[None]:
        """Count a request for the duration of the block. Raise `Refusal` if a limit is reached."""
        if self._running[user] >= self._user or self._running.total() >= self._total:
            raise too_many_requests()
        self._running[user] += 1
        try:
            yield
        finally:
            self._running[user] -= 1
            if not self._running[user]:
                del self._running[user]


def too_many_requests() -> Refusal:
    text = _("You have too many requests in progress. Try again later.")
    return Refusal(429, text, retry_after=RETRY_AFTER)


fair_slots, long_requests = PerLoop(FairSlots), PerLoop(LongRequests)
