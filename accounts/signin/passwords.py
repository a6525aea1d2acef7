"""Password hashes, checked and made where they cannot hold up the event loop.

bcrypt with cost 10, because that is what KubeSphere's users have. bcrypt reads 72 bytes of a password
and ignores the rest, so longer ones are refused rather than half checked.
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
#: A hash of a higher cost would keep a thread busy for seconds: nobody signs in with one.
MAX_COST = 14
MAX_BYTES = 72
MIN_LENGTH, MAX_LENGTH = 8, 64
#: What the threads add to that of the process, see nice(2).
NICENESS = 10
#: Hashes that may wait for a thread; at 60 ms each, the last one waits for some seconds.
MAX_WAITING = 64

_HASH = re.compile(r"\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}")
#: Of random bytes that nobody kept: what is checked for those who have no hash.
_DUMMY = b"$2b$10$70lYDRV7yu7UJzvtC/4nP.2OTi0qUX5Pj.Qf9ufgd8/mxFHERQVJy"
#: Seconds that somebody waits, and how many may.
PATIENCE, MOST = 60.0, 2_000


def _give_way() -> None:
    """Pages first: of Linux' threads each has a niceness of its own."""
    if sys.platform == "linux":
        os.nice(NICENESS)


# One core is left to the loop, where there are two.
_THREADS = max(1, min(4, (os.cpu_count() or 1) - 1))
_pool = ThreadPoolExecutor(_THREADS, "quarterdeck-bcrypt", initializer=_give_way)
_places = BoundedSemaphore(MAX_WAITING)

T = TypeVar("T")


def turn(address: str, name: str) -> AbstractAsyncContextManager[None]:
    """Waits in line, until there is a thread to check a password.

    Whoever counts attempts counts within: somebody who waits has not failed yet, and must not use up the
    tries of others who wait. Raises `TooBusy`.
    """
    return line(_THREADS).turn(address, name)


def is_hash(text: str) -> bool:
    """True for a bcrypt hash; anything else in a User's `spec.password` is a plain password."""
    return _HASH.fullmatch(text) is not None


async def matches(password: str, hashed: str | None) -> bool:
    """True if `hashed` is the hash of `password`.

    Takes the time of one hash of cost 10 whether there is a hash or not and whatever the password is.
    Raises `TooBusy`.
    """
    given = _encode(password)
    found = _HASH.fullmatch(hashed or "")
    if hashed is None or given is None or found is None or int(found[1]) > MAX_COST:
        await _run(lambda: bcrypt.checkpw(b"", _DUMMY))
        return False
    stored = hashed.encode()
    return await _run(lambda: bcrypt.checkpw(given, stored))


async def hash_password(password: str) -> str:
    """Raises ValueError for a password that `password_problem` has a word against, and `TooBusy`."""
    given = _encode(password)
    if given is None:
        raise ValueError("this password cannot be hashed")
    return (await _run(lambda: bcrypt.hashpw(given, bcrypt.gensalt(COST)))).decode()


def password_problem(password: str) -> str:
    """Why this password is not accepted, or "". The rule is KubeSphere's."""
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        return f"the password must have {MIN_LENGTH} to {MAX_LENGTH} characters"
    if "\0" in password:
        return "the password has a NUL character"
    if _encode(password) is None:
        return f"the password has more than {MAX_BYTES} bytes in UTF-8"
    if not all(re.search(wanted, password) for wanted in ("[a-z]", "[A-Z]", "[0-9]")):
        return "the password must have a lower-case letter, an upper-case letter and a digit"
    return ""


def _encode(password: str) -> bytes | None:
    """What bcrypt would see, or None if that would not be the whole password."""
    try:
        encoded = password.encode()
    except UnicodeEncodeError:
        return None
    return encoded if 0 < len(encoded) <= MAX_BYTES and b"\0" not in encoded else None


async def _run(work: Callable[[], T]) -> T:
    if not _places.acquire(blocking=False):
        raise TooBusy
    future = _pool.submit(work)
    # With the work, not with the waiting: a visitor who goes away does not end it.
    future.add_done_callback(lambda _done: _places.release())
    return await asyncio.wrap_future(future)


# The line of those whose passwords are to be checked: fair, and as long as they may have to wait.
#
# A check takes a core for a twentieth of a second, so hundreds at once have to wait for each other.
# Whoever comes waits up to `PATIENCE`, and has their turn with those of other addresses, and of other
# names of the same address: a thousand guesses of one machine, or at one name, cost everybody else one
# turn. Where more than `MOST` wait, it is the last of the address with most that is turned away.


class TooBusy(Exception):
    """More passwords are being checked than this process can check soon."""


class _Waiting:
    """Those of one address, by name."""

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
        """Of the name that most wait for."""
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


class Line:
    """`places`: how many are served at once. On one loop."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._count = 0
        self._of: OrderedDict[str, _Waiting] = OrderedDict()

    @asynccontextmanager
    async def turn(self, address: str, name: str) -> AsyncIterator[None]:
        """Raises `TooBusy`."""
        await self._wait(address, name)
        try:
            yield
        finally:
            self._free += 1
            self._serve()

    async def _wait(self, address: str, name: str) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._of.setdefault(address, _Waiting()).add(name, turn)
        self._count += 1
        self._serve()
        if self._count > MOST:
            self._turn_away()
        try:
            async with asyncio.timeout(PATIENCE):
                await turn
        except TimeoutError:
            self._left(turn)
            raise TooBusy from None
        except asyncio.CancelledError:
            self._left(turn)
            raise

    def _left(self, turn: "asyncio.Future[None]") -> None:
        """Whoever waited is not there any more, and may have been called just before."""
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
            # Whoever has gone meanwhile is passed over.
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


#: Futures belong to a loop.
_lines: WeakKeyDictionary[asyncio.AbstractEventLoop, Line] = WeakKeyDictionary()


def line(places: int) -> Line:
    """That of the running loop."""
    loop = asyncio.get_running_loop()
    found = _lines.get(loop)
    if found is None:
        found = _lines[loop] = Line(places)
    return found
