"""Columns for counts, ratios, percentages, and amounts of CPU and memory."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, Literal

from console.kube.quantity import parse_quantity
from console.kube.store import Entry
from console.ui.amounts import bytes_text, cores_text, number_text
from console.ui.columns.base import Align, Column, by_id
from console.ui.text import escape_invisible


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
