"""Log lines of one container run, computed by line number.

A run logs start lines, then regular lines, and final lines when it terminates. Times are
nanoseconds since 1970 and increase with the line number. The termination time in a pod's status
has a resolution of one second: regular lines continue until the end of that second, then the
final lines follow.
"""

from bisect import bisect_left
from zlib import crc32

from devcluster.logs.runs import Run
from devcluster.logs.templates import line_of, second, sequence_line, templates_for

_SECOND = 1_000_000_000
#: Time between two start lines, in nanoseconds.
_STEP = 37_000_000
_LAST_STEP = 3_000_000
#: Maximum number of lines. A kubelet returns only the newest file of a rotated log.
MAX_LINES = 50_000


class LogLines:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._seed = crc32(run.id.encode())
        self._voice = templates_for(run.image, run.name)
        self._begin = tuple(run.text.split("\n")) if run.text else self._voice.begin
        self._verbatim = bool(run.text)
        gap = self._voice.gap * (0.6 + (self._seed % 100) / 125)
        self._gap = int(_SECOND / run.rate) if run.rate else int(gap * _SECOND)
        self._base = run.started + (len(self._begin) + 4) * _STEP
        #: Final lines. Empty while the container runs.
        self._end = self._last_words() if run.ended is not None else ()
        self._before_end = (
            self._count_until(run.ended + _SECOND - 1) if run.ended is not None else None
        )

    def written(self, now: int) -> int:
        """Return the number of lines at that time, or all lines if the run has terminated."""
        if self._before_end is None:
            return self._count_until(now)
        return self._before_end + len(self._end)

    def since(self, moment: int, written: int) -> int:
        """Return the number of the first line at or after the time."""
        return bisect_left(range(written), moment, key=self.moment)

    def moment(self, number: int) -> int:
        if self._before_end is not None and number >= self._before_end:
            return self._ending(number - self._before_end)
        if number < len(self._begin):
            return self._run.started + number * _STEP
        return self._regular(number - len(self._begin))

    def text(self, number: int) -> str:
        moment, seed = self.moment(number), self._seed
        if self._before_end is not None and number >= self._before_end:
            return sequence_line(self._voice, self._end, seed, number - self._before_end, moment)
        if number < len(self._begin):
            if self._verbatim:
                return self._begin[number]
            return sequence_line(self._voice, self._begin, seed, number, moment)
        return line_of(self._voice, seed, number, moment)

    def _count_until(self, moment: int) -> int:
        """Return the number of lines up to the time, without the final lines."""
        # The first line is written at the start time, which has a resolution of one second.
        begun = (moment - self._run.started) // _STEP + 1
        if begun <= len(self._begin):
            return max(0, begun)
        if moment < self._base or (self._verbatim and not self._run.rate):
            return len(self._begin)
        gaps = (moment - self._base) // self._gap
        # The line of the current interval has a random offset within it.
        return len(self._begin) + gaps + (self._regular(gaps) <= moment)

    def _regular(self, number: int) -> int:
        """Return the time of a regular line."""
        jitter = crc32(b"%d:%d" % (self._seed, number)) % 900
        return self._base + number * self._gap + self._gap * jitter // 1000

    def _ending(self, number: int) -> int:
        assert self._run.ended is not None  # noqa: S101  for the type checker
        return self._run.ended + _SECOND + (number + 1) * _LAST_STEP

    def _last_words(self) -> tuple[str, ...]:
        run, voice = self._run, self._voice
        if run.reason == "OOMKilled":
            # The process is killed and has no time to log more.
            return voice.killed
        if run.code == 0:
            return voice.done
        if run.code in (137, 143):
            return voice.told
        return (*((run.message,) if run.message else ()), *voice.failed)


def nanosecond_timestamp(moment: int) -> str:
    """Return an RFC 3339 timestamp with nanoseconds in fixed width."""
    whole, rest = divmod(moment, _SECOND)
    return f"{second('%Y-%m-%dT%H:%M:%S', whole)}.{rest:09}Z"
