"""Columns for texts, booleans and IP addresses."""

import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from console.kube.store import Entry
from console.ui.columns.base import Column, by_id
from console.ui.text import escape_invisible

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
