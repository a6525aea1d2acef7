"""Small multiples that show how results grow with the number of pods."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench import svg_elements
from bench.result import Result, number

_MARGIN, _GAP = 24, 36
_COLUMNS, _CELL = 3, 240
#: Minimum distance between the centers of two labels.
_APART = 36
_HEIGHT, _HEAD, _FOOT = 110, 46, 40


@dataclass(frozen=True, slots=True)
class _Curve:
    """One diagram. `other`: result of another implementation to compare with. Values are divided by
    `divisor`.
    """

    title: str
    name: str
    unit: str
    other: str = ""
    divisor: float = 1.0


_CURVES = (
    _Curve("Sync, s", "sync_seconds", "s", "sync_seconds_client_go"),
    _Curve("Memory per pod, KB", "bytes_per_object", "KB", "bytes_per_object_client_go", 1000),
    _Curve("Recorded events, 1,000/s", "events_per_second_recorded", "", divisor=1000),
    _Curve("Change to cache, p99, ms", "lag_p99_ms", "ms"),
    _Curve("First page, p95, ms", "page_p95_ms", "ms"),
    _Curve("Page during a relist, p99, ms", "page_p99_during_relist_ms", "ms"),
)


def panels(results: Sequence[Result], y: float) -> tuple[list[str], float]:
    """Return the SVG elements and the y position after them. Curves with a single size are omitted."""
    drawn = [curve for curve in _CURVES if len(_points(results, curve.name)) > 1]
    if not drawn:
        return [], y
    parts = [svg_elements.text(_MARGIN, y + 16, "By number of pods", style="title")]
    parts.append(svg_elements.text(_MARGIN + 148, y + 16, "grey: client-go", style="note"))
    y += 28
    for number_, curve in enumerate(drawn):
        row, column = divmod(number_, _COLUMNS)
        x = _MARGIN + column * (_CELL + _GAP)
        top = y + row * (_HEAD + _HEIGHT + _FOOT)
        parts += _panel(curve, results, x, top)
    rows = -(-len(drawn) // _COLUMNS)
    return parts, y + rows * (_HEAD + _HEIGHT + _FOOT)


def _points(results: Sequence[Result], name: str) -> dict[int, float]:
    return {result.n: result.value for result in sorted(results, key=lambda one: one.n)
            if result.name == name}  # fmt: skip


def _panel(curve: _Curve, results: Sequence[Result], x: float, y: float) -> Iterator[str]:
    ours = _points(results, curve.name)
    other = _points(results, curve.other)
    most_pods = max([*ours, *other])
    most = max([*ours.values(), *other.values()]) or 1.0
    y += _HEAD
    bottom = y + _HEIGHT

    def at(pods: int, value: float) -> tuple[float, float]:
        return x + pods / most_pods * (_CELL - 30), bottom - value / most * _HEIGHT

    yield svg_elements.text(x, y - 26, curve.title)
    yield svg_elements.line(x, bottom, x + _CELL, bottom, "")
    if other:
        yield svg_elements.path([at(pods, value) for pods, value in other.items()], "other")
    yield svg_elements.path([at(pods, value) for pods, value in ours.items()], "ours")
    last = x + 2.0 * _CELL
    # Label from right to left, because the largest sizes matter most. Overlapping labels are
    # omitted.
    for pods, value in reversed(ours.items()):
        px, py = at(pods, value)
        if last - px > _APART:
            shown = number(value / curve.divisor)
            yield svg_elements.text(px, py - 8, shown, style="note", anchor="middle")
            size = f"{pods / 1000:g}k"
            yield svg_elements.text(px, bottom + 16, size, style="note", anchor="middle")
            last = px
