"""Lines over time, as the geometry of an SVG. Colours and words are the template's."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10

#: Steps of an axis: 1, 2, 5, 10, 20, ...
_STEPS = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class Line:
    """In a box of `width` by `height`, both ends included. `path` is the line, `area` what is under it;
    `top` is the value at the upper edge, and the lower edge is 0."""

    width: int
    height: int
    path: str
    area: str
    top: float


def line(values: Sequence[float], *, points: int, width: int, height: int) -> Line:
    """`values` end at the right edge; there are `points` of them when the box is full."""
    top = round_up(max(values, default=0.0))
    step = width / max(1, points - 1)
    left = width - step * (len(values) - 1)
    corners = [
        f"{_short(left + step * at)} {_short(height - height * value / top)}"
        for at, value in enumerate(values)
    ]
    if not corners:
        return Line(width, height, "", "", top)
    path = "M" + "L".join(corners)
    area = f"M{_short(left)} {height}L{'L'.join(corners)}L{width} {height}Z"
    return Line(width, height, path, area, top)


def round_up(value: float) -> float:
    """The next of 1, 2, 5, 10, 20, 50, ...: an axis that does not jump at every drawing."""
    if value <= 1:
        return 1.0
    power = 10.0 ** floor(log10(value))
    return next(step * power for step in _STEPS if value <= step * power)


def _short(number: float) -> str:
    """One decimal, as a screen shows no more."""
    return f"{number:.1f}".removesuffix(".0")
