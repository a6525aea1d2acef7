"""Live page shared by all websockets that show the same content.

Websockets share a view if their URL, language and permissions are equal, so each change is
compared and rendered once. Before frames are sent, the permissions of each viewer are evaluated
again. A viewer whose permissions changed moves to the matching shared view, or is closed with an
error. A shared view therefore never renders content that one of its viewers may not see.

State of a viewer:

- joining: waits for the next flush, which catches it up.
- following: receives all frames.
- waiting: was asked to fetch the page, until it subscribes again.
- lagging: missed a frame because its client does not read. It is asked to fetch the page when
  its queue is empty.
"""

import asyncio
import logging
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Protocol

from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS
from console.live import frames
from console.live.counters import counters
from console.live.hub import Hub
from console.live.mailbox import Mail, Mailbox
from console.live.scheduler import Scheduler
from console.live.view import ClientState, View
from console.ui.core.access import Access
from console.ui.core.clusters import Cluster
from console.ui.core.custom_kinds import GenericKind
from console.ui.core.object_source import LiveState, check_access_not_denied
from console.ui.core.permissions import Denied
from console.ui.navigation.page_routes import OpenPage

log = logging.getLogger(__name__)


#: Number of viewers that receive a frame before control returns to the event loop.
AT_ONCE = 50


class Viewer(Protocol):
    """Websocket as seen by shared views. Only shared views set `shared_view`."""

    shared_view: "SharedView | None"

    def access_in(self, cluster: Cluster) -> Access: ...

    @property
    def clogged(self) -> bool:
        """True if the client does not read. Send nothing until the viewer calls `SharedView.ring`."""
        ...

    async def send_message(self, message: dict[str, Any]) -> None:
        """Send an ASGI message. Must not wait for the client."""
        ...

    async def fail(self, error: Exception) -> None:
        """Close the websocket because permissions were lost or can't be determined. Must not raise
        exceptions.
        """
        ...


#: Frames and the viewers to send them to.
_Post = list[tuple[list[str], tuple[Viewer, ...]]]
#: Moves a viewer whose permissions changed, and its state, to the matching shared view. Raises
#: `Denied`.
Move = Callable[[Viewer, Any, str, ClientState], "SharedView"]


