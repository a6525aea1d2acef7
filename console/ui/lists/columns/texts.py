"""Columns for texts, booleans and IP addresses."""

import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from console.kube.projections.custom import Value
from console.kube.projections.definition import PrinterColumn
from console.kube.status import Status
from console.kube.store import Entry
from console.ui.core.text import SplitName, escape_invisible, split_name
from console.ui.core.words import reason_text, translate
from console.ui.lists.columns.base import Column, Plain, by_id

YES, NO = pgettext_lazy("answer", "Yes"), pgettext_lazy("answer", "No")


@dataclass(frozen=True, kw_only=True)
class TextColumn(Column):
    """A short text. If `order` is set, it returns the sort key."""

    get: Callable[[Any], str] = by_id
    order: Callable[[Any], Any] | None = None

    def value(self, entry: Entry[Any]) -> object:
        return escape_invisible(self.get(entry.projection))

    def plain(self, entry: Entry[Any]) -> str:
        return self.get(entry.projection)

    def sort_key(self, entry: Entry[Any]) -> Any:
        if self.order is not None:
            return self.order(entry.projection)
        text = self.get(entry.projection)
        return (not text, text)


@dataclass(frozen=True, kw_only=True)
class WordColumn(TextColumn):
    """A Kubernetes term ("ClusterIP", "Delete"), displayed with its translation from `words` if
    available.

    Sorted and exported untranslated.
    """

    words: dict[str, str | Promise]

    def value(self, entry: Entry[Any]) -> str | Promise:
        word = self.get(entry.projection)
        return self.words.get(word) or escape_invisible(word)


@dataclass(frozen=True, kw_only=True)
class BoolColumn(Column):
    """Yes or no, or a dash for None. Exported as `true` and `false`. No is sorted before yes."""

    get: Callable[[Any], bool | None] = by_id

    def value(self, entry: Entry[Any]) -> str | Promise:
        found = self.get(entry.projection)
        if found is None:
            return ""
        return YES if found else NO

    def plain(self, entry: Entry[Any]) -> str | None:
        found = self.get(entry.projection)
        return None if found is None else str(found).lower()

    def sort_key(self, entry: Entry[Any]) -> tuple[bool, bool]:
        found = self.get(entry.projection)
        return (found is None, bool(found))


@dataclass(frozen=True, slots=True)
class ListText:
    """`shown` contains the first texts, `more` is the number of others, and `all` contains all
    texts.
    """

    shown: str
    more: int
    all: str


@dataclass(frozen=True, kw_only=True)
class ListColumn(Column):
    """Several texts. The first `most` are displayed, and the others are counted ("+2").

    Exported completely, separated by commas. Sorted by the texts in order; empty lists come
    last.
    """

    get: Callable[[Any], Sequence[str]] = by_id
    most: int = 1
    template: ClassVar[str] = "ui/cells/list.html"

    def value(self, entry: Entry[Any]) -> ListText:
        texts = [escape_invisible(text) for text in self.get(entry.projection)]
        more = len(texts) - self.most
        return ListText(", ".join(texts[: self.most]), max(0, more), ", ".join(texts))

    def plain(self, entry: Entry[Any]) -> str:
        return ", ".join(self.get(entry.projection))

    def sort_key(self, entry: Entry[Any]) -> tuple[bool, tuple[str, ...]]:
        texts = tuple(self.get(entry.projection))
        return (not texts, texts)


def ip_order(address: str) -> tuple[int, bytes, str]:
    """Return the sort key: IPv4 addresses by number, then IPv6, then invalid addresses, then empty
    texts.
    """
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            return family, socket.inet_pton(family, address), ""
        except (OSError, ValueError):
            continue
    return sys.maxsize - bool(address), b"", address


class IpColumn(TextColumn):
    """An IP address, sorted numerically."""

    def sort_key(self, entry: Entry[Any]) -> tuple[int, bytes, str]:
        return ip_order(self.get(entry.projection))


@dataclass(frozen=True, kw_only=True)
class ContainersColumn(ListColumn):
    """Container names from the projection's `containers`."""

    id: str = "containers"
    label: str | Promise = _("Containers")
    priority: int = 4


@dataclass(frozen=True, kw_only=True)
class ImagesColumn(ListColumn):
    id: str = "images"
    label: str | Promise = _("Images")
    priority: int = 3


@dataclass(frozen=True, kw_only=True)
class SelectorColumn(TextColumn):
    """Label selector from the projection's `selector`, in Kubernetes syntax."""

    id: str = "selector"
    label: str | Promise = _("Selector")
    priority: int = 4


@dataclass(frozen=True, kw_only=True)
class PrintedColumn(Column):
    """The value of a printer column, at index `at` of the columns `of`.

    The value is missing for objects that were decoded before the type's columns changed. Times
    are displayed as absolute times, because they may be in the future.
    """

    at: int
    of: tuple[PrinterColumn, ...]

    def _found(self, entry: Entry[Any]) -> Value:
        item = entry.projection
        return item.values[self.at] if item.columns == self.of else None

    def value(self, entry: Entry[Any]) -> str | Promise:
        found = self._found(entry)
        if found is None:
            return ""
        if isinstance(found, bool):
            return YES if found else NO
        if isinstance(found, datetime):
            return f"{found:%Y-%m-%d\N{NO-BREAK SPACE}%H:%M}"
        if isinstance(found, str):
            return escape_invisible(found)
        return f"{found:,}"

    def plain(self, entry: Entry[Any]) -> Plain:
        found = self._found(entry)
        if isinstance(found, bool):
            return str(found).lower()
        if isinstance(found, datetime):
            return found.isoformat().replace("+00:00", "Z")
        return str(found) if isinstance(found, float) else found

    def sort_key(self, entry: Entry[Any]) -> tuple[bool, Any]:
        """All values of a column have the same type."""
        found = self._found(entry)
        if found is None:
            return (True, 0)
        return (False, found.timestamp() if isinstance(found, datetime) else found)


@dataclass(frozen=True, kw_only=True)
class NameColumn(Column):
    """The object's name, with its generated suffix displayed dimmed.

    `owner` returns the controller that generated the name as `Kind/name`, for kinds with
    generated names.
    """

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

    def value(self, entry: Entry[Any]) -> str:
        return escape_invisible(entry.key.namespace)

    def plain(self, entry: Entry[Any]) -> str:
        return entry.key.namespace


@dataclass(frozen=True, slots=True)
class StatusText:
    """The content of a status cell. Both texts are translated when rendered. A `reason` from
    Kubernetes stays unchanged.
    """

    severity: str
    word: str | Promise
    reason: str | Promise


@dataclass(frozen=True, kw_only=True)
class StatusColumn(Column):
    """Icon, word and reason of the status. Sorted by severity, most severe first. This is the
    default order of lists.
    """

    status: Callable[[Any], Status] = lambda item: item.status
    id: str = "status"
    label: str | Promise = pgettext_lazy("column", "Status")
    priority: int = 1
    template: ClassVar[str] = "ui/cells/status.html"

    def value(self, entry: Entry[Any]) -> StatusText:
        status = self.status(entry.projection)
        return StatusText(status.severity.value, translate(status.word), reason_text(status))

    def plain(self, entry: Entry[Any]) -> str:
        status = self.status(entry.projection)
        return f"{status.word}: {status.reason}" if status.reason else status.word

    def sort_key(self, entry: Entry[Any]) -> int:
        return self.status(entry.projection).severity.rank
