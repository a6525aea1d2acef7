"""Password hashing in worker threads, with a fair queue.

Uses bcrypt with cost 10, as KubeSphere does. bcrypt ignores everything after 72 bytes, so longer
passwords are rejected.
"""

import asyncio
import os
import re
import sys
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from threading import BoundedSemaphore
from typing import TypeVar
from weakref import WeakKeyDictionary

import bcrypt

COST = 10
#: Hashes with a higher cost are rejected, because checking one would block a thread for seconds.
MAX_COST = 14
MAX_BYTES = 72
MIN_LENGTH, MAX_LENGTH = 8, 64
#: Niceness of the worker threads, relative to the process; see nice(2).
NICENESS = 10
#: Maximum number of hashes waiting for a thread. At 60 ms each, the last one waits a few seconds.
MAX_WAITING = 64

_HASH = re.compile(r"\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}")
#: Hash of discarded random bytes, which is checked if a user has no hash.
_DUMMY = b"$2b$10$70lYDRV7yu7UJzvtC/4nP.2OTi0qUX5Pj.Qf9ufgd8/mxFHERQVJy"
#: Queue timeout in seconds, and the maximum queue length.
PATIENCE, MOST = 60.0, 2_000


def _lower_priority() -> None:
    """Lower the thread's priority so that pages are served first. On Linux, niceness is per thread."""
    if sys.platform == "linux":
        os.nice(NICENESS)


# Leave one core to the event loop if there are at least two.
_THREADS = max(1, min(4, (os.cpu_count() or 1) - 1))
_pool = ThreadPoolExecutor(_THREADS, "quarterdeck-bcrypt", initializer=_lower_priority)
_places = BoundedSemaphore(MAX_WAITING)

T = TypeVar("T")


def is_hash(text: str) -> bool:
    """Return True for a bcrypt hash. Any other text in `spec.password` is a plain password."""
    return _HASH.fullmatch(text) is not None


async def matches(password: str, hashed: str | None) -> bool:
    """Return True if `hashed` is the hash of `password`.

    Takes as long as one hash of cost 10 even if there is no hash or the password is invalid.
    Raise `TooBusy`.
    """
    given = _encode(password)
    found = _HASH.fullmatch(hashed or "")
    if hashed is None or given is None or found is None or int(found[1]) > MAX_COST:
        await _run(lambda: bcrypt.checkpw(b"", _DUMMY))
        return False
    stored = hashed.encode()
    return await _run(lambda: bcrypt.checkpw(given, stored))


async def hash_password(password: str) -> str:
    """Return the hash of a password.

    Raise ValueError if `password_problem` rejects the password, or `TooBusy`.
    """
    given = _encode(password)
    if given is None:
        raise ValueError("this password cannot be hashed")
    return (await _run(lambda: bcrypt.hashpw(given, bcrypt.gensalt(COST)))).decode()


def password_problem(password: str) -> str:
    """Return the reason why the password is rejected by KubeSphere's policy, or ""."""
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        return f"the password must have {MIN_LENGTH} to {MAX_LENGTH} characters"
    if "\0" in password:
        return "the password contains a NUL character"
    if _encode(password) is None:
        return f"the password has more than {MAX_BYTES} bytes in UTF-8"
    if not all(re.search(wanted, password) for wanted in ("[a-z]", "[A-Z]", "[0-9]")):
        return "the password must contain a lowercase letter, an uppercase letter and a digit"
    return ""


def _encode(password: str) -> bytes | None:
    """Return the bytes for bcrypt, or None if bcrypt would not use the complete password."""
    try:
        encoded = password.encode()
    except UnicodeEncodeError:
        return None
    return encoded if 0 < len(encoded) <= MAX_BYTES and b"\0" not in encoded else None


async def _run(work: Callable[[], T]) -> T:
    if not _places.acquire(blocking=False):
        raise TooBusy
    future = _pool.submit(work)
    # Release the slot when the hash is calculated, because the work continues if the client
    # disconnects.
    future.add_done_callback(lambda _done: _places.release())
    return await asyncio.wrap_future(future)


