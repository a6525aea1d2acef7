"""Which sockets and streams of one loop are open, and whether their sessions still are.

A session is looked up every `check_seconds`, and when rights or its user changed, since that one may have
been disabled or deleted, but not oftener than every `check_gap`, and never while frames are made. A few
are looked up at a time: hundreds of sockets share one database with the pages. Users change with every
login, so a change of one is news to that user's own sockets alone.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, Protocol

from console.kube.gvr import GROUP_BINDINGS, GROUPS, USERS
from console.kube.informer import Informer
from console.kube.runtime import RIGHTS as NATIVE_RIGHTS
from console.live.hub import get_hub
from console.live.mailbox import Mailbox
from console.live.perloop import PerLoop
from console.live.sharedviews import get_shared_views
from console.ui.clusters import HOST, Cluster, clusters

#: Types whose objects say who may do what: a change of one asks for a new decision.
RIGHTS = (USERS, GROUPS, GROUP_BINDINGS, *NATIVE_RIGHTS)
#: Sessions that are looked up at the same time.
AT_ONCE = 8


class Visitor(Protocol):
    @property
    def account(self) -> str:
        """The name of the user whose session it is."""
        ...

    async def check(self) -> None:
        """Looks up the session, and ends the visit if that is over. Never raises."""
        ...


class SessionMonitor:
    check_seconds = 15.0
    check_gap = 1.0

    def __init__(self) -> None:
        # When each was checked, the longest ago first.
        self._checked: dict[Visitor, float] = {}
        self._rights_changed = float("-inf")
        self._hurry = asyncio.Event()
        self._checking: asyncio.Task[None] | None = None
        self._mailboxes: dict[Cluster, Mailbox] = {}
        self._users = Mailbox(self._on_users)
        self._ends: dict[Informer[Any], Callable[[], None]] = {}

    def enter(self, visitor: Visitor) -> None:
        """Its session has just been looked up."""
        self._checked[visitor] = asyncio.get_running_loop().time()
        if self._checking is None:
            self._checking = asyncio.create_task(self._check_all())

    def leave(self, visitor: Visitor) -> None:
        del self._checked[visitor]
        if not self._checked and self._checking is not None:
            self._checking.cancel()
            self._checking = None
            for end in self._ends.values():
                end()
            self._ends.clear()
            self._mailboxes.clear()

    def follow_rights(self, cluster: Cluster) -> None:
        """From now on, for as long as anybody is here, a change of rights there is heard of."""
        running = cluster.runtime.informers()
        for gvr, informer in ((gvr, running[gvr]) for gvr in RIGHTS if gvr in running):
            if informer in self._ends:
                continue
            if gvr == USERS:
                self._ends[informer] = get_hub().subscribe(informer, self._users)
            else:
                mailbox = self._mailbox_of(cluster)
                self._ends[informer] = get_hub().subscribe(informer, mailbox, rights=True)

    def _mailbox_of(self, cluster: Cluster) -> Mailbox:
        mailbox = self._mailboxes.get(cluster)
        if mailbox is None:
            mailbox = self._mailboxes[cluster] = Mailbox(partial(self._on_rights, cluster))
        return mailbox

    def _on_rights(self, cluster: Cluster) -> None:
        mailbox = self._mailboxes.get(cluster)
        if mailbox is not None:
            mailbox.take()
        if cluster.name != HOST:
            get_shared_views().decide_anew(cluster)
            return
        # The host has the groups, which count everywhere, and what else a session depends on.
        self._rights_changed = asyncio.get_running_loop().time()
        self._hurry.set()
        get_shared_views().decide_anew()

    def _on_users(self) -> None:
        mail = self._users.take()
        if mail.overflow or mail.state:
            self._on_rights(clusters.host)
            return
        names = {key.name for key in mail.keys}
        found = {one: at for one, at in self._checked.items() if one.account in names}
        if not found:
            return
        now = asyncio.get_running_loop().time()
        soon = {
            one: min(at, max(now, at + self.check_gap) - self.check_seconds)
            for one, at in found.items()
        }
        # The first is the one that is due first.
        self._checked = {**soon, **{o: at for o, at in self._checked.items() if o not in soon}}
        self._hurry.set()
        get_shared_views().decide_anew()

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


#: The running loop's session monitor.
get_session_monitor = PerLoop(SessionMonitor)
