"""One page as all sockets show it that show the same: one table, one comparison, one drawing of each
frame, and the same text sent to all of them.

They share it who follow the same address in the same language with the same rights. Before anything is
sent the rights of each are decided anew; whoever's changed leaves for the shared view of those rights,
or is told that there are none. So nothing that is drawn here is anybody's who may not see it.

A viewer is joining until the next flush, which catches it up; then it is following, and gets everything.
It is waiting when it was told to fetch its list, until it subscribes anew. It is lagging when something
was not sent because its client does not read; once that has read what waits for it, it is told to fetch.
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
from console.live.view import Known, View
from console.ui.access import Access
from console.ui.clusters import Cluster
from console.ui.decisions import Denied
from console.ui.freshness import LiveState
from console.ui.generic import GenericKind
from console.ui.places import Place
from console.ui.reading import check_not_refused

log = logging.getLogger(__name__)


#: Viewers that are sent a frame before the loop does something else.
AT_ONCE = 50


class Viewer(Protocol):
    """A socket, as shared views see it. `shared_view`: the one it is on; shared views alone set it."""

    shared_view: "SharedView | None"

    def access_in(self, cluster: Cluster) -> Access: ...

    @property
    def clogged(self) -> bool:
        """Its client does not read: send nothing now, and `Screen.ring` when it does."""
        ...

    async def tell(self, message: dict[str, Any]) -> None:
        """Sends an ASGI message. Must not wait for the client."""
        ...

    async def fail(self, error: Exception) -> None:
        """The viewer's rights are gone, or nobody knows them: ends the socket. Never raises."""
        ...


#: Frames, and who gets them.
_Post = list[tuple[list[str], tuple[Viewer, ...]]]
#: Brings a viewer whose rights changed, and what it has, to the shared view of those rights. Raises
#: `Denied`.
Move = Callable[[Viewer, Any, str, Known], "SharedView"]


