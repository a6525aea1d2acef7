"""Gauges and charts of CPU, memory and pods.

Thresholds map a usage percentage to a severity, for bars and marks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import groupby
from math import ceil, floor, isnan, log2, log10
from typing import Literal, NamedTuple, TypedDict

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from console.kube.metrics_server import ResourceUsage
from console.kube.projections.node import Node
from console.kube.quantity import parse_quantity
from console.kube.reservations import ReservationTotal
from console.kube.usage import STEP
from console.kube.usage_history import KEPT, UsageHistory
from console.ui.core.amounts import bytes_text, cores_text, number_text
from console.ui.fragments.placeholders import duration_text

#: Percentages for a warning and for an error.
NEARLY, FULL = 80, 100


def usage_severity(share: int | None) -> Literal["", "warn", "error"]:
    """Return the severity for a percentage. `share` is None if unknown."""
    if share is None or share < NEARLY:
        return ""
    return "error" if share >= FULL else "warn"


#: Share of a memory limit from which the usage is an error.
NEAR_LIMIT = Decimal("0.9")

#: Axis maximums: 1, 2, 5, 10, 20, and so on.
_STEPS = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A line in a box of `width` by `height`.

    `path` is the line, and `area` is the area below it. `top` is the value at the upper edge;
    the lower edge is 0.
    """

    width: int
    height: int
    path: str
    area: str
    top: float


def chart_line(
    values: Sequence[float],
    *,
    points: int,
    width: int,
    height: int,
    least: float = 0.0,
    rounded: Callable[[float], float] | None = None,
) -> ChartLine:
    """Return the chart line for `values`, aligned to the right edge.

    `points` is the number of values that fill the box. NaN interrupts the line. `least` is the
    minimum for the value at the upper edge, which is rounded up by `rounded`, by default `round_up`.
    """
    most = max((value for value in values if not isnan(value)), default=0.0)
    top = (rounded or round_up)(max(most, least))
    step = width / max(1, points - 1)
    left = width - step * (len(values) - 1)
    paths, areas = [], []
    for known, run in groupby(enumerate(values), key=lambda item: not isnan(item[1])):
        if not known:
            continue
        corners = [(left + step * at, height - height * value / top) for at, value in run]
        drawn = "L".join(f"{_short(x)} {_short(y)}" for x, y in corners)
        first, last = _short(corners[0][0]), _short(corners[-1][0])
        paths.append(f"M{drawn}")
        areas.append(f"M{first} {height}L{drawn}L{last} {height}Z")
    return ChartLine(width, height, "".join(paths), "".join(areas), top)


def round_up(value: float) -> float:
    """Round up to the next of 1, 2, 5, 10, 20, 50, and so on, so that the axis does not change with
    every new value.
    """
    if value <= 1:
        return 1.0
    power = 10.0 ** floor(log10(value))
    return next(step * power for step in _STEPS if value <= step * power)


def _power_of_two(value: float) -> float:
    """Round up to the next power of two, for bytes."""
    return 2.0 ** ceil(log2(max(1.0, value)))


def _short(number: float) -> str:
    """Round to one decimal, which is enough for screen coordinates."""
    return f"{number:.1f}".removesuffix(".0")


class ChartSize(TypedDict):
    """Size in SVG units. `points` is the number of values that fill the width."""

    points: int
    width: int
    height: int


SPARK: ChartSize = {"points": KEPT, "width": 119, "height": 20}
PLOT: ChartSize = {"points": KEPT, "width": 357, "height": 80}
#: Number of rows in the table next to a plot.
ROWS = 6
#: Share of a limit or request from which a plot shows its line.
IN_VIEW = 0.25
#: Seconds of history that the console itself stores.
HOUR = int(KEPT * STEP)

CPU, MEMORY, PODS = gettext_lazy("CPU"), gettext_lazy("Memory"), gettext_lazy("Pods")