class SharedView:
    def __init__(
        self,
        place: OpenPage,
        lang: str,
        rights: Hashable,
        view: View,
        hub: Hub,
        scheduler: Scheduler,
        move: Move,
    ) -> None:
        self._place = place
        self._lang = lang
        self._rights = rights
        self._scheduler = scheduler
        self._move = move
        self._view = view
        self._joining: dict[Viewer, ClientState] = {}
        self._following: dict[Viewer, None] = {}
        self._waiting: dict[Viewer, None] = {}
        self._lagging: dict[Viewer, None] = {}
        self._mailbox = Mailbox(self.schedule_update)
        # Subscribe before reading, so that no change in between is lost.
        self._end_feeds = [hub.subscribe(view.informer, self._mailbox)]
        for gvr, informer in view.others.items():
            self._end_feeds.append(hub.subscribe(informer, self._mailbox.slot(gvr)))
        if isinstance(place.kind, GenericKind):
            # Reading with the viewer's own credentials doesn't notice changes of the type.
            self._end_feeds.append(hub.subscribe(place.cluster.kinds.served, self._mailbox))
            definitions = place.cluster.runtime.informer(CUSTOM_RESOURCE_DEFINITIONS)
            slot = self._mailbox.slot(CUSTOM_RESOURCE_DEFINITIONS)
            self._end_feeds.append(hub.subscribe(definitions, slot))
        self._retry: asyncio.TimerHandle | None = None
        self.on_empty: Callable[[], None] = lambda: None

    @property
    def cluster(self) -> Cluster:
        """The page's cluster."""
        return self._place.cluster

    @property
    def viewers(self) -> tuple[Viewer, ...]:
        return (*self._joining, *self._following, *self._waiting, *self._lagging)

    def schedule_update(self) -> None:
        """Schedule an update."""
        self._scheduler.schedule(self)

    def recheck_permissions(self) -> None:
        """Schedule an update that evaluates the permissions of all viewers."""
        self._mailbox.mark_state()

    def join(self, viewer: Viewer, known: ClientState) -> None:
        viewer.shared_view = self
        self._joining[viewer] = known
        self.schedule_update()

    def leave(self, viewer: Viewer) -> None:
        """Remove a viewer. Close the view if it was the last one."""
        viewer.shared_view = None
        self._forget(viewer)
        if not self.viewers:
            for end_feed in self._end_feeds:
                end_feed()
            self._retry_after(0)
            self.on_empty()

    @property
    def sent_freshness(self) -> LiveState:
        """Freshness of the list that was last sent to browsers."""
        return self._view.sent_freshness

    def freshness(self) -> str:
        """Return the current freshness as a frame."""
        return self._view.freshness()

    async def flush(self) -> None:
        began = asyncio.get_running_loop().time()
        try:
            await self._flush()
        except Exception as error:
            log.exception("Failed to update a shared view")
            for viewer in self.viewers:
                await viewer.fail(error)
        counters.flush_seconds.observe(asyncio.get_running_loop().time() - began)

    async def _flush(self) -> None:
        # No `await` until the frames are computed, so that they are consistent.
        mail = self._mailbox.take()
        refused, moved = self._decide()
        news, post = self._work_out(mail) if self.viewers else ([], [])
        post += [self._refresh(one) for one in tuple(self._lagging) if not one.clogged]
        # Includes joining viewers: without a loaded list they receive nothing else.
        told = self.viewers
        sent = ((news, told), *post)
        behind = {one for found, viewers in sent if found for one in viewers if one.clogged}
        for viewer in behind:
            self._set(viewer, self._lagging)
        for viewer, error in refused:
            await viewer.fail(error)
        for viewer, shared_view in moved:
            if viewer.shared_view is shared_view:
                await viewer.send_message(
                    {"type": "websocket.send", "text": shared_view.freshness()}
                )
        await self._send(news, [one for one in told if one not in behind], joining=True)
        for found, viewers in post:
            await self._send(found, [one for one in viewers if one not in behind])

    def _decide(self) -> tuple[list[tuple[Viewer, Exception]], list[tuple[Viewer, "SharedView"]]]:
        """Evaluate the permissions of all viewers and remove those whose permissions differ from
        this view's.

        Return the viewers without permission, and the viewers that moved to a shared view with
        another freshness.
        """
        refused: list[tuple[Viewer, Exception]] = []
        moved: list[tuple[Viewer, SharedView]] = []
        # One evaluation for all websockets of an account.
        decided: dict[Access, Hashable] = {}
        for viewer in self.viewers:
            try:
                access = viewer.access_in(self.cluster)
                if access not in decided:
                    decided[access] = self._rights_of(access)
                if decided[access] != self._rights:
                    known = self._known(viewer)
                    self.leave(viewer)
                    shared_view = self._move(viewer, self._place, self._lang, known)
                    if shared_view.sent_freshness != self.sent_freshness:
                        moved.append((viewer, shared_view))
            except Exception as error:
                if not isinstance(error, Denied):
                    log.exception("Failed to evaluate the permissions of a viewer")
                if viewer.shared_view is self:
                    self.leave(viewer)
                refused.append((viewer, error))
        return refused, moved

    def _rights_of(self, access: Access) -> Hashable:
        """Return the permissions that identify the view. Raise `Denied` if the page may not be
        seen.
        """
        check_access_not_denied(self._place.kind, self._view.informer)
        return self._place.rights(access)

    def _known(self, viewer: Viewer) -> ClientState:
        if viewer in self._following:
            return self._view.client_state()
        return self._joining.get(viewer, ClientState())

    def _work_out(self, mail: Mail) -> tuple[list[str], _Post]:
        """Return the freshness frames, if changed, and the other frames with their recipients.

        Moves joining viewers to following or waiting.
        """
        view, viewers, followers = self._view, self.viewers, tuple(self._following)
        if self.cluster.kinds.find(self._place.kind.segment) not in (None, self._place.kind):
            # The columns of the custom resource have changed. Fetching the page leads to another
            # shared view.
            return [], [self._refresh(viewer) for viewer in (*followers, *self._joining)]
        # Read the freshness first: later changes are then sent with the next update, to all
        # viewers.
        news = view.changed_freshness()
        joining = dict(self._joining) if view.synced else {}
        access, known = viewers[0].access_in(self.cluster), view.client_state()
        try:
            found = view.update(mail, access, anew=bool(joining))
            caught = {one: view.catch_up(has, access) for one, has in joining.items()}
            unchanged = self._rights_of(access) == self._rights
        except Denied:
            unchanged = False
        if not unchanged:
            # Permissions changed while the frames were computed. Discard the frames and let all
            # viewers join again.
            view.reset()
            for viewer in followers:
                self._forget(viewer)
                self.join(viewer, known)
            self.schedule_update()
            return [], []
        self._retry_after(view.retry_after)
        post: _Post = [(found, followers)]
        if view.reshaped:
            post += [self._refresh(viewer) for viewer in followers]
        for viewer, missing in caught.items():
            if missing is None:
                post.append(self._refresh(viewer))
            elif viewer.clogged:
                # The viewer missed the freshness frame, too.
                self._set(viewer, self._lagging)
            else:
                self._set(viewer, self._following)
                post.append((missing, (viewer,)))
        return news, post

    def _retry_after(self, seconds: float) -> None:
        """Schedule an update in `seconds`, or cancel it with 0."""
        if self._retry is not None:
            self._retry.cancel()
        loop = asyncio.get_running_loop()
        self._retry = loop.call_later(seconds, self.schedule_update) if seconds else None

    def _refresh(self, viewer: Viewer) -> tuple[list[str], tuple[Viewer, ...]]:
        self._set(viewer, self._waiting)
        counters.refreshes += 1
        return [frames.refresh_frame()], (viewer,)

    def _set(self, viewer: Viewer, group: dict[Viewer, None]) -> None:
        self._forget(viewer)
        group[viewer] = None

    def _forget(self, viewer: Viewer) -> None:
        self._joining.pop(viewer, None)
        for group in (self._following, self._waiting, self._lagging):
            group.pop(viewer, None)

    async def _send(
        self, found: Iterable[str], viewers: Iterable[Viewer], *, joining: bool = False
    ) -> None:
        """Send frames to viewers that are still on this view, so that no frame of an old
        subscription follows a new one.

        Set `joining` to include joining viewers.
        """
        for text in found:
            size, message = len(text.encode()), {"type": "websocket.send", "text": text}
            for number, viewer in enumerate(viewers, 1):
                if viewer.shared_view is self and (joining or viewer not in self._joining):
                    counters.frames += 1
                    counters.bytes += size
                    await viewer.send_message(message)
                if number % AT_ONCE == 0:
                    # Let the transport write and other tasks run.
                    await asyncio.sleep(0)