class SharedView:
    def __init__(
        self,
        place: Place,
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
        self._joining: dict[Viewer, Known] = {}
        self._following: dict[Viewer, None] = {}
        self._waiting: dict[Viewer, None] = {}
        self._lagging: dict[Viewer, None] = {}
        self._mailbox = Mailbox(self.ring)
        # Listening comes before reading, or a change in between would be lost.
        self._end_feeds = [hub.subscribe(view.informer, self._mailbox)]
        for gvr, informer in view.others.items():
            self._end_feeds.append(hub.subscribe(informer, self._mailbox.slot(gvr)))
        if isinstance(place.kind, GenericKind):
            # What is read as the viewer tells nothing of its type: no object need change with that.
            definitions = place.cluster.runtime.informer(CUSTOM_RESOURCE_DEFINITIONS)
            slot = self._mailbox.slot(CUSTOM_RESOURCE_DEFINITIONS)
            self._end_feeds.append(hub.subscribe(definitions, slot))
        self.on_empty: Callable[[], None] = lambda: None

    @property
    def cluster(self) -> Cluster:
        """The one that everything on it is of."""
        return self._place.cluster

    @property
    def viewers(self) -> tuple[Viewer, ...]:
        return (*self._joining, *self._following, *self._waiting, *self._lagging)

    def ring(self) -> None:
        """There is something to do."""
        self._scheduler.ask(self)

    def decide_anew(self) -> None:
        """Somebody's rights may have changed."""
        self._mailbox.mark_state()

    def join(self, viewer: Viewer, known: Known) -> None:
        viewer.shared_view = self
        self._joining[viewer] = known
        self.ring()

    def leave(self, viewer: Viewer) -> None:
        """The last one to leave ends the shared view."""
        viewer.shared_view = None
        self._forget(viewer)
        if not self.viewers:
            for end_feed in self._end_feeds:
                end_feed()
            self.on_empty()

    @property
    def told(self) -> LiveState:
        """How fresh the list is, as far as the browsers know."""
        return self._view.told

    def freshness(self) -> str:
        """How fresh the list is, as a frame."""
        return self._view.freshness()

    async def flush(self) -> None:
        began = asyncio.get_running_loop().time()
        try:
            await self._flush()
        except Exception as error:
            log.exception("A live list failed")
            for viewer in self.viewers:
                await viewer.fail(error)
        counters.flush_seconds.observe(asyncio.get_running_loop().time() - began)

    async def _flush(self) -> None:
        # Up to the first `await` everything is of one moment.
        mail = self._mailbox.take()
        refused, moved = self._decide()
        news, post = self._work_out(mail) if self.viewers else ([], [])
        post += [self._refresh(one) for one in tuple(self._lagging) if not one.clogged]
        # Also those who join: while there is no list yet they wait for nothing else.
        told = self.viewers
        sent = ((news, told), *post)
        behind = {one for found, viewers in sent if found for one in viewers if one.clogged}
        for viewer in behind:
            self._set(viewer, self._lagging)
        for viewer, error in refused:
            await viewer.fail(error)
        for viewer, shared_view in moved:
            if viewer.shared_view is shared_view:
                await viewer.tell({"type": "websocket.send", "text": shared_view.freshness()})
        await self._send(news, [one for one in told if one not in behind], joining=True)
        for found, viewers in post:
            await self._send(found, [one for one in viewers if one not in behind])

    def _decide(self) -> tuple[list[tuple[Viewer, Exception]], list[tuple[Viewer, "SharedView"]]]:
        """Keeps the viewers whose rights are this shared view's. Returns those that have none, and those
        with others whose shared views, where they are now, have told something else about freshness."""
        refused: list[tuple[Viewer, Exception]] = []
        moved: list[tuple[Viewer, SharedView]] = []
        # One decision for all sockets of an account.
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
                    if shared_view.told != self.told:
                        moved.append((viewer, shared_view))
            except Exception as error:
                if not isinstance(error, Denied):
                    log.exception("Nobody can say what a viewer may do")
                if viewer.shared_view is self:
                    self.leave(viewer)
                refused.append((viewer, error))
        return refused, moved

    def _rights_of(self, access: Access) -> Hashable:
        """Raises `Denied` for whoever may not see what this page's address names."""
        check_not_refused(self._place.kind, self._view.informer)
        return self._place.rights(access)

    def _known(self, viewer: Viewer) -> Known:
        if viewer in self._following:
            return self._view.known()
        return self._joining.get(viewer, Known())

    def _work_out(self, mail: Mail) -> tuple[list[str], _Post]:
        """How fresh it is, if that is news, and what to send to whom. Whoever joins follows, or waits,
        from here on."""
        view, viewers, followers = self._view, self.viewers, tuple(self._following)
        if self.cluster.kinds.find(self._place.kind.segment) not in (None, self._place.kind):
            # The type has other columns now. Whoever fetches the list comes to another shared view.
            return [], [self._refresh(viewer) for viewer in (*followers, *self._joining)]
        # Before anything else is looked at: what arrives in the middle of this is told the next time,
        # and then to everybody.
        news = view.freshness_news()
        joining = dict(self._joining) if view.synced else {}
        access, known = viewers[0].access_in(self.cluster), view.known()
        try:
            found = view.update(mail, access, anew=bool(joining))
            caught = {one: view.catch_up(has, access) for one, has in joining.items()}
            unchanged = self._rights_of(access) == self._rights
        except Denied:
            unchanged = False
        if not unchanged:
            # The rights changed while this was worked out, so nobody may get it. All begin anew, with
            # the rights that each has now.
            view.forget()
            for viewer in followers:
                self._forget(viewer)
                self.join(viewer, known)
            self.ring()
            return [], []
        post: _Post = [(found, followers)]
        if view.reshaped:
            post += [self._refresh(viewer) for viewer in followers]
        for viewer, missing in caught.items():
            if missing is None:
                post.append(self._refresh(viewer))
            elif viewer.clogged:
                # Nor was it told how fresh its page is.
                self._set(viewer, self._lagging)
            else:
                self._set(viewer, self._following)
                post.append((missing, (viewer,)))
        return news, post

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
        """To those who are still here: no frame of a subscription may follow those of the next one.
        `joining`: it is the same for that one, too."""
        for text in found:
            size, message = len(text.encode()), {"type": "websocket.send", "text": text}
            for number, viewer in enumerate(viewers, 1):
                if viewer.shared_view is self and (joining or viewer not in self._joining):
                    counters.frames += 1
                    counters.bytes += size
                    await viewer.tell(message)
                if number % AT_ONCE == 0:
                    # What was written leaves, and everybody else has a turn.
                    await asyncio.sleep(0)
