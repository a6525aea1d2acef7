"""Which sockets of one loop are open, and whether their sessions still are.

A session is looked up every `check_seconds`, and when rights changed, since a user may have been locked
or deleted, but not oftener than every `check_gap`, and never while frames are made. A few are looked up
at a time: hundreds of sockets share one database with the pages.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import Any, Protocol

from console.kube.gvr import GROUP_BINDINGS, USERS
from console.kube.informer import Informer
from console.kube.runtime import RIGHTS as NATIVE_RIGHTS
from console.kube.runtime import get_runtime
from console.live.counters import counters
from console.live.hub import get_hub
from console.live.mailbox import Mailbox
from console.live.perloop import PerLoop
from console.live.screens import get_screens

#: Types whose objects say who may do what: a change of one asks for a new decision.
RIGHTS = (USERS, GROUP_BINDINGS, *NATIVE_RIGHTS)
#: Sessions that are looked up at the same time.
AT_ONCE = 8


class Visitor(Protocol):
    async def check(self) -> None:
        """Looks up the session, and ends the socket if that is over. Never raises."""
        ...


class Attendance:
    check_seconds = 15.0
    check_gap = 1.0

    def __init__(self) -> None:
        # When each was checked, the longest ago first.
        self._checked: dict[Visitor, float] = {}
        self._rights_changed = float("-inf")
        self._hurry = asyncio.Event()
        self._checking: asyncio.Task[None] | None = None
        self._mailbox = Mailbox(self._on_rights)
        self._ends: dict[Informer[Any], Callable[[], None]] = {}

    def enter(self, visitor: Visitor) -> None:
        """Its session has just been looked up."""
        counters.sockets += 1
        self._checked[visitor] = asyncio.get_running_loop().time()
        self._follow_rights()
        if self._checking is None:
            self._checking = asyncio.create_task(self._check_all())

    def leave(self, visitor: Visitor) -> None:
        counters.sockets -= 1
        del self._checked[visitor]
        if not self._checked and self._checking is not None:
            self._checking.cancel()
            self._checking = None
            for end in self._ends.values():
                end()
            self._ends.clear()

    def _follow_rights(self) -> None:
        running = get_runtime().informers()
        for informer in (running[gvr] for gvr in RIGHTS if gvr in running):
            if informer not in self._ends:
                self._ends[informer] = get_hub().subscribe(informer, self._mailbox, rights=True)

    def _on_rights(self) -> None:
        self._mailbox.take()
        self._rights_changed = asyncio.get_running_loop().time()
        self._hurry.set()
        get_screens().decide_anew()

    async def _check_all(self) -> None:
        clock = asyncio.get_running_loop().time
        while self._checked:
            first = next(iter(self._checked.values()))
            self._hurry.clear()
            if self._due(first) > clock():
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(self._due(first)):
                        await self._hurry.wait()
                continue
            late = islice(self._checked.items(), AT_ONCE)
            due = [visitor for visitor, checked in late if self._due(checked) <= clock()]
            for visitor in due:
                del self._checked[visitor]
                self._checked[visitor] = clock()
            await asyncio.gather(*(visitor.check() for visitor in due))

    def _due(self, checked: float) -> float:
        changed = checked <= self._rights_changed
        return checked + (self.check_gap if changed else self.check_seconds)


#: The running loop's attendance.
get_attendance = PerLoop(Attendance)
