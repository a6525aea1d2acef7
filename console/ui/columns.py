"""What a list shows of an object, one class per way of showing it.

A column is declared once per kind and serves every form of the list: the cell of the page and of the
socket (`value`, drawn by `template`), the sort (`sort_key`) and the export (`plain`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from console.kube.status import Status
from console.kube.store import Entry
from console.ui.names import SplitName, split_name
from console.ui.text import visible
from console.ui.words import translate

Align = Literal["start", "end"]
Plain = str | int | None
SortKey = Callable[[Entry[Any]], Any]


@dataclass(frozen=True, kw_only=True)
class Column(ABC):
    """`id`: name in URLs and exports. `priority`: 1 is always shown, 4 goes first when it is narrow.

    `sortable` columns have a `sort_key` whose values compare with each other; ties are by name.
    """

    id: str
    label: str | Promise
    priority: int = 2
    align: Align = "start"
    sortable: bool = True
    template: ClassVar[str]

    @abstractmethod
    def value(self, entry: Entry[Any]) -> object:
        """What the template draws. Words in it are translated when they are drawn."""

    @abstractmethod
    def plain(self, entry: Entry[Any]) -> Plain:
        """The value in an export: never translated, None where there is none."""

    def sort_key(self, entry: Entry[Any]) -> Any:
        return self.plain(entry)


@dataclass(frozen=True, kw_only=True)
class NameColumn(Column):
    """The object's name, its generated end paler than what people chose."""

    id: str = "name"
    label: str | Promise = _("Name")
    priority: int = 1
    owner: Callable[[Any], str] = lambda item: ""
    template: ClassVar[str] = "ui/cells/name.html"

    def value(self, entry: Entry[Any]) -> str:
        return entry.key.name

    def split(self, entry: Entry[Any]) -> SplitName:
        item = entry.projection
        return split_name(entry.key.name, self.owner(item), item.labels)

    def plain(self, entry: Entry[Any]) -> str:
        return entry.key.name


@dataclass(frozen=True, kw_only=True)
class NamespaceColumn(Column):
    id: str = "namespace"
    label: str | Promise = _("Project")
    priority: int = 2
    template: ClassVar[str] = "ui/cells/text.html"

    def value(self, entry: Entry[Any]) -> str:
        return entry.key.namespace

    def plain(self, entry: Entry[Any]) -> str:
        return entry.key.namespace


@dataclass(frozen=True, slots=True)
class StatusText:
    """`word` is translated; `reason` is Kubernetes' own text."""

    severity: str
    word: str | Promise
    reason: str


@dataclass(frozen=True, kw_only=True)
class StatusColumn(Column):
    """Mark, word and reason. Sorts by severity, the worst first; that is every list's own order."""

    status: Callable[[Any], Status] = lambda item: item.status
    id: str = "status"
    label: str | Promise = pgettext_lazy("column", "Status")
    priority: int = 1
    template: ClassVar[str] = "ui/cells/status.html"

    def value(self, entry: Entry[Any]) -> StatusText:
        status = self.status(entry.projection)
        return StatusText(status.severity.value, translate(status.word), visible(status.reason))

    def plain(self, entry: Entry[Any]) -> str:
        status = self.status(entry.projection)
        return f"{status.word}: {status.reason}" if status.reason else status.word

    def sort_key(self, entry: Entry[Any]) -> int:
        return self.status(entry.projection).severity.rank


@dataclass(frozen=True, kw_only=True)
class TextColumn(Column):
    """Any short text. `get` gives it; `order`, where it is set, gives what to sort by instead."""

    get: Callable[[Any], str]
    order: Callable[[Any], Any] | None = None
    template: ClassVar[str] = "ui/cells/text.html"

    def value(self, entry: Entry[Any]) -> str:
        return visible(self.get(entry.projection))

    def plain(self, entry: Entry[Any]) -> str:
        return self.get(entry.projection)

    def sort_key(self, entry: Entry[Any]) -> Any:
        if self.order is not None:
            return self.order(entry.projection)
        text = self.get(entry.projection)
        return (not text, text)


@dataclass(frozen=True, kw_only=True)
class NumberColumn(Column):
    get: Callable[[Any], int]
    align: Align = "end"
    template: ClassVar[str] = "ui/cells/number.html"

    def value(self, entry: Entry[Any]) -> int:
        return self.get(entry.projection)

    def plain(self, entry: Entry[Any]) -> int:
        return self.get(entry.projection)


@dataclass(frozen=True, kw_only=True)
class AgeColumn(Column):
    """How long ago, counted on by the browser: what is sent and exported is the moment itself.

    Ascending is the youngest first, as the numbers that are shown grow.
    """

    id: str = "age"
    label: str | Promise = _("Age")
    priority: int = 2
    align: Align = "end"
    since: Callable[[Any], datetime | None] = lambda item: item.created
    template: ClassVar[str] = "ui/cells/age.html"

    def value(self, entry: Entry[Any]) -> datetime | None:
        return self.since(entry.projection)

    def plain(self, entry: Entry[Any]) -> str | None:
        since = self.since(entry.projection)
        return since.isoformat().replace("+00:00", "Z") if since else None

    def sort_key(self, entry: Entry[Any]) -> float:
        since = self.since(entry.projection)
        return -since.timestamp() if since else float("inf")
