"""Results as a table and as a JSON file."""

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec


class Result(msgspec.Struct, frozen=True):
    """`n`: number of pods, or of sockets if the name starts with `frame`. The unit of a ratio is
    "x".
    """

    name: str
    n: int
    value: float
    unit: str


class Report(msgspec.Struct, frozen=True):
    commit: str
    machine: str
    results: list[Result]


def write(path: Path, report: Report) -> None:
    path.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n")


def table(results: Sequence[Result]) -> str:
    """Return aligned columns of plain text, without a trailing newline."""
    rows = [(result.name, f"{result.n}", number(result.value), result.unit) for result in results]
    rows.insert(0, ("name", "n", "value", "unit"))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(
        f"{name:<{widths[0]}}  {n:>{widths[1]}}  {value:>{widths[2]}}  {unit}".rstrip()
        for name, n, value, unit in rows
    )


def number(value: float) -> str:
    """Format a number with three significant digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that is greater than or equal to a `share` (0 to 1) of the values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * share) - 1)]
