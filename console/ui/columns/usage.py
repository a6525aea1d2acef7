"""Columns for measured CPU and memory usage."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar, Literal

from console.kube.metricslist import ResourceUsage
from console.kube.quantity import parse_quantity
from console.kube.store import Entry
from console.ui.amounts import bytes_text, cores_text
from console.ui.columns.base import Align, Column
from console.ui.pressure import usage_severity

#: Returns the usage of an object, or None if it is not measured.
UsedBy = Callable[[Entry[Any]], ResourceUsage | None]


def _nobody_knows(entry: Entry[Any]) -> ResourceUsage | None:
    return None


@dataclass(frozen=True, slots=True)
class UsageText:
    """`text` is "" if the usage is unknown. `percent` is the share of the capacity, or None if
    unknown.
    """

    text: str
    percent: int | None = None

    @property
    def width(self) -> int:
        """Width of the bar in percent."""
        return min(100, self.percent or 0)

    @property
    def pressure(self) -> str:
        return usage_severity(self.percent)


@dataclass(frozen=True, kw_only=True)
class UsageColumn(Column):
    """The latest measurement of metrics-server. Requires `with_usage` to set the measurements.

    - `whole`: returns the capacity as a Kubernetes quantity.
    - `after`: ID of the column to the left.

    Exported in the units of `kubectl top`. Unmeasured objects sort below zero, so that the
    objects with the highest usage come first in descending order.
    """

    amount: Literal["cpu", "memory"]
    after: str = ""
    priority: int = 3
    whole: Callable[[Any], str] = lambda item: ""
    align: Align = "end"
    used: UsedBy = _nobody_knows
    template: ClassVar[str] = "ui/cells/usage.html"

    def value(self, entry: Entry[Any]) -> UsageText:
        amount = self._amount(entry)
        if amount is None:
            return UsageText("")
        whole = parse_quantity(self.whole(entry.projection))
        text = cores_text if self.amount == "cpu" else bytes_text
        percent = int(amount * 100 / float(whole)) if whole else None
        return UsageText(text(Decimal(amount)), percent)

    def plain(self, entry: Entry[Any]) -> str | None:
        amount = self._amount(entry)
        if amount is None:
            return None
        return f"{amount * 1000:.0f}m" if self.amount == "cpu" else f"{amount / 2**20:.0f}Mi"

    def sort_key(self, entry: Entry[Any]) -> float:
        amount = self._amount(entry)
        return -1.0 if amount is None else amount

    def _amount(self, entry: Entry[Any]) -> float | None:
        used = self.used(entry)
        if used is None:
            return None
        return used.cpu if self.amount == "cpu" else used.memory


def with_usage(columns: Sequence[Column], used: UsedBy) -> tuple[Column, ...]:
    """Return the columns, with `used` set on all usage columns."""
    return tuple(
        replace(column, used=used) if isinstance(column, UsageColumn) else column
        for column in columns
    )
