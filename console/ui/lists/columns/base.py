"""Base class of columns."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar, Literal

from django.utils.functional import Promise

from console.kube.store import Entry

Align = Literal["start", "end"]
Plain = str | int | None
SortKey = Callable[[Entry[Any]], Any]


def by_id(projection: Any) -> Any:
    """Default for `get`, replaced by the attribute named like the column's `id`."""
    raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Column(ABC):
    """A list column.

    - `id`: name in URLs and exports.
    - `priority`: columns with 1 are always visible, and those with 4 are hidden first on small
      screens.
    - `sortable`: `sort_key` returns comparable values. Ties are sorted by name. Missing values
      come last in ascending order.
    - `get` (most columns): returns the value from the projection. The default is the attribute
      named `id`.
    """

    id: str
    label: str | Promise
    priority: int = 2
    align: Align = "start"
    sortable: bool = True
    template: ClassVar[str] = "ui/cells/text.html"

    def __post_init__(self) -> None:
        if getattr(self, "get", None) is by_id:
            object.__setattr__(self, "get", attrgetter(self.id))

    @abstractmethod
    def value(self, entry: Entry[Any]) -> object:
        """Return the value for the template. Words in it are translated when rendered."""

    @abstractmethod
    def plain(self, entry: Entry[Any]) -> Plain:
        """Return the exported value: never translated, None if missing."""

    def sort_key(self, entry: Entry[Any]) -> Any:
        return self.plain(entry)
