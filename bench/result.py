"""Results as a table and as a JSON file."""

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """`n`: number of pods, or of sockets if the name starts with `frame`. The unit of a ratio is
    "x". `commit` and `machine`: set if they are not the report's.
    """

    name: str
    n: int
    value: float
    unit: str
    commit: str = ""
    machine: str = ""


class Report(msgspec.Struct, frozen=True):
    commit: str
    machine: str
    results: list[Result]


def updated(whole: Report, part: Report) -> Report:
    """Return a report with newer results of some benchmarks."""
    machine = part.machine if part.machine != whole.machine else ""
    newer = {
        (one.name, one.n): msgspec.structs.replace(one, commit=part.commit, machine=machine)
        for one in part.results
    }
    kept = [newer.pop((one.name, one.n), one) for one in whole.results]
    return msgspec.structs.replace(whole, results=[*kept, *newer.values()])


def read(path: Path) -> Report:
    return msgspec.json.decode(path.read_bytes(), type=Report)


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