@dataclass(frozen=True, slots=True)
class CapacityGauge:
    """Capacity for pods: CPU cores, bytes of memory, number of pods. None if unknown or hidden from
    the user.
    """

    cpu: Decimal | None = None
    memory: Decimal | None = None
    pods: Decimal | None = None

    def share_of(self, held: ReservationTotal) -> float:
        """Return the larger of the reserved shares of CPU and memory, or 0 if unknown."""
        shares = [0.0]
        if self.cpu:
            shares.append(held.reserved.cpu / 1000 / float(self.cpu))
        if self.memory:
            shares.append(held.reserved.memory / float(self.memory))
        return max(shares)


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount. `share` is the percentage of the capacity, or None if unknown. `width` is the
    percentage for the bar, at most 100.
    """

    text: str
    share: int | None = None
    width: float | None = None

    @property
    def pressure(self) -> str:
        return usage_severity(self.share)


@dataclass(frozen=True, slots=True)
class Gauge:
    """`whole` is the capacity, or "" if unknown. The other values are None if unknown."""

    id: str
    label: str | Promise
    whole: str
    used: Amount | None
    requested: Amount | None
    limits: Amount | None


@dataclass(frozen=True, slots=True)
class PlotStep:
    """A table row of a plot: the mean of one sixth of the time span, which ended `ago`."""

    ago: str
    text: str


@dataclass(frozen=True, slots=True)
class PlotMark:
    """A request or limit in a plot, by `kind`. `y` is the position of its line, or "" outside."""

    kind: str
    text: str
    y: str


class Bounds(NamedTuple):
    """Request and limit in cores or bytes. None if not set."""

    request: Decimal | None = None
    limit: Decimal | None = None


@dataclass(frozen=True, slots=True)
class ResourceBounds:
    cpu: Bounds = Bounds()
    memory: Bounds = Bounds()


@dataclass(frozen=True, slots=True)
class Plot:
    """A chart of usage over time. `span` is the covered time, and `marks` are the request and the
    limit, if set.
    """

    id: str
    label: str | Promise
    line: ChartLine
    top: str
    now: str
    most: str
    steps: tuple[PlotStep, ...]
    span: str
    marks: tuple[PlotMark, ...] = ()


NO_BOUNDS = ResourceBounds()


def node_capacity(node: Node) -> CapacityGauge:
    return _room(node.cpu, node.memory, node.pods)


# Most nodes have one of a few sizes.
@lru_cache(1000)
def _room(cpu: str, memory: str, pods: str) -> CapacityGauge:
    return CapacityGauge(parse_quantity(cpu), parse_quantity(memory), parse_quantity(pods))


def gauges(
    room: CapacityGauge, held: ReservationTotal | None, used: ResourceUsage | None
) -> tuple[Gauge, ...]:
    """Return the gauges for CPU, memory and pods. `held` and `used` may be None if unknown."""
    cpu = memory = cpu_limit = memory_limit = pods = None
    if held is not None:
        reserved = held.reserved
        cpu, cpu_limit = Decimal(reserved.cpu) / 1000, Decimal(reserved.cpu_limit) / 1000
        memory, memory_limit = Decimal(reserved.memory), Decimal(reserved.memory_limit)
        pods = Decimal(held.pods)
    cores, size = (Decimal(used.cpu), Decimal(used.memory)) if used else (None, None)
    return (
        _gauge("cpu", CPU, cores_text, room.cpu, cores, cpu, cpu_limit),
        _gauge("memory", MEMORY, bytes_text, room.memory, size, memory, memory_limit),
        _gauge("pods", PODS, number_text, room.pods, None, pods, None),
    )


def _gauge(
    id: str,  # noqa: A002
    label: Promise,
    text: Callable[[Decimal], str],
    whole: Decimal | None,
    used: Decimal | None,
    requested: Decimal | None,
    limits: Decimal | None,
) -> Gauge:
    return Gauge(
        id,
        label,
        text(whole) if whole is not None else "",
        _amount(text, used, whole),
        _amount(text, requested, whole),
        _amount(text, limits, whole) if limits else None,
    )


def _amount(
    text: Callable[[Decimal], str], amount: Decimal | None, whole: Decimal | None
) -> Amount | None:
    if amount is None:
        return None
    if not whole:
        return Amount(text(amount))
    return Amount(text(amount), int(amount * 100 / whole), _percent(amount, whole))


@dataclass(frozen=True, slots=True)
class ResourceAmount:
    """Usage of a resource next to its request and limit.

    `used` is "?" if it is unknown. `request` and `limit` are "" if not set. `width` is the length of
    the bar and `mark` the position of the request in percent of the bar's end, which is the limit, or
    without a limit the larger of request and usage. They are None without a bar. `pressure` is
    "error" if the usage is close to a memory limit.
    """

    label: str | Promise
    used: str
    request: str
    limit: str
    width: float | None = None
    mark: float | None = None
    pressure: Literal["", "error"] = ""


def resource_amounts(
    used: ResourceUsage | None, bounds: ResourceBounds
) -> tuple[ResourceAmount, ResourceAmount]:
    """Return the amounts of CPU and memory. `used` is None if unknown."""
    cores, size = (Decimal(used.cpu), Decimal(used.memory)) if used else (None, None)
    memory = _resource_amount(MEMORY, bytes_text, size, bounds.memory)
    if size is not None and bounds.memory.limit and size >= NEAR_LIMIT * bounds.memory.limit:
        # The kernel kills a container that exceeds its memory limit. CPU is only throttled.
        memory = replace(memory, pressure="error")
    return (
        _resource_amount(CPU, cores_text, cores, bounds.cpu),
        memory,
    )


def _resource_amount(
    label: Promise,
    text: Callable[[Decimal], str],
    used: Decimal | None,
    bounds: Bounds,
) -> ResourceAmount:
    (request, limit), width, mark = bounds, None, None
    end = limit or (max(request, used or request) if request else None)
    if used is not None and end:
        width = _percent(used, end)
        mark = _percent(request, end) if request and request < end else None
    return ResourceAmount(
        label,
        "?" if used is None else text(used),
        text(request) if request else "",
        text(limit) if limit else "",
        width,
        mark,
    )


def _percent(part: Decimal, whole: Decimal) -> float:
    """Return the percentage for a bar, at most 100."""
    return min(100.0, round(float(part * 100 / whole), 1))


def plots(
    history: UsageHistory, seconds: int = HOUR, bounds: ResourceBounds = NO_BOUNDS
) -> tuple[Plot, ...]:
    """Return the charts for CPU and memory. A chart needs at least two values."""
    return tuple(
        plot
        for plot in (
            _plot("cpu", CPU, history.cpu, cores_text, 1e-3, seconds, bounds.cpu),
            _plot("memory", MEMORY, history.memory, bytes_text, 1.0, seconds, bounds.memory),
        )
        if plot is not None
    )


def spark(values: Sequence[float]) -> ChartLine:
    """Return a line without an axis, scaled to its highest value."""
    most = max((value for value in values if not isnan(value)), default=0.0) or 1.0
    return chart_line([value / most for value in values], **SPARK)


def _plot(
    id: str,  # noqa: A002
    label: Promise,
    values: Sequence[float],
    text: Callable[[Decimal], str],
    unit: float,
    seconds: int,
    bounds: Bounds,
) -> Plot | None:
    known = [value for value in values if not isnan(value)]
    if len(known) < 2:
        return None
    # A bound that is far above the usage would flatten the line.
    near = [float(one) for one in bounds if one and max(known) > IN_VIEW * float(one)]
    most = max(*near, *known)
    # Use powers of 1,024 for bytes, so that the axis label is a round number.
    while text is bytes_text and most / unit >= 1024:
        unit *= 1024
    rounded = _power_of_two if text is bytes_text else round_up
    drawn = chart_line(
        [value / unit for value in values], **PLOT, least=most / unit, rounded=rounded
    )
    marks = [
        PlotMark(
            kind,
            _MARKS[kind] % {"amount": text(bound)},
            _mark_position(float(bound) / unit, drawn),
        )
        for kind, bound in (("request", bounds.request), ("limit", bounds.limit))
        if bound
    ]
    return Plot(
        id,
        label,
        drawn,
        text(Decimal(drawn.top) * Decimal(unit)),
        text(Decimal(known[-1])),
        text(Decimal(max(known))),
        tuple(_steps(values, text, seconds)),
        duration_text(seconds),
        tuple(marks),
    )


_MARKS: dict[str, Promise] = {
    "request": gettext_lazy("request %(amount)s"),
    "limit": gettext_lazy("limit %(amount)s"),
}


def _mark_position(bound: float, line: ChartLine) -> str:
    return "" if bound > line.top else _short(line.height - line.height * bound / line.top)


def _steps(values: Sequence[float], text: Callable[[Decimal], str], seconds: int) -> list[PlotStep]:
    """Return the table rows, latest first."""
    found, size = [], KEPT // ROWS
    for number, end in enumerate(range(len(values), 0, -size)):
        known = [value for value in values[max(0, end - size) : end] if not isnan(value)]
        mean = text(Decimal(sum(known) / len(known))) if known else "?"
        found.append(PlotStep(duration_text(number * seconds // ROWS), mean))
    return found
