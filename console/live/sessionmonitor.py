"""Checks the sessions of open websockets and streams.

A session is checked every `check_seconds`, and also when permissions or its user change, since
the user may have been disabled or deleted, but at most every `check_gap`. Only a few sessions
are checked at a time, because hundreds of websockets share the database with the pages. User
objects change with every sign-in, so a change of a user only triggers checks of that user's own
sessions.
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
from console.ui.core.clusters import HOST, Cluster, clusters

#: Resource types that determine permissions: a change triggers a new authorization.
RIGHTS = (USERS, GROUPS, GROUP_BINDINGS, *NATIVE_RIGHTS)
#: Number of sessions that are checked concurrently.
AT_ONCE = 8


class MonitoredConnection(Protocol):
    @property
    def account(self) -> str:
        """Name of the session's user."""
        ...

    async def check(self) -> None:
        """Check the session, and close the connection if it has expired. Must not raise exceptions."""
        ...


class SessionMonitor:
    check_seconds = 15.0
    check_gap = 1.0

    def __init__(self) -> None:
        # Time of the last check of each visitor, oldest first.
        self._checked: dict[MonitoredConnection, float] = {}
        self._rights_changed = float("-inf")
        self._hurry = asyncio.Event()
        self._checking: asyncio.Task[None] | None = None
        self._mailboxes: dict[Cluster, Mailbox] = {}
        self._users = Mailbox(self._on_users)
        self._ends: dict[Informer[Any], Callable[[], None]] = {}

    def enter(self, visitor: MonitoredConnection) -> None:
        """Register a visitor whose session has just been checked."""
        self._checked[visitor] = asyncio.get_running_loop().time()
        if self._checking is None:
            self._checking = asyncio.create_task(self._check_all())

    def leave(self, visitor: MonitoredConnection) -> None:
        del self._checked[visitor]
        if not self._checked and self._checking is not None:
            self._checking.cancel()
            self._checking = None
            for end in self._ends.values():
                end()
            self._ends.clear()
            self._mailboxes.clear()

    def watch_permissions(self, cluster: Cluster) -> None:
        """Watch the permissions of a cluster while at least one visitor is registered."""
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
            get_shared_views().recheck_permissions(cluster)
            return
        # Groups, which apply in all clusters, and other objects that sessions depend on are in the
        # host cluster.
        self._rights_changed = asyncio.get_running_loop().time()
        self._hurry.set()
        get_shared_views().recheck_permissions()

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
        # Ordered by due time.
        self._checked = {**soon, **{o: at for o, at in self._checked.items() if o not in soon}}
        self._hurry.set()
        get_shared_views().recheck_permissions()

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


#: Return the running event loop's session monitor.
get_session_monitor = PerLoop(SessionMonitor)
