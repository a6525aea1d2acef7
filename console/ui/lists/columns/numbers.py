"""Columns for counts, ratios, percentages, and amounts of CPU and memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any, ClassVar, Literal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from console.kube.metrics_server import ResourceUsage
from console.kube.quantity import parse_quantity
from console.kube.store import Entry
from console.ui.core.amounts import bytes_text, cores_text, number_text, seconds_text
from console.ui.core.text import escape_invisible
from console.ui.lists.columns.base import Align, Column, by_id
from console.ui.usage.gauges import usage_severity


@dataclass(frozen=True, kw_only=True)
class NumberColumn(Column):
    """A count. None means unknown: it is displayed as a question mark and sorted last."""

    get: Callable[[Any], int | None] = by_id
    align: Align = "end"
    template: ClassVar[str] = "ui/cells/number.html"

    def value(self, entry: Entry[Any]) -> object:
        return self.get(entry.projection)

    def plain(self, entry: Entry[Any]) -> int | None:
        return self.get(entry.projection)

    def sort_key(self, entry: Entry[Any]) -> tuple[bool, int]:
        number = self.get(entry.projection)
        return (number is None, number or 0)


@dataclass(frozen=True, kw_only=True)
class RatioColumn(Column):
    """A ratio such as `2/3`, from `part` and `whole`. Empty if `whole` is None.

    Sorted by share, then by `whole`. `0/0` counts as a share of zero.
    """

    part: Callable[[Any], int]
    whole: Callable[[Any], int | None]
    align: Align = "end"

    def value(self, entry: Entry[Any]) -> str:
        return self.plain(entry)

    def plain(self, entry: Entry[Any]) -> str:
        whole = self.whole(entry.projection)
        return "" if whole is None else f"{self.part(entry.projection)}/{whole}"

    def sort_key(self, entry: Entry[Any]) -> tuple[bool, float, int]:
        part, whole = self.part(entry.projection), self.whole(entry.projection)
        return (whole is None, part / whole if whole else 0.0, whole or 0)


Unit = Literal["cores", "bytes", "pieces"]
_TEXTS: dict[Unit, Callable[[Decimal], str]] = {
    "cores": cores_text,
    "bytes": bytes_text,
    "pieces": number_text,
}


@dataclass(frozen=True, kw_only=True)
class QuantityColumn(Column):
    """A Kubernetes quantity (`250m`, `16391032Ki`), or "".

    Displayed in a readable unit, sorted by value, exported unchanged. A text that is not a
    quantity is displayed unchanged and sorted last.
    """

    get: Callable[[Any], str] = by_id
    unit: Unit
    align: Align = "end"

    def value(self, entry: Entry[Any]) -> str:
        text = self.get(entry.projection)
        amount = parse_quantity(text)
        return escape_invisible(text) if amount is None else _TEXTS[self.unit](amount)

    def plain(self, entry: Entry[Any]) -> str:
        return self.get(entry.projection)

    def sort_key(self, entry: Entry[Any]) -> tuple[bool, Decimal]:
        amount = parse_quantity(self.get(entry.projection))
        return (amount is None, amount or Decimal(0))


class PercentColumn(NumberColumn):
    """A percentage as an integer, or None if not applicable. Exported as a number."""

    template: ClassVar[str] = "ui/cells/text.html"

    def value(self, entry: Entry[Any]) -> str:
        percent = self.get(entry.projection)
        return "" if percent is None else f"{percent}\N{NO-BREAK SPACE}%"


@dataclass(frozen=True, kw_only=True)
class AgeColumn(Column):
    """The age of a point in time. The browser keeps it up to date.

    The HTML and exports contain the time itself. Ascending order starts with the youngest. With
    another `id` and `label`, the column can show any time in the past ("Last run"). `since`
    returns the time; the default is the attribute named `id`, or `created` for "age".
    """

    id: str = "age"
    label: str | Promise = _("Age")
    priority: int = 2
    align: Align = "end"
    since: Callable[[Any], datetime | None] = by_id
    template: ClassVar[str] = "ui/cells/age.html"

    def __post_init__(self) -> None:
        if self.since is by_id:
            name = "created" if self.id == "age" else self.id
            object.__setattr__(self, "since", attrgetter(name))

    def value(self, entry: Entry[Any]) -> datetime | None:
        return self.since(entry.projection)

    def plain(self, entry: Entry[Any]) -> str | None:
        since = self.since(entry.projection)
        return since.isoformat().replace("+00:00", "Z") if since else None

    def sort_key(self, entry: Entry[Any]) -> float:
        since = self.since(entry.projection)
        return -since.timestamp() if since else float("inf")


class DurationColumn(NumberColumn):
    """A duration in whole seconds, or None if not finished or not applicable. Exported as seconds.

    For running objects, add an `AgeColumn` with the start time.
    """

    template: ClassVar[str] = "ui/cells/text.html"

    def value(self, entry: Entry[Any]) -> str:
        seconds = self.get(entry.projection)
        return "" if seconds is None else seconds_text(seconds)


#: Returns the usage of an object, or None if it is not measured.
UsedBy = Callable[[Entry[Any]], ResourceUsage | None]


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
    used: UsedBy = lambda entry: None
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
