"""Follow the log of one container across disconnects and restarts, without lost or duplicate lines.

Lines are identified by their timestamp (nanoseconds) and their index among lines with the same
timestamp. After a disconnect, the log is requested again with `sinceTime`. kube-apiserver rounds
this to whole seconds, so lines that were already read are skipped. If the last line is missing
from the new response, the log was rotated in the meantime, and a note reports this.

A followed log ends cleanly up to five seconds after its container stopped. It also ends cleanly
if the kubelet is killed, so the status of the pod decides what happens next. After a restart,
the kubelet serves the logs of the last run and of the run before it. Both are opened as soon as
the pod status shows the new run, even if the log of the previous run is still being read. The
kubelet can start a run up to a second before the pod status shows it, so lines decide whether a
log continues another one. A note reports where lines may be missing.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.audit.trail import AuditUnavailable
from console.kube.errors import ApiError, BadRequest, Forbidden, NotFound
from console.logs.access import ContainerLog, LogViewer, log_error_text
from console.logs.filtering import LevelDetector
from console.logs.lines import YIELD_AFTER_LINES, LogLine, Splitter
from console.logs.query import LogQuery
from console.logs.runs import ContainerRun, ContainerRuns
from console.streams.memory_quota import QuotaExceeded
from console.streams.stream import ResponseStream, StreamEnded
from console.ui.core.permissions import Denied, NotLoaded

#: Minimum and maximum seconds between retries.
MIN_RETRY_WAIT, MAX_RETRY_WAIT = 0.25, 5.0
#: The logs of all runs of a new pod are available if it has at most this many runs.
NEW_POD_RUNS = 2
#: A log that ends within this many seconds belongs to a container that isn't running.
NOT_RUNNING_WITHIN = 1.0
#: Maximum number of open logs, for runs that follow each other within seconds.
MAX_OPEN_LOGS = 8
#: Seconds after which the log of a run is closed once a later run exists.
CLOSE_AFTER = 10.0

#: Seconds for which Forbidden responses are retried if the log was open before.
FORBIDDEN_RETRY_SECONDS = 15.0
LOST = gettext_lazy(
    "Some lines may be missing here because the logs of earlier runs no longer exist."
)
ROTATED = gettext_lazy("Some lines may be missing here because the log was rotated.")


@dataclass(frozen=True, slots=True)
class LogPosition:
    """Resume position in a log.

    `stamp`: timestamp of the last line, "" before the first line. `count`: number of lines with
    this timestamp. `run`: ID of the container's run, "" if unknown.
    """

    stamp: str = ""
    count: int = 0
    run: str = ""


@dataclass(frozen=True, slots=True)
class FollowNote:
    """A message about a followed log. `ended`: no further lines unless the container restarts."""

    text: str
    ended: bool = False


@dataclass(frozen=True, slots=True)
class FollowedLines:
    lines: Sequence[tuple[LogLine, str]]
    position: LogPosition


#: Receives the batches and notes of a followed log, in order. Reading continues when it returns.
Emit = Callable[[FollowedLines | FollowNote], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _OpenRun:
    """An open log of a run, and the log of the run before it if that is available and may be
    needed.
    """

    stream: ResponseStream
    run: ContainerRun
    previous: ResponseStream | None
    opened: float

    async def close(self) -> None:
        for stream in (self.previous, self.stream):
            if stream is not None:
                await stream.close()


class _DuplicateDetector:
    """Detects lines that were already read.

    `any`: at least one line was already read. `last`: the line at the resume position was found,
    or there is no resume position. `gone`: the log file doesn't exist; the kubelet sends an
    error without a timestamp.
    """

    def __init__(self, at: LogPosition) -> None:
        self._at, self._left = at, at.count
        self.last = self._past = not at.stamp
        self.any = self.gone = False

    def has(self, line: LogLine) -> bool:
        if not line.stamp:
            # A line that starts with a digit may be a truncated timestamp.
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
    _emit: Emit

    def __init__(
        self,
        viewer: LogViewer,
        wanted: ContainerLog,
        query: LogQuery,
        position: LogPosition | None = None,
        on_over: Callable[[StreamEnded], None] | None = None,
    ) -> None:
        """`on_over`: callback as in `ResponseStream`. If the query requests all lines, a new pod is
        followed from its first run.
        """
        self._viewer, self._wanted, self._query = viewer, wanted, query
        self._at = position or LogPosition()
        self._seen = _DuplicateDetector(self._at)
        self._on_over = on_over
        self._runs = ContainerRuns(viewer.cluster, wanted.key, wanted.container)
        # The run that is being read or was read last, and whether its log was read to the end.
        self._run, self._whole = ContainerRun(), True
        # ID of the run to which the query's limits (tail, since) apply.
        self._begun: str | None = None
        self._ahead: list[_OpenRun] = []
        self._opening = asyncio.Lock()
        self._levels = LevelDetector()
        self._wait = MIN_RETRY_WAIT
        self._failed, self._said, self._told = 0, "", ""
        # Number of the run whose lines were read last, used while its ID is unknown.
        self._number = 0
        # Whether the log was ever open, and the time of the first Forbidden response.
        self._was_open, self._forbidden = False, 0.0

    async def run(self, emit: Emit) -> None:
        """Read until the pod is deleted.

        Raise `Denied`, `StreamEnded`, `QuotaExceeded`, `AuditUnavailable`, or `ApiError` if a retry is
        useless.
        """
        self._emit = emit
        with self._runs.watched():
            self._begin()
            while True:
                try:
                    await self._open_and_read()
                except ApiError as error:
                    if isinstance(error, Forbidden) and self._is_final():
                        raise
                    # After a restart, the kubelet returns NotFound until it has loaded its pods.
                    if isinstance(error, NotFound) and self._last() is None:
                        await self._note(log_error_text(error), ended=True)
                        return
                    await self._report_failure(error)
                    await self._pause()
                else:
                    if not await self._wait_for_more():
                        return

    async def _note(self, text: str, *, ended: bool = False) -> None:
        await self._emit(FollowNote(text, ended))

    def _begin(self) -> None:
        now = self._runs.last() or ContainerRun()
        if self._at.stamp and not self._at.run and now.number > 0:
            # The position was read before the pod status showed a run, so it can belong to any run.
            self._run, self._whole = ContainerRun(pod=now.pod), False
        elif self._at.stamp:
            self._at = replace(self._at, run=self._at.run or now.id)
            # If the position belongs to neither of the two available logs, reading them will show
            # this.
            number = now.number if self._at.run == now.id else now.number - 1
            self._run, self._whole = ContainerRun(self._at.run, number, pod=now.pod), False
        elif now.number < (NEW_POD_RUNS if self._query.tail is None else 0):
            self._run = ContainerRun(pod=now.pod)
        else:
            self._run, self._begun = now, now.id

    def _last(self) -> ContainerRun | None:
        """Return the last run, which may be newer than the pod status, or None if the pod doesn't
        exist.
        """
        told = self._runs.last()
        late = told is not None and told.pod == self._run.pod and told.number < self._run.number
        return self._run if late else told

    # Opening

    async def _open_and_read(self) -> None:
        """Open the current logs and read all of them."""
        looking: asyncio.Task[None] | None = None
        try:
            first = await self._open(self._run)
            looking = asyncio.create_task(self._look_ahead(first))
            while await self._more(looking):
                part = self._ahead.pop(0)
                try:
                    await self._read(part)
                finally:
                    await part.close()
        finally:
            if looking is not None:
                looking.cancel()
                await asyncio.gather(looking, return_exceptions=True)
            while self._ahead:
                await self._ahead.pop(0).close()

    async def _more(self, looking: "asyncio.Task[None]") -> bool:
        # A log may be about to be opened.
        async with self._opening:
            if not self._ahead:
                looking.cancel()
            return bool(self._ahead)

    async def _look_ahead(self, part: _OpenRun) -> None:
        """Open the logs of later runs while earlier ones are read.

        A log that still continues once a later run is open belongs to that later run: the
        kubelet started it before the pod status showed it.
        """
        try:
            while len(self._ahead) < MAX_OPEN_LOGS:
                await self._runs.changed()
                async with self._opening:
                    last = self._runs.last()
                    if last is not None and last.after(part.run):
                        stream, part = part.stream, await self._open(part.run)
                        asyncio.get_running_loop().call_later(CLOSE_AFTER, stream.close_soon)
        except (ApiError, AuditUnavailable, Denied, NotLoaded, StreamEnded, QuotaExceeded):
            # `_open_and_read` opens it again after the earlier logs are read.
            return

    async def _open(self, last: ContainerRun) -> _OpenRun:
        """Open the log of the last run, and the log of the run before it if the last run started
        after `last`.
        """
        run = self._last() or last
        stream = await self._opened(self._followed(run))
        try:
            previous = await self._previous() if run.after(last) else None
        except BaseException:
            await stream.close()
            raise
        part = _OpenRun(stream, run, previous, asyncio.get_running_loop().time())
        self._ahead.append(part)
        return part

    async def _previous(self) -> ResponseStream | None:
        """Open the previous run's log. Return None if it doesn't exist or too many logs are open."""
        try:
            return await self._opened([*self._since(), ("previous", "true")])
        except (BadRequest, QuotaExceeded):
            return None

    async def _opened(self, params: Sequence[tuple[str, str]]) -> ResponseStream:
        stream = ResponseStream(self._viewer.order(self._wanted, params), self._on_over)
        await stream.open()
        self._was_open, self._forbidden = True, 0.0
        return stream

    def _followed(self, run: ContainerRun) -> list[tuple[str, str]]:
        first = run.id == self._begun and not self._at.stamp
        params = self._query.request_params(self._wanted.container) if first else self._since()
        return [*params, ("follow", "true")]

    def _since(self) -> list[tuple[str, str]]:
        params = [("container", self._wanted.container), ("timestamps", "true")]
        return [*params, *([("sinceTime", self._at.stamp)] if self._at.stamp else [])]

    # Reading

    async def _read(self, part: _OpenRun) -> None:
        expects = False
        if part.run.after(self._run):
            await self._change(part)
        else:
            expects = self._at.run == self._run.id
            if expects:
                # The pod status showed this run late, so its ID was unknown until now.
                self._at = replace(self._at, run=part.run.id)
            self._run = part.run
        whole, self._whole = self._whole, False
        # "" if the pod status doesn't show the run yet.
        run = self._run.id
        async with aclosing(self._lines(part.stream, over=False)) as batches:
            async for lines in batches:
                if lines:
                    await self._emit_lines(lines, self._run.id)
                elif self._taken_for_another(run, self._run.number):
                    await self._report_lost_lines(run)
                elif expects and not self._seen.last:
                    await self._handle_missing_line(whole=whole)
        if self._taken_for_another(run, self._run.number):
            await self._report_lost_lines(run)
        if self._seen.gone and not (expects and whole):
            await self._note(str(LOST))
        took = asyncio.get_running_loop().time() - part.opened
        cut = part.stream.closing
        self._whole = not cut and (took < NOT_RUNNING_WITHIN or self._is_over())
        if took > NOT_RUNNING_WITHIN:
            # A log that ends immediately may come from a kubelet that can't follow more logs: it ends
            # each log at its current end. Keep the longer wait in that case.
            self._wait = MIN_RETRY_WAIT

    async def _change(self, part: _OpenRun) -> None:
        """Switch to a later run. Read the log of the run before it first: it contains the rest of
        the current run, or a run in between.
        """
        last, run = self._run, part.run
        known = bool(self._at.stamp) and self._at.run == last.id
        async with aclosing(self._lines(part.previous)) as batches:
            more = await anext(batches, None) is not None
            rest = known and self._seen.last
            taken = self._taken_for_another(run.before, run.number - (run.before != run.id))
            between = more and not rest and (known or not last.id or run.before != last.id)
            if between and run.before == last.id:
                run = _next_run(run)
            there = part.previous is not None and not self._seen.gone
            # If the last line isn't in the log of its run, it belonged to a later run.
            later = known and there and not more
            # A run that the pod status never showed has started and ended.
            untold = part.previous is not None and self._seen.gone and not part.run.before
            lost = later or untold or self._loses(last, run, there=there, known=known)
            if taken or (lost and not rest):
                await self._note(str(LOST))
            if between and last.id:
                await self._report_restart(run, last.id)
            async for lines in batches:
                await self._emit_lines(lines, run.before)
        # While a container waits to restart, both logs belong to the last run.
        if (last.id or between) and not (between and run.before == run.id):
            await self._report_restart(run, run.before)
        self._run = run

    def _taken_for_another(self, run: str, number: int) -> bool:
        """Return True if lines that were attributed to another run are in the log of this run.

        The kubelet can start several runs before the pod status shows the second one.
        """
        if self._at.run:
            return self._seen.any and self._at.run != run
        return self._seen.any and self._seen.last and number > self._number

    async def _report_lost_lines(self, run: str) -> None:
        """Attribute the position to `run`, and report that lines of the run it was mistaken for may
        be missing.
        """
        self._read_as(run)
        await self._note(str(LOST))

    def _loses(self, last: ContainerRun, run: ContainerRun, *, there: bool, known: bool) -> bool:
        """Return True if lines between two runs may be missing.

        `there`: the log before the later run exists. `known`: a line of the earlier run was
        read, and it isn't in that log.
        """
        if run.pod == last.pod and self._whole:
            first = run.number - (there and run.before not in ("", run.id))
            return first > last.number + 1
        return not self._whole and (known or not there or run.before != last.id)

    async def _handle_missing_line(self, *, whole: bool) -> None:
        """Handle a log that doesn't contain the line at the resume position.

        Either the log belongs to another run that the pod status doesn't show yet, or it was
        rotated. `whole`: the log of the run had been read to its end.
        """
        last, previous = self._run, await self._previous()
        try:
            async with aclosing(self._lines(previous)) as batches:
                more = await anext(batches, None) is not None
                if not (self._seen.last or whole):
                    await self._note(str(LOST if more else ROTATED))
                if self._seen.last or more or whole:
                    self._run = _next_run(last)
                async for lines in batches:
                    await self._emit_lines(lines, last.id)
            if self._run is not last:
                await self._report_restart(last, last.id)
        finally:
            if previous is not None:
                await previous.close()

    async def _lines(
        self, stream: ResponseStream | None, *, over: bool = True
    ) -> AsyncGenerator[Sequence[tuple[LogLine, str]], None]:
        """Yield the lines after the resume position.

        The first batch is empty, so that the caller can read earlier logs before the lines are
        taken. `over`: the run has ended, so a last line without a newline is complete.
        """
        seen = self._seen = _DuplicateDetector(self._at)
        splitter, begun = Splitter(), False
        while stream is not None and (piece := await stream.read()):
            self._failed, self._said = 0, ""
            found = []
            for number, line in enumerate(splitter.feed(piece), 1):
                if number % YIELD_AFTER_LINES == 0:
                    await asyncio.sleep(0)
                if seen.has(line):
                    continue
                if not begun:
                    begun = True
                    yield ()
                    seen = _DuplicateDetector(self._at)
                    if seen.has(line):
                        continue
                found.append(self._next_line(line))
            if found:
                yield found
        # A line without a newline may be truncated. It is complete after the next retry.
        rest = [one for one in splitter.end() if not seen.has(one)]
        if rest and (over or (self._is_over() and not (stream and stream.closing))):
            yield [self._next_line(one) for one in rest]

    def _next_line(self, line: LogLine) -> tuple[LogLine, str]:
        at = self._at
        self._at = LogPosition(line.stamp, at.count + 1 if line.stamp == at.stamp else 1, at.run)
        return line, self._levels.next(line)

    async def _emit_lines(self, lines: Sequence[tuple[LogLine, str]], run: str) -> None:
        self._read_as(run)
        await self._emit(FollowedLines(lines, self._at))

    def _read_as(self, run: str) -> None:
        """Attribute the lines that were read last to `run`. "" stands for `_run` while its ID is
        unknown.
        """
        if not run:
            self._number = max(self._run.number, 0)
        self._at = replace(self._at, run=run)

    def _is_over(self) -> bool:
        now = self._last()
        return now is None or now.after(self._run) or not now.running

    # Between logs

    async def _report_restart(self, run: ContainerRun, ended: str) -> None:
        if self._told != ended and run.ends.get(ended):
            await self._note(run.ends[ended])
        self._told = ended
        await self._note(_("The container was restarted."))

    def _is_final(self) -> bool:
        """Return True if a Forbidden response is final.

        A restarted kube-apiserver hasn't loaded all RBAC rules yet. The stream itself checks the
        rules that the console has cached.
        """
        now = asyncio.get_running_loop().time()
        self._forbidden = self._forbidden or now
        return not self._was_open or now - self._forbidden > FORBIDDEN_RETRY_SECONDS

    async def _report_failure(self, error: ApiError) -> None:
        self._failed += 1
        text = log_error_text(error)
        # A single failure that the next retry fixes isn't reported.
        waits = isinstance(error, BadRequest)
        if text != self._said and (
            waits or (self._failed > 1 and not isinstance(error, Forbidden | NotFound))
        ):
            self._said = text
            await self._note(text)

    async def _wait_for_more(self) -> bool:
        """Report the end of the run, and wait until there may be more to read. Return False if the
        pod was deleted.
        """
        while True:
            run = self._last()
            if run is None:
                await self._note(_("The pod no longer exists."), ended=True)
                return False
            if run.after(self._run):
                return True
            if run.running or not run.id or not self._whole:
                await self._pause()
                return True
            if self._told != run.id:
                self._told = run.id
                text = run.ends.get(run.id) or _("The container has terminated.")
                await self._note(text, ended=True)
            await self._runs.changed()

    async def _pause(self) -> None:
        await self._runs.changed(self._wait)
        self._wait = min(MAX_RETRY_WAIT, self._wait * 2)


def _next_run(run: ContainerRun) -> ContainerRun:
    """Return the run after `run`, which the pod status doesn't show yet."""
    return ContainerRun(number=run.number + 1, running=True, before=run.id, pod=run.pod)