# Fair queue for password checks, with a timeout and a maximum length.
#
# A check takes a core for about 50 ms, so hundreds of concurrent checks have to wait. A request
# waits up to `PATIENCE` seconds. Turns alternate between addresses, and within an address between
# usernames, so a thousand guesses from one machine, or for one name, delay other users by one
# turn. If more than `MOST` requests wait, the last request of the busiest address is rejected.


class TooBusy(Exception):
    """Too many passwords are waiting to be checked."""


class _AddressQueue:
    """Waiting requests of one address, grouped by username."""

    def __init__(self) -> None:
        self.count = 0
        self._of: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    def add(self, name: str, turn: "asyncio.Future[None]") -> None:
        self._of.setdefault(name, deque()).append(turn)
        self.count += 1

    def next(self) -> "asyncio.Future[None]":
        name, turns = self._of.popitem(last=False)
        return self._take(name, turns, turns.popleft())

    def last(self) -> "asyncio.Future[None]":
        """Remove and return the last request of the name with the most waiting requests."""
        name = max(self._of, key=lambda one: len(self._of[one]))
        turns = self._of.pop(name)
        return self._take(name, turns, turns.pop())

    def _take(
        self, name: str, left: "deque[asyncio.Future[None]]", turn: "asyncio.Future[None]"
    ) -> "asyncio.Future[None]":
        self.count -= 1
        if left:
            self._of[name] = left
        return turn


class PasswordQueue:
    """Queue that serves `places` requests concurrently. Use it on one event loop only."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._count = 0
        self._of: OrderedDict[str, _AddressQueue] = OrderedDict()

    @asynccontextmanager
    async def turn(self, address: str, name: str) -> AsyncIterator[None]:
        """Hold a place in the queue. Raise `TooBusy`."""
        await self._wait(address, name)
        try:
            yield
        finally:
            self._free += 1
            self._serve()

    async def _wait(self, address: str, name: str) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._of.setdefault(address, _AddressQueue()).add(name, turn)
        self._count += 1
        self._serve()
        if self._count > MOST:
            self._turn_away()
        try:
            async with asyncio.timeout(PATIENCE):
                await turn
        except TimeoutError:
            self._release(turn)
            raise TooBusy from None
        except asyncio.CancelledError:
            self._release(turn)
            raise

    def _release(self, turn: "asyncio.Future[None]") -> None:
        """Return the place if the request was served just before its timeout or cancellation."""
        if turn.done() and not turn.cancelled() and turn.exception() is None:
            self._free += 1
            self._serve()

    def _serve(self) -> None:
        while self._free > 0 and self._of:
            address, waiting = self._of.popitem(last=False)
            turn = waiting.next()
            self._count -= 1
            if waiting.count:
                self._of[address] = waiting
            # Skip requests that were cancelled in the meantime.
            if not turn.done():
                turn.set_result(None)
                self._free -= 1

    def _turn_away(self) -> None:
        address = max(self._of, key=lambda one: self._of[one].count)
        waiting = self._of[address]
        turn = waiting.last()
        self._count -= 1
        if not waiting.count:
            del self._of[address]
        if not turn.done():
            turn.set_exception(TooBusy())


#: One queue per event loop, because futures belong to a loop.
_lines: WeakKeyDictionary[asyncio.AbstractEventLoop, PasswordQueue] = WeakKeyDictionary()


def queue_turn(address: str, name: str) -> AbstractAsyncContextManager[None]:
    """Wait in the queue of the running event loop until a thread can check a password.

    Count the attempt inside this context: a waiting request has not failed yet and must not
    reduce the attempts available to other requests. Raise `TooBusy`.
    """
    loop = asyncio.get_running_loop()
    found = _lines.get(loop)
    if found is None:
        found = _lines[loop] = PasswordQueue(_THREADS)
    return found.turn(address, name)
