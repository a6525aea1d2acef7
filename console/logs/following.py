"""The log of one container, followed through cuts and restarts: no line is lost and none comes twice.

Lines are told apart by their moments, which have nanoseconds, and by how many of the same moment there
were. After a cut it is asked for since the last moment, of which kube-apiserver hands on whole seconds
alone, and the lines that were there already are left out. If the last of them does not come back, the
file was rotated meanwhile, and that is said.

A followed log ends cleanly when its container does, up to five seconds later, and also when the kubelet
is killed, so after every end it is the pod that says what is next. Of a container that is started again
a kubelet hands out the last run's log and that of the one before. Both are opened as soon as the pod
tells of a run, also while the one before is still read. A kubelet knows of a run up to a second before
the pod tells, so it is told by their lines whether one log goes on where another ended. Where lines may
be lost, that is said.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.audit.trail import AuditUnavailable
from console.kube.errors import ApiError, BadRequest, Forbidden, NotFound
from console.logs.lines import TURN, Line, Splitter
from console.logs.opening import Viewer, Wanted, why
from console.logs.picking import Levels
from console.logs.query import LogQuery
from console.logs.runs import Run, Runs
from console.streams.places import TooMany
from console.streams.stream import Over, Stream
from console.ui.decisions import Denied, NotArrived

#: Seconds between two tries.
LEAST_WAIT, MOST_WAIT = 0.25, 5.0
#: Of a pod that has just come there are the logs of all runs, if there are no more than these.
FRESH = 2
#: A log that ends so many seconds after it was opened is of a container that does not run.
AT_ONCE = 1.0
#: Logs that are open at once, of runs that followed each other within seconds.
AHEAD = 8
#: Seconds after which a log ends at the latest once its container has, and is told to.
LATE = 10.0

#: Seconds for which a kube-apiserver that has allowed it may forbid it.
FORBIDDEN = 15.0
LOST = gettext_lazy("Lines may be missing here: the logs of earlier runs are no longer there.")
ROTATED = gettext_lazy("Lines may be missing here: the log was rotated.")


@dataclass(frozen=True, slots=True)
class Position:
    """The moment of the last line, "" before the first, and how many lines of it there were. `run`: of
    the container, "" where nobody knows."""

    stamp: str = ""
    count: int = 0
    run: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What happened to what is followed. `ended`: nothing more comes, unless it is started again; `over`:
    nothing more comes at all."""

    text: str
    over: bool = False
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    lines: Sequence[tuple[Line, str]]
    position: Position


@dataclass(frozen=True, slots=True)
class _Part:
    """The log of a run that is open, and that of the run before, if it is there and may be needed."""

    stream: Stream
    run: Run
    previous: Stream | None
    opened: float

    async def close(self) -> None:
        for stream in (self.previous, self.stream):
            if stream is not None:
                await stream.close()


class _Seen:
    """Tells the lines that were there already. `any`: so was at least one; `last`: the last of them, if
    there was any. `gone`: there is no file; what comes without a moment is a kubelet that says so."""

    def __init__(self, at: Position) -> None:
        self._at, self._left = at, at.count
        self.last = self._past = not at.stamp
        self.any = self.gone = False

    def has(self, line: Line) -> bool:
        if not line.stamp:
            # It may also be what a cut left of a moment.
            self.gone = self.gone or not line.raw[:1].isdigit()
            return True
        if not self._past:
            equal = line.stamp == self._at.stamp
            self.last = self.last or equal
            self._left -= equal
            self._past = line.stamp > self._at.stamp or (equal and self._left < 0)
        self.any = self.any or not self._past
        return not self._past


