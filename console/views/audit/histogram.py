"""Chart of the number of audit records over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.utils.translation import gettext as _

from console.audit.search import Bar
from console.views.audit.request import AuditRequest, span_values


@dataclass(frozen=True, slots=True)
class HistogramBar:
    """A bar in units of the drawing, which is 1000 wide and 100 high."""

    x: float
    width: float
    y: float
    height: float
    failed_y: float
    failed_height: float
    bar: Bar
    url: str


@dataclass(frozen=True, slots=True)
class Histogram:
    """`ticks` are positions in percent with their labels; `top` is the highest value of the axis."""

    bars: Sequence[HistogramBar]
    ticks: Sequence[tuple[float, str]]
    top: int
    total: int
    failed: int
    step: str

    @property
    def half(self) -> str:
        return f"{self.top // 2:,}" if self.top % 2 == 0 else ""


def make_histogram(asked: AuditRequest, bars: Sequence[Bar]) -> Histogram:
    top = _round_up(max((one.total for one in bars), default=0))
    wide = 1000 / max(len(bars), 1)
    drawn = []
    for number, one in enumerate(bars):
        height, failed = (100 * count / top for count in (one.total, one.failed))
        url = asked.url(span=span_values(one.range))
        x = round(number * wide + wide / 8, 1)
        ok = round(height - failed, 1)
        drawn.append(
            HistogramBar(
                *(x, round(wide * 0.75, 1), round(100 - ok, 1), ok),
                *(round(100 - height, 1), round(failed, 1), one, url),
            )
        )
    step = asked.range.step
    total, failures = sum(one.total for one in bars), sum(one.failed for one in bars)
    return Histogram(drawn, _ticks(bars), top, total, failures, _step_text(step))


def _round_up(most: int) -> int:
    """Return the next value of 2, 5 or 10 times a power of ten."""
    power = 1
    while power * 10 < most:
        power *= 10
    return next(one * power for one in (2, 4, 6, 10) if one * power >= most)


def _ticks(bars: Sequence[Bar]) -> Sequence[tuple[float, str]]:
    """Return at most six labels. The first of each day has the date."""
    every = max(1, -(-len(bars) // 6))
    found, day = [], ""
    for number in range(0, len(bars), every):
        moment = bars[number].range.since
        date, clock = moment.strftime("%m-%d"), moment.strftime("%H:%M")
        text = f"{date} {clock}" if date != day and clock != "00:00" else clock
        if clock == "00:00":
            text = date
        day = date
        found.append((round(100 * number / len(bars), 1), text))
    return found


def _step_text(step: timedelta) -> str:
    seconds = round(step.total_seconds())
    if seconds % 86400 == 0:
        return _("%(number)s d") % {"number": seconds // 86400}
    if seconds % 3600 == 0:
        return _("%(number)s h") % {"number": seconds // 3600}
    if seconds % 60 == 0:
        return _("%(number)s min") % {"number": seconds // 60}
    return _("%(number)s s") % {"number": seconds}
