"""What every column is."""

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
    """Stands for the attribute of the column's `id`."""
    raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Column(ABC):
    """`id`: name in URLs and exports. `priority`: 1 is always shown, 4 goes first when it is narrow.

    `sortable` columns have a `sort_key` whose values compare with each other; ties are by name. What
    has no value comes last when the order is ascending.

    `get`, which most have, gives what is shown of an object's projection: unless given, its attribute of
    the column's `id`.
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
        """What the template draws. Words in it are translated when they are drawn."""

    @abstractmethod
    def plain(self, entry: Entry[Any]) -> Plain:
        """The value in an export: never translated, None where there is none."""

    def sort_key(self, entry: Entry[Any]) -> Any:
        return self.plain(entry)