class Follower:
    def __init__(
        self,
        viewer: Viewer,
        wanted: Wanted,
        query: LogQuery,
        position: Position | None = None,
        on_over: Callable[[Over], None] | None = None,
    ) -> None:
        """`on_over`: as that of a stream. Where the query asks for all lines, a pod that has just come is
        followed from its first run on."""
        self._viewer, self._wanted, self._query = viewer, wanted, query
        self._at = position or Position()
        self._seen = _Seen(self._at)
        self._on_over = on_over
        self._runs = Runs(viewer.cluster, wanted.key, wanted.container)
        # The run that is read or was read last, and whether that came to its end.
        self._run, self._whole = Run(), True
        # The run of which only that is wanted for which the query asks.
        self._begun: str | None = None
        self._ahead: list[_Part] = []
        self._opening = asyncio.Lock()
        self._levels = Levels()
        self._wait = LEAST_WAIT
        self._failed, self._said, self._told = 0, "", ""
        # Of the run whose lines were read last, where its id is not known.
        self._number = 0
        # Whether it was ever opened, and since when that is forbidden.
        self._was_open, self._forbidden = False, 0.0

    async def events(self) -> AsyncGenerator[Batch | Note, None]:
        """For ever, or until the pod is gone. Raises `Denied`, `Over`, `TooMany`, `AuditUnavailable` and
        `ApiError` where another try would be of no use."""
        with self._runs.watched():
            self._begin()
            while True:
                try:
                    async with aclosing(self._try()) as events:
                        async for event in events:
                            yield event
                except ApiError as error:
                    if isinstance(error, Forbidden) and self._is_final():
                        raise
                    # A kubelet that has just started does not know its pods yet.
                    if isinstance(error, NotFound) and self._last() is None:
                        yield Note(why(error), over=True, ended=True)
                        return
                    for note in self._refused(error):
                        yield note
                    await self._pause()
                    continue
                async for note in self._next():
                    yield note
                    if note.over:
                        return

    def _begin(self) -> None:
        now = self._runs.last() or Run()
        if self._at.stamp and not self._at.run and now.number > 0:
            # Of any run, read before the pod told of the first.
            self._run, self._whole = Run(pod=now.pod), False
        elif self._at.stamp:
            self._at = replace(self._at, run=self._at.run or now.id)
            # If it is none of the two whose logs there are, those will tell.
            number = now.number if self._at.run == now.id else now.number - 1
            self._run, self._whole = Run(self._at.run, number, pod=now.pod), False
        elif now.number < (FRESH if self._query.tail is None else 0):
            self._run = Run(pod=now.pod)
        else:
            self._run, self._begun = now, now.id

    def _last(self) -> Run | None:
        """The last run, which may be one of which the pod does not tell yet; None: the pod is gone."""
        told = self._runs.last()
        late = told is not None and told.pod == self._run.pod and told.number < self._run.number
        return self._run if late else told

    # Opening.

    async def _try(self) -> AsyncGenerator[Batch | Note, None]:
        """Reads on until there is nothing more now."""
        looking: asyncio.Task[None] | None = None
        try:
            first = await self._open(self._run)
            looking = asyncio.create_task(self._look_ahead(first))
            while await self._more(looking):
                part = self._ahead.pop(0)
                try:
                    async with aclosing(self._read(part)) as events:
                        async for event in events:
                            yield event
                finally:
                    await part.close()
        finally:
            if looking is not None:
                looking.cancel()
                await asyncio.gather(looking, return_exceptions=True)
            while self._ahead:
                await self._ahead.pop(0).close()

    async def _more(self, looking: "asyncio.Task[None]") -> bool:
        # One may be about to be opened.
        async with self._opening:
            if not self._ahead:
                looking.cancel()
            return bool(self._ahead)

    async def _look_ahead(self, part: _Part) -> None:
        """Opens the logs of the runs that come after this one, while those before are read. A log that
        goes on when a later run's is open is that run's: its kubelet knew of it before the pod told."""
        try:
            while len(self._ahead) < AHEAD:
                await self._runs.changed()
                async with self._opening:
                    last = self._runs.last()
                    if last is not None and last.after(part.run):
                        stream, part = part.stream, await self._open(part.run)
                        asyncio.get_running_loop().call_later(LATE, stream.close_soon)
        except (ApiError, AuditUnavailable, Denied, NotArrived, Over, TooMany):
            # It is tried again when those before have been read.
            return

    async def _open(self, last: Run) -> _Part:
        """Of the last run, with the log of the one before if it came after `last`."""
        run = self._last() or last
        stream = await self._opened(self._followed(run))
        try:
            previous = await self._previous() if run.after(last) else None
        except BaseException:
            await stream.close()
            raise
        part = _Part(stream, run, previous, asyncio.get_running_loop().time())
        self._ahead.append(part)
        return part

    async def _previous(self) -> Stream | None:
        """None where it is not there, or there are too many."""
        try:
            return await self._opened([*self._since(), ("previous", "true")])
        except (BadRequest, TooMany):
            return None

    async def _opened(self, params: Sequence[tuple[str, str]]) -> Stream:
        stream = Stream(self._viewer.order(self._wanted, params), self._on_over)
        await stream.open()
        self._was_open, self._forbidden = True, 0.0
        return stream

    def _followed(self, run: Run) -> list[tuple[str, str]]:
        first = run.id == self._begun and not self._at.stamp
        params = self._query.asked(self._wanted.container) if first else self._since()
        return [*params, ("follow", "true")]

    def _since(self) -> list[tuple[str, str]]:
        params = [("container", self._wanted.container), ("timestamps", "true")]
        return [*params, *([("sinceTime", self._at.stamp)] if self._at.stamp else [])]

    # Reading.

    async def _read(self, part: _Part) -> AsyncGenerator[Batch | Note, None]:
        expects = False
        if part.run.after(self._run):
            async with aclosing(self._change(part)) as events:
                async for event in events:
                    yield event
        else:
            expects = self._at.run == self._run.id
            if expects:
                # Of a run of which the pod told late the id was not known.
                self._at = replace(self._at, run=part.run.id)
            self._run = part.run
        whole, self._whole = self._whole, False
        # "" of a run that the pod does not tell of yet.
        run = self._run.id
        async with aclosing(self._lines(part.stream, over=False)) as batches:
            async for lines in batches:
                if lines:
                    yield self._batch(lines, self._run.id)
                elif self._taken_for_another(run, self._run.number):
                    yield self._lost_before(run)
                elif expects and not self._seen.last:
                    async with aclosing(self._doubt(whole=whole)) as events:
                        async for event in events:
                            yield event
        if self._taken_for_another(run, self._run.number):
            yield self._lost_before(run)
        if self._seen.gone and not (expects and whole):
            yield Note(str(LOST))
        took = asyncio.get_running_loop().time() - part.opened
        cut = part.stream.closing
        self._whole = not cut and (took < AT_ONCE or self._is_over())
        if took > AT_ONCE:
            # Else it may be a kubelet that can follow no more logs: it ends each where it is now.
            self._wait = LEAST_WAIT

    async def _change(self, part: _Part) -> AsyncGenerator[Batch | Note, None]:
        """From one run to a later one, by the log of the run before that: the rest of the one, or a run
        between them."""
        last, run = self._run, part.run
        known = bool(self._at.stamp) and self._at.run == last.id
        async with aclosing(self._lines(part.previous)) as batches:
            more = await anext(batches, None) is not None
            rest = known and self._seen.last
            taken = self._taken_for_another(run.before, run.number - (run.before != run.id))
            between = more and not rest and (known or not last.id or run.before != last.id)
            if between and run.before == last.id:
                run = _untold(run)
            there = part.previous is not None and not self._seen.gone
            # Where the last line is not in the log of its run, it was one of a later run.
            later = known and there and not more
            # A run that the pod does not tell of has come and gone.
            untold = part.previous is not None and self._seen.gone and not part.run.before
            lost = later or untold or self._loses(last, run, there=there, known=known)
            if taken or (lost and not rest):
                yield Note(str(LOST))
            if between and last.id:
                for note in self._again(run, last.id):
                    yield note
            async for lines in batches:
                yield self._batch(lines, run.before)
        # While a container waits for its next start both logs are the last run's.
        if (last.id or between) and not (between and run.before == run.id):
            for note in self._again(run, run.before):
                yield note
        self._run = run

    def _taken_for_another(self, run: str, number: int) -> bool:
        """Whether lines that were read as another run's are in the log of this one. A kubelet may know of
        several runs before the pod tells of the second."""
        if self._at.run:
            return self._seen.any and self._at.run != run
        return self._seen.any and self._seen.last and number > self._number

    def _lost_before(self, run: str) -> Note:
        """The lines of the run that this one was taken for are not known."""
        self._read_as(run)
        return Note(str(LOST))

    def _loses(self, last: Run, run: Run, *, there: bool, known: bool) -> bool:
        """Whether lines may be missing between two runs. `there`: the log before the later one is.
        `known`: so is a line of the earlier one, which is not in that."""
        if run.pod == last.pod and self._whole:
            first = run.number - (there and run.before not in ("", run.id))
            return first > last.number + 1
        return not self._whole and (known or not there or run.before != last.id)

    async def _doubt(self, *, whole: bool) -> AsyncGenerator[Batch | Note, None]:
        """The last line is not in the log in which it should be: that is of another run, of which the pod
        does not tell yet, or the file was rotated. `whole`: the run had come to its end."""
        last, previous = self._run, await self._previous()
        try:
            async with aclosing(self._lines(previous)) as batches:
                more = await anext(batches, None) is not None
                if not (self._seen.last or whole):
                    yield Note(str(LOST if more else ROTATED))
                if self._seen.last or more or whole:
                    self._run = _untold(last)
                async for lines in batches:
                    yield self._batch(lines, last.id)
            if self._run is not last:
                for note in self._again(last, last.id):
                    yield note
        finally:
            if previous is not None:
                await previous.close()

    async def _lines(
        self, stream: Stream | None, *, over: bool = True
    ) -> AsyncGenerator[Sequence[tuple[Line, str]], None]:
        """The lines after the last one, as they come. The first batch is empty: what was before them may
        be read then. `over`: of a run that has ended."""
        seen = self._seen = _Seen(self._at)
        splitter, begun = Splitter(), False
        while stream is not None and (piece := await stream.read()):
            self._failed, self._said = 0, ""
            found = []
            for number, line in enumerate(splitter.feed(piece), 1):
                if number % TURN == 0:
                    await asyncio.sleep(0)
                if seen.has(line):
                    continue
                if not begun:
                    begun = True
                    yield ()
                    seen = _Seen(self._at)
                    if seen.has(line):
                        continue
                found.append(self._next_line(line))
            if found:
                yield found
        # A line without an end may be one that was cut: it comes whole after the next try.
        rest = [one for one in splitter.end() if not seen.has(one)]
        if rest and (over or (self._is_over() and not (stream and stream.closing))):
            yield [self._next_line(one) for one in rest]

    def _next_line(self, line: Line) -> tuple[Line, str]:
        at = self._at
        self._at = Position(line.stamp, at.count + 1 if line.stamp == at.stamp else 1, at.run)
        return line, self._levels.next(line)

    def _batch(self, lines: Sequence[tuple[Line, str]], run: str) -> Batch:
        self._read_as(run)
        return Batch(lines, self._at)

    def _read_as(self, run: str) -> None:
        """Notes whose lines were read last. `run`: "" of `_run`, whose id is not known yet."""
        if not run:
            self._number = max(self._run.number, 0)
        self._at = replace(self._at, run=run)

    def _is_over(self) -> bool:
        now = self._last()
        return now is None or now.after(self._run) or not now.running

    # Between.

    def _again(self, run: Run, ended: str) -> Iterator[Note]:
        if self._told != ended and run.ends.get(ended):
            yield Note(run.ends[ended])
        self._told = ended
        yield Note(_("The container was started again."))

    def _is_final(self) -> bool:
        """Whether what is forbidden remains so. A kube-apiserver that has just come back does not know
        all rights yet; those that the console knows are looked at all the time."""
        now = asyncio.get_running_loop().time()
        self._forbidden = self._forbidden or now
        return not self._was_open or now - self._forbidden > FORBIDDEN

    def _refused(self, error: ApiError) -> Iterator[Note]:
        self._failed += 1
        text = why(error)
        # What is mended with the next try needs no word.
        waits = isinstance(error, BadRequest)
        if text != self._said and (
            waits or (self._failed > 1 and not isinstance(error, Forbidden | NotFound))
        ):
            self._said = text
            yield Note(text)

    async def _next(self) -> AsyncGenerator[Note, None]:
        """Returns when there may be something to read again."""
        while True:
            run = self._last()
            if run is None:
                yield Note(_("The pod is gone."), over=True, ended=True)
                return
            if run.after(self._run):
                return
            if run.running or not run.id or not self._whole:
                await self._pause()
                return
            if self._told != run.id:
                self._told = run.id
                yield Note(run.ends.get(run.id) or _("The container has ended."), ended=True)
            await self._runs.changed()

    async def _pause(self) -> None:
        await self._runs.changed(self._wait)
        self._wait = min(MOST_WAIT, self._wait * 2)


def _untold(run: Run) -> Run:
    """The one after it, of which the pod does not tell yet."""
    return Run(number=run.number + 1, running=True, before=run.id, pod=run.pod)
