"""SVG geometry of line charts. The template adds colors and texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import floor, isnan, log10

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
    values: Sequence[float], *, points: int, width: int, height: int, top: float = 0.0
) -> ChartLine:
    """Return the chart line for `values`, aligned to the right edge.

    `points` is the number of values that fill the box. NaN interrupts the line. `top` is the
    minimum for the value at the upper edge.
    """
    top = round_up(max((value for value in values if not isnan(value)), default=0.0), top)
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


def round_up(value: float, least: float = 0.0) -> float:
    """Round up to the next of 1, 2, 5, 10, 20, 50, and so on, so that the axis does not change with
    every new value.
    """
    value = max(value, least)
    if value <= 1:
        return 1.0
    power = 10.0 ** floor(log10(value))
    return next(step * power for step in _STEPS if value <= step * power)


def _short(number: float) -> str:
    """Round to one decimal, which is enough for screen coordinates."""
    return f"{number:.1f}".removesuffix(".0")
