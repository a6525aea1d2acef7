"""Columns for ages and durations."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from console.kube.store import Entry
from console.ui.amounts import seconds_text
from console.ui.columns.base import Align, Column, by_id
from console.ui.columns.numbers import NumberColumn


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
