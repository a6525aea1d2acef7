"""The log of one container, followed through cuts and restarts: no line is lost and none comes twice.

Lines are told apart by their moments, which have nanoseconds, and by how many of the same moment there
were. After a cut it is asked for since the last moment, of which kube-apiserver hands on whole seconds
alone, and the lines that were there already are left out. If the last of them does not come back, the
file was rotated meanwhile, and that is said.

A followed log ends cleanly when its container does and also when the kubelet is killed, so after every
end it is the pod that says what is next.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from console.kube.errors import ApiError, BadRequest, Forbidden, NotFound
from console.kube.gvr import PODS
from console.logs.lines import Line, Splitter
from console.logs.opening import Viewer, Wanted, why
from console.logs.picking import Levels
from console.logs.query import LogQuery
from console.streams.stream import Over, Stream
from console.ui.manifests import listed, mapping
from console.ui.podspecs import ended_of

#: Seconds between two looks at a pod that has nothing to follow, and between two tries.
LOOK, LEAST_WAIT, MOST_WAIT = 0.5, 0.25, 5.0
_STATUSES = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")


@dataclass(frozen=True, slots=True)
class Position:
    """The moment of the last line, "" before the first, and how many lines of it there were. `run`: of
    the container, "" where nobody knows."""

    stamp: str = ""
    count: int = 0
    run: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What happened to what is followed. `over`: nothing more comes of it."""

    text: str
    over: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    lines: Sequence[tuple[Line, str]]
    position: Position


@dataclass(frozen=True, slots=True)
class _Run:
    """The last run of the container that the cache knows."""

    id: str
    running: bool
    ended: str


class Follower:
    def __init__(
        self,
        viewer: Viewer,
        wanted: Wanted,
        query: LogQuery,
        position: Position | None = None,
        on_over: Callable[[Over], None] | None = None,
    ) -> None:
        """`on_over`: as that of a stream."""
        self._viewer, self._wanted, self._query = viewer, wanted, query
        self._at = position or Position()
        self._on_over = on_over
        self._levels = Levels()
        self._wait = LEAST_WAIT
        self._failed, self._said = 0, ""
        self._whole = False

    async def events(self) -> AsyncGenerator[Batch | Note, None]:
        """For ever, or until the pod is gone. Raises `Denied`, `Over`, `TooMany`, `AuditUnavailable` and
        `ApiError` where another try would be of no use."""
        while True:
            async for event in self._begin_anew():
                yield event
            stream = Stream(self._viewer.order(self._wanted, self._params()), self._on_over)
            try:
                await stream.open()
                async for event in self._read(stream):
                    yield event
            except ApiError as error:
                if isinstance(error, Forbidden):
                    raise
                if isinstance(error, NotFound):
                    yield Note(why(error), over=True)
                    return
                waits = isinstance(error, BadRequest)
                self._failed += 1
                text = why(error)
                # What is mended with the next try needs no word.
                if text != self._said and (waits or self._failed > 1):
                    self._said = text
                    yield Note(text)
                if not waits:
                    await self._pause()
            finally:
                await stream.close()
            async for note in self._next():
                yield note
                if note.over:
                    return

    def _params(self) -> list[tuple[str, str]]:
        if not self._at.stamp:
            return [*self._query.asked(self._wanted.container), ("follow", "true")]
        return [*self._since(), ("follow", "true")]

    def _since(self) -> list[tuple[str, str]]:
        names = {"container": self._wanted.container, "timestamps": "true"}
        return [*names.items(), ("sinceTime", self._at.stamp)]

    async def _begin_anew(self) -> AsyncGenerator[Batch | Note, None]:
        """Where the container was started again: first what the one before has written since."""
        run = self._now()
        if not self._at.run or run.id in ("", self._at.run):
            return
        if self._at.stamp:
            params = [*self._since(), ("previous", "true")]
            stream = Stream(self._viewer.order(self._wanted, params), self._on_over)
            with suppress(BadRequest):
                try:
                    await stream.open()
                    async for event in self._read(stream):
                        yield event
                finally:
                    await stream.close()
        yield Note(_("The container was started again."))
        self._at = Position(self._at.stamp, self._at.count, run.id)
        self._whole = True

    async def _read(self, stream: Stream) -> AsyncGenerator[Batch | Note, None]:
        splitter, seen = Splitter(), self._at
        known, left = bool(seen.stamp), seen.count
        # Lines of a new run are all there, and none of them is the last one that was seen.
        expected, self._whole = known and not self._whole, False
        if not self._at.run:
            self._at = Position(self._at.stamp, self._at.count, self._now().id)
        while piece := await stream.read():
            self._wait, self._failed, self._said = LEAST_WAIT, 0, ""
            found: list[tuple[Line, str]] = []
            for line in splitter.feed(piece):
                if known and line.stamp == seen.stamp:
                    expected = False
                    left -= 1
                if known and (line.stamp < seen.stamp or (line.stamp == seen.stamp and left >= 0)):
                    continue
                known = False
                if expected:
                    expected = False
                    yield Note(_("Lines may be missing here: the log was rotated."))
                found.append((line, self._levels.next(line)))
                self._advance(line)
            if found:
                yield Batch(found, self._at)
        rest = [(line, self._levels.next(line)) for line in splitter.end() if not known]
        # A line without an end may be one that was cut: it comes whole after the next try.
        if rest and not self._now().running:
            self._advance(rest[-1][0])
            yield Batch(rest, self._at)

    def _advance(self, line: Line) -> None:
        at = self._at
        if line.stamp:
            count = at.count + 1 if line.stamp == at.stamp else 1
            self._at = Position(line.stamp, count, at.run)

    async def _next(self) -> AsyncGenerator[Note, None]:
        """Returns when there is something to read again."""
        waited = False
        while True:
            entry = self._viewer.cluster.runtime.informer(PODS).store.get(self._wanted.key)
            if entry is None:
                yield Note(_("The pod is gone."), over=True)
                return
            run = self._now()
            if run.id and self._at.run and run.id != self._at.run:
                return
            if run.running or not self._at.run:
                await self._pause()
                return
            if not waited:
                waited = True
                yield Note(run.ended or _("The container has ended."))
            await asyncio.sleep(LOOK)

    async def _pause(self) -> None:
        await asyncio.sleep(self._wait)
        self._wait = min(MOST_WAIT, self._wait * 2)

    def _now(self) -> _Run:
        entry = self._viewer.cluster.runtime.informer(PODS).store.get(self._wanted.key)
        pod = entry.original() if entry is not None else {}
        for status in (one for group in _STATUSES for one in listed(pod, "status", group)):
            if status.get("name") == self._wanted.container:
                return _run_of(status)
        return _Run("", running=False, ended="")


def _run_of(status: Mapping[str, Any]) -> _Run:
    state = mapping(status, "state")
    if isinstance(state.get("running"), dict):
        return _Run(_text(status.get("containerID")), running=True, ended="")
    terminated = mapping(state, "terminated") or mapping(status, "lastState", "terminated")
    ended = ended_of(terminated)
    words = _("The container has ended: %(how)s (%(reason)s).")
    told = words % {"how": ended.how, "reason": ended.reason} if ended is not None else ""
    return _Run(_text(terminated.get("containerID")), running=False, ended=told)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
